//! Runs a case about the request of another program: judges the request and its recorded answer.
//! Never calls a model.

use super::answer;
use super::check::{self, SeenRequest};
use super::facts::least_tokens;
use super::sent::{Sent, stored};
use crate::base::hash::Hasher;
use crate::eval::case::decide;
use crate::eval::case_keys;
use crate::eval::finished::{CaseVerdict, Finished, Keys};
use crate::eval::prepared::{CaseInput, RunContext};
use crate::eval::verdict::{Outcome, Reason, Verdict};
use crate::record::comparison::Comparison;
use crate::rules::request::check as check_request;
use crate::scenario::model::Subject;
use crate::scenario::request_source::RequestSource;

pub(in crate::eval) fn run(context: &RunContext<'_>, input: &CaseInput<'_>) -> Finished {
    if let Some(why) = input.refused {
        return Finished::refused(why);
    }
    if let Some(why) = unpermitted(context, input) {
        return Finished {
            verdict: CaseVerdict::Inconclusive,
            ..Finished::trouble("/", why)
        };
    }
    let sent = match sent(context, input) {
        Ok(sent) => sent,
        Err(why) => return Finished::trouble("/", why),
    };
    let seen = SeenRequest {
        context,
        input,
        sent: &sent,
    };
    let mut verdicts: Vec<Verdict> = input
        .case
        .expect_context
        .iter()
        .map(|one| check::judge(&seen, one))
        .collect();
    verdicts.extend(refused(context, input, &sent));
    let tokens: usize = sent
        .segments
        .iter()
        .map(|segment| segment.tokens(&*sent.counter))
        .sum();
    let mut done = Finished {
        keys: Some(keys_of(context, input, &sent)),
        model: sent.request.model.clone(),
        tokenizer: sent.counter.name().to_owned(),
        tokens: Some((tokens as u64, 0)),
        snapshot: input.case.wants_snapshot().then(|| {
            stored(
                &sent.request,
                context.answers.comparison.map(Comparison::volatile),
            )
        }),
        context: verdicts,
        trouble: None,
        ..Finished::trouble("/", "")
    };
    let answered = answer::answered(context, input, &sent, &mut done);
    decide(answered, input.case, &mut done);
    done
}

/// The reason why the program of a case does not run, if the user did not permit it.
fn unpermitted(context: &RunContext<'_>, input: &CaseInput<'_>) -> Option<String> {
    let Subject::Request(source) = &input.case.subject.value else {
        return None;
    };
    let is_program = !matches!(source, RequestSource::File(_));
    let is_permitted = context
        .answers
        .programs
        .is_some_and(|programs| programs.permits(source));
    (is_program && !is_permitted).then(|| {
        format!(
            "undecided: {} is not run here: `ctxc trust` permits it",
            source.words()
        )
    })
}

/// The verdict on a request that its vendor would reject; `None` if it would be accepted, or was.
fn refused(context: &RunContext<'_>, input: &CaseInput<'_>, sent: &Sent) -> Option<Verdict> {
    let config = context.answers.config.filter(|_| !sent.was_answered)?;
    let found = check_request::refusal(
        &sent.request,
        &sent.request.body.to_string(),
        least_tokens,
        config,
    )?;
    let what = "a request that its vendor takes".to_owned();
    let reason = Reason::new(what.clone(), found.words());
    Some(Verdict {
        what,
        outcome: Outcome::Fail,
        gate: true,
        reason,
        span: input.case.subject.span,
    })
}

/// The keys that its result belongs to.
pub(in crate::eval) fn keys(context: &RunContext<'_>, input: &CaseInput<'_>) -> Option<Keys> {
    Some(keys_of(context, input, &sent(context, input).ok()?))
}

fn keys_of(context: &RunContext<'_>, input: &CaseInput<'_>, sent: &Sent) -> Keys {
    let snapshot = input.snapshot.filter(|_| input.case.wants_snapshot());
    let mut hasher = Hasher::new();
    let rest = context
        .answers
        .comparison
        .and_then(|comparison| comparison.volatile().rest(sent.request.body.clone()));
    let body = rest.as_ref().unwrap_or(&sent.request.body);
    hasher
        .field("ctxc request context 1")
        .field(sent.counter.name())
        .field(body.to_string());
    Keys {
        context: hasher.finish(),
        case: case_keys::case(input.case, input.beside, snapshot, context.plan),
    }
}

pub(super) fn sent(context: &RunContext<'_>, input: &CaseInput<'_>) -> Result<Sent, String> {
    match &input.case.subject.value {
        Subject::Request(source) => Sent::of(context, input, source),
        Subject::Role(_) | Subject::Task(_) => {
            Err("it is about an agent of this project".to_owned())
        }
    }
}
