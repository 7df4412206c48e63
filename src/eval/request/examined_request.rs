//! A request of another program as expectations examine it: read from the file that a scenario
//! names or sent by its program; its sections, and facts about its model (token counter and prices,
//! where the project's `[models]` take precedence over the built-in table).

use crate::context::tokens;
use crate::eval::answer_source::ProgramCall;
use crate::eval::compiled_patterns::CompiledPattern;
use crate::eval::context::stored_program_request;
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::kernel::tokens::{ByteCounter, TokenCounter};
use crate::project::config::Config;
use crate::project::models::ModelConfig;
use crate::record::comparison::RequestComparison;
use crate::record::file::RecordingFile;
use crate::record::recording::Recording;
use crate::record::remask::without_all_hashes;
use crate::record::turns::{CallContent, CallPosition, call_positions};
use crate::record::volatile::VolatileParts;
use crate::request::model::ModelRequest;
use crate::request::public_models::find_model;
use crate::request::sections::Section;
use crate::request::segments::{RequestSegment, build_segments};
use crate::rules::request::cx::ModelFacts;
use crate::scenario::request_source::{RequestProgram, RequestSource, split_call_number};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A request with everything that expectations examine.
#[derive(Debug)]
pub struct ExaminedRequest {
    /// The request.
    pub request: ModelRequest,
    /// True if a model answered exactly this request.
    pub was_answered: bool,
    /// The recorded call in its place, if any.
    pub recorded: Option<Recording>,
    /// The call as its program just sent it; `None` if the request is the recorded one.
    pub call: Option<ProgramCall>,
    /// The segments of the previous call of its conversation; `None` if unknown.
    pub before: Option<Vec<RequestSegment>>,
    /// Its segments.
    pub segments: Vec<RequestSegment>,
    /// Its token counter.
    pub counter: Arc<dyn TokenCounter>,
}

impl ExaminedRequest {
    /// Reads the request of a case.
    ///
    /// # Errors
    /// It cannot be read; the reason is in the text.
    pub(super) fn read_case(
        context: &RunContext<'_>,
        input: &CaseInput<'_>,
        source: &RequestSource,
    ) -> Result<Self, String> {
        let ParsedSent {
            request,
            before,
            was_answered,
            recorded,
            call,
        } = match source {
            RequestSource::File(file) => {
                let (path, number) = split_call_number(file);
                let text = input
                    .beside
                    .text(path)
                    .map_err(|why| format!("the request in {path} cannot be read: {why}"))?;
                parse_request_text(&text, number).map_err(|why| format!("{file}: {why}"))?
            }
            RequestSource::Command(_) | RequestSource::Python { .. } => {
                request_program(context, input, source)?
            }
        };
        let nothing = BTreeMap::new();
        let counter = model_facts(
            &request,
            context.models.map_or(&nothing, |models| models.models),
        )
        .counter;
        Ok(Self {
            was_answered,
            recorded,
            call,
            before,
            segments: build_segments(&request),
            request,
            counter,
        })
    }
}

/// A request as read.
struct ParsedSent {
    request: ModelRequest,
    before: Option<Vec<RequestSegment>>,
    was_answered: bool,
    recorded: Option<Recording>,
    call: Option<ProgramCall>,
}

/// Reads a request with the hashes of its placeholders removed, so that a scenario passes for
/// everyone, independent of local secrets.
///
/// # Errors
/// The text is not a request; the reason is in the text.
pub fn parse_plain_request(body: &str, endpoint: Option<&str>) -> Result<ModelRequest, String> {
    // Characters can be escaped in a body as sent.
    let plain = serde_json::from_str::<serde_json::Value>(body)
        .map_or_else(|_| body.to_owned(), |body| body.to_string());
    ModelRequest::parse(&without_all_hashes(&plain), endpoint).map_err(|fault| fault.to_string())
}

/// The stored form of a request, without volatile parts.
pub fn stored_form(request: &ModelRequest, volatile: Option<&VolatileParts>) -> String {
    let rest = volatile.and_then(|volatile| volatile.without_volatile(request.body.clone()));
    let rest = rest.and_then(|body| request.with_body(body).ok());
    stored_program_request(rest.as_ref().unwrap_or(request))
}

