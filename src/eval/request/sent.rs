//! The request of a scenario, read from the file that it names or sent by its program.

use super::facts::facts;
use crate::eval::asked::ProgramCall;
use crate::eval::context::stored_sent;
use crate::eval::prepared::{CaseInput, RunContext};
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::Comparison;
use crate::record::file::Recordings;
use crate::record::recording::Recording;
use crate::record::remask::without_all_hashes;
use crate::record::turns::{Said, Turn, turns};
use crate::record::volatile::Volatile;
use crate::request::model::Request;
use crate::request::segments::{Segment, segments};
use crate::scenario::request_source::{RequestSource, SentBy, call_of};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request with everything that expectations examine.
#[derive(Debug)]
pub struct Sent {
    /// The request.
    pub request: Request,
    /// True if a model answered exactly this request.
    pub was_answered: bool,
    /// The recorded call in its place, if any.
    pub recorded: Option<Recording>,
    /// The call as its program just sent it; `None` if the request is the recorded one.
    pub call: Option<ProgramCall>,
    /// The segments of the previous call of its conversation; `None` if unknown.
    pub before: Option<Vec<Segment>>,
    /// Its segments.
    pub segments: Vec<Segment>,
    /// Its token counter.
    pub counter: Arc<dyn TokenCounter>,
}

impl Sent {
    /// Reads the request of a case.
    ///
    /// # Errors
    /// It cannot be read; the reason is in the text.
    pub(super) fn of(
        context: &RunContext<'_>,
        input: &CaseInput<'_>,
        source: &RequestSource,
    ) -> Result<Self, String> {
        let Read {
            request,
            before,
            was_answered,
            recorded,
            call,
        } = match source {
            RequestSource::File(file) => {
                let (path, number) = call_of(file);
                let text = input
                    .beside
                    .text(path)
                    .map_err(|why| format!("the request in {path} cannot be read: {why}"))?;
                read(&text, number).map_err(|why| format!("{file}: {why}"))?
            }
            RequestSource::Command(_) | RequestSource::Python { .. } => {
                of_program(context, input, source)?
            }
        };
        let nothing = BTreeMap::new();
        let counter = facts(
            &request,
            context.models.map_or(&nothing, |models| models.models),
        )
        .counter;
        Ok(Self {
            was_answered,
            recorded,
            call,
            before,
            segments: segments(&request),
            request,
            counter,
        })
    }
}

/// A request as read.
struct Read {
    request: Request,
    before: Option<Vec<Segment>>,
    was_answered: bool,
    recorded: Option<Recording>,
    call: Option<ProgramCall>,
}

/// Reads a request with the hashes of its placeholders removed, so that a scenario passes for
/// everyone, independent of local secrets.
///
/// # Errors
/// The text is not a request; the reason is in the text.
pub fn plain_request(body: &str, endpoint: Option<&str>) -> Result<Request, String> {
    // Characters can be escaped in a body as sent.
    let plain = serde_json::from_str::<serde_json::Value>(body)
        .map_or_else(|_| body.to_owned(), |body| body.to_string());
    Request::read(&without_all_hashes(&plain), endpoint).map_err(|fault| fault.to_string())
}

/// The stored form of a request, without volatile parts.
pub fn stored(request: &Request, volatile: Option<&Volatile>) -> String {
    let rest = volatile.and_then(|volatile| volatile.rest(request.body.clone()));
    let rest = rest.and_then(|body| request.with_body(body).ok());
    stored_sent(rest.as_ref().unwrap_or(request))
}

/// The request that a program of the project sends now.
fn of_program(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    source: &RequestSource,
) -> Result<Read, String> {
    let unpermitted = || {
        format!(
            "{} is not run here: `ctxc trust` permits it",
            source.words()
        )
    };
    let programs = context.answers.programs.ok_or_else(unpermitted)?;
    let answers = source.file().map(|path| {
        input
            .beside
            .text(path)
            .map_err(|why| format!("the recorded answers in {path} cannot be read: {why}"))
    });
    let answers = answers.transpose()?;
    let sent = programs
        .request(input.path, source, answers.as_deref())
        .ok_or_else(unpermitted)??;
    let endpoint = sent.endpoint.as_deref();
    let before = sent
        .before
        .and_then(|body| Some(segments(&plain_request(&body, endpoint).ok()?)));
    let recorded = answers
        .as_deref()
        .and_then(|answers| recorded(source, answers));
    // A vendor accepts a request that it answered with success, as long as the program sends the
    // same one.
    let is_same = |recorded: &Recording, call: &ProgramCall| {
        let own = Comparison::default();
        context
            .answers
            .comparison
            .unwrap_or(&own)
            .is_same(recorded, &call.live())
    };
    let was_answered = recorded
        .as_ref()
        .zip(sent.call.as_ref())
        .is_some_and(|(recorded, call)| recorded.is_vendor_success() && is_same(recorded, call));
    Ok(Read {
        request: plain_request(&sent.body, endpoint)?,
        before,
        was_answered,
        recorded,
        call: sent.call,
    })
}

/// The call at the same turn of the recording.
fn recorded(source: &RequestSource, answers: &str) -> Option<Recording> {
    let RequestSource::Command(SentBy {
        conversation, n, ..
    }) = source
    else {
        return None;
    };
    let calls = Recordings::read(answers).ok()?.calls;
    let said: Vec<Option<Said>> = calls.iter().map(Said::of_call).collect();
    let wanted = Turn {
        conversation: *conversation,
        n: *n,
    };
    let at = turns(&said).iter().position(|turn| *turn == Some(wanted))?;
    calls.into_iter().nth(at)
}

/// Reads the request in a text, which is a body or a recording with one or several calls.
fn read(text: &str, number: Option<usize>) -> Result<Read, String> {
    let of_call = |call: &Recording, earlier: &[Recording]| {
        let was_answered = call.is_vendor_success();
        let request = plain_request(call.request.get(), Some(&call.endpoint))?;
        Ok(Read {
            request,
            before: before(call, earlier),
            was_answered,
            recorded: Some(call.clone()),
            call: None,
        })
    };
    if let Ok(recorded) = Recordings::read(text)
        && !recorded.calls.is_empty()
    {
        let count = recorded.calls.len();
        let at = number.unwrap_or(1) - 1;
        return match (recorded.calls.get(at), number) {
            (Some(_), None) if count > 1 => {
                Err(format!("it holds {count} calls: say which, such as `#1`"))
            }
            (Some(call), _) => of_call(call, recorded.calls.get(..at).unwrap_or_default()),
            (None, _) => Err(format!("it holds {count} calls")),
        };
    }
    if number.is_some() {
        return Err("it is not a recording, so its calls have no numbers".to_owned());
    }
    Ok(Read {
        request: plain_request(text, None)?,
        before: None,
        was_answered: false,
        recorded: None,
        call: None,
    })
}

/// The segments of the previous call of the same conversation among `earlier`; `None` if this is
/// the first.
pub fn before(call: &Recording, earlier: &[Recording]) -> Option<Vec<Segment>> {
    let said: Vec<Option<Said>> = earlier.iter().chain([call]).map(Said::of_call).collect();
    let turns = turns(&said);
    let own = (*turns.last()?)?;
    let at = turns.iter().position(|turn| {
        *turn
            == Some(Turn {
                n: own.n - 1,
                ..own
            })
    })?;
    let call = earlier.get(at)?;
    Some(segments(
        &plain_request(call.request.get(), Some(&call.endpoint)).ok()?,
    ))
}