/// The request that a program of the project sends now.
fn request_program(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    source: &RequestSource,
) -> Result<ParsedSent, String> {
    let unpermitted = || {
        format!(
            "{} is not run here: `ctxc trust` permits it",
            source.describe()
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
        .and_then(|body| Some(build_segments(&parse_plain_request(&body, endpoint).ok()?)));
    let recorded = answers
        .as_deref()
        .and_then(|answers| recorded_call(source, answers));
    // A vendor accepts a request that it answered with success, as long as the program sends the
    // same one.
    let is_same = |recorded: &Recording, call: &ProgramCall| {
        let own = RequestComparison::default();
        context
            .answers
            .comparison
            .unwrap_or(&own)
            .is_same(recorded, &call.as_live_request())
    };
    let was_answered = recorded
        .as_ref()
        .zip(sent.call.as_ref())
        .is_some_and(|(recorded, call)| recorded.is_vendor_success() && is_same(recorded, call));
    Ok(ParsedSent {
        request: parse_plain_request(&sent.body, endpoint)?,
        before,
        was_answered,
        recorded,
        call: sent.call,
    })
}

/// The call at the same turn of the recording.
fn recorded_call(source: &RequestSource, answers: &str) -> Option<Recording> {
    let RequestSource::Command(RequestProgram {
        conversation, n, ..
    }) = source
    else {
        return None;
    };
    let calls = RecordingFile::parse(answers).ok()?.calls;
    let contents: Vec<Option<CallContent>> = calls.iter().map(CallContent::from_call).collect();
    let wanted = CallPosition {
        conversation: *conversation,
        n: *n,
    };
    let at = call_positions(&contents)
        .iter()
        .position(|turn| *turn == Some(wanted))?;
    calls.into_iter().nth(at)
}

/// Reads the request in a text, which is a body or a recording with one or several calls.
fn parse_request_text(text: &str, number: Option<usize>) -> Result<ParsedSent, String> {
    let of_call = |call: &Recording, earlier: &[Recording]| {
        let was_answered = call.is_vendor_success();
        let request = parse_plain_request(call.request.get(), Some(&call.endpoint))?;
        Ok(ParsedSent {
            request,
            before: previous_segments(call, earlier),
            was_answered,
            recorded: Some(call.clone()),
            call: None,
        })
    };
    if let Ok(recorded) = RecordingFile::parse(text)
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
    Ok(ParsedSent {
        request: parse_plain_request(text, None)?,
        before: None,
        was_answered: false,
        recorded: None,
        call: None,
    })
}

/// The segments of the previous call of the same conversation among `earlier`; `None` if this is
/// the first.
pub fn previous_segments(call: &Recording, earlier: &[Recording]) -> Option<Vec<RequestSegment>> {
    let contents: Vec<Option<CallContent>> = earlier
        .iter()
        .chain([call])
        .map(CallContent::from_call)
        .collect();
    let turns = call_positions(&contents);
    let own = (*turns.last()?)?;
    let at = turns.iter().position(|turn| {
        *turn
            == Some(CallPosition {
                n: own.n - 1,
                ..own
            })
    })?;
    let call = earlier.get(at)?;
    Some(build_segments(
        &parse_plain_request(call.request.get(), Some(&call.endpoint)).ok()?,
    ))
}

/// All sections of a segment; a block of the project is the first match of its pattern.
pub fn find_sections(segment: &RequestSegment, blocks: &BTreeMap<String, String>) -> Vec<Section> {
    let mut all = segment.sections();
    if segment.is_text {
        let found = |(title, pattern): (&String, &String)| {
            let range = CompiledPattern::new(pattern)
                .ok()?
                .find(&segment.text)
                .ok()??;
            Some(Section {
                title: title.clone(),
                range,
            })
        };
        all.extend(blocks.iter().filter_map(found));
    }
    all
}

/// Facts about a model.
#[derive(Clone, Debug)]
pub struct RequestModelFacts {
    /// The token counter.
    pub counter: Arc<dyn TokenCounter>,
    /// US$ per million input tokens; `None` if unknown.
    pub usd_input: Option<f64>,
    /// US$ per million cached input tokens.
    pub usd_cached: Option<f64>,
    /// The minimum length of a cacheable prefix in tokens; 0 if unknown.
    pub cache_floor: usize,
}

/// Returns the facts about the model of a request: from the project if it defines the model,
/// otherwise from the built-in list of models.
pub fn model_facts(
    request: &ModelRequest,
    models: &BTreeMap<String, ModelConfig>,
) -> RequestModelFacts {
    let name = request.model.as_deref().unwrap_or_default();
    let own = models.values().find(|model| model.id == name);
    let known_model = find_model(name);
    let prices = own.and_then(|model| model.prices.as_ref());
    RequestModelFacts {
        counter: tokens::counter(tokenizer_name(request, own, name))
            .unwrap_or_else(|| Arc::new(ByteCounter)),
        usd_input: prices
            .map(|prices| prices.input)
            .or_else(|| known_model.and_then(|model| model.usd_input)),
        cache_floor: known_model
            .and_then(|model| usize::try_from(model.cache_floor).ok())
            .unwrap_or(0),
        usd_cached: prices
            .map(|prices| prices.cached_input)
            .or_else(|| known_model.and_then(|model| model.usd_cached)),
    }
}

fn tokenizer_name<'a>(request: &ModelRequest, own: Option<&'a ModelConfig>, name: &str) -> &'a str {
    let name = name.rsplit('/').next().unwrap_or(name);
    match own {
        Some(model) => model.tokenizer,
        None if name.starts_with("claude") => "claude",
        None if name.starts_with("gemini") => "gemini",
        None if name.starts_with("gpt-3.5") || name == "gpt-4" || name.starts_with("gpt-4-") => {
            "cl100k"
        }
        None => request.dialect.tokenizer(),
    }
}

impl RequestModelFacts {
    /// US$ for tokens that were sent although the cache could have supplied them; `None` if a price
    /// is unknown.
    pub fn lost_usd(&self, tokens: usize) -> Option<f64> {
        // Token counts are far below the limit of exact floats.
        #[allow(
            clippy::cast_precision_loss,
            reason = "windows have less than 2^53 tokens"
        )]
        let tokens = tokens as f64;
        let usd = tokens * (self.usd_input? - self.usd_cached?) / 1e6;
        Some((usd * 1e9).round() / 1e9)
    }
}

/// A lower bound of the tokens of a request: those of its texts, if its tokenizer is public. `None`
/// if that is unknown, or if the request fits into any window.
pub fn min_tokens(request: &ModelRequest, size: usize, config: &Config) -> Option<u64> {
    let window = ModelFacts::look_up(config, request.model.as_deref()).window?;
    let counter = model_facts(request, &config.models).counter;
    // Tokens of fewer than two bytes are rare, and counting takes ten times as long as reading.
    if !counter.is_exact() || (size as u64) / 2 < window {
        return None;
    }
    let texts = build_segments(request)
        .into_iter()
        .filter(|segment| segment.is_text);
    Some(
        texts
            .map(|segment| counter.count(&segment.text) as u64)
            .sum(),
    )
}
