//! Calls of another tool, converted to recorded calls, and the faults of its recordings.

use crate::provider::read;
use crate::record::addresses::split_secrets;
use crate::record::json_text;
use crate::record::recording::{Recording, call_key};
use crate::request::dialect::Dialect;
use crate::schema::json::names::REQUEST;
use serde_json::value::RawValue;

/// The dialect of calls that are not requests to a model.
pub(super) const OTHER_DIALECT: &str = "other";

/// Creates a call without name and answer.
pub(super) fn new_call(
    number: usize,
    dialect: Option<Dialect>,
    endpoint: &str,
    body: &str,
) -> Recording {
    let request = json_text::to_raw_json(body);
    Recording {
        schema: REQUEST.to_owned(),
        id: number.to_string(),
        dialect: dialect.map_or(OTHER_DIALECT, Dialect::word).to_owned(),
        endpoint: endpoint.to_owned(),
        key: call_key("POST", endpoint, request.get()).to_string(),
        request,
        ..Recording::default()
    }
}

/// Creates an empty entry for a call that is not a request to a model, to keep the numbering.
pub(super) fn other_call(number: usize) -> Recording {
    new_call(number, None, "", "{}")
}

/// Adds the response to a call.
pub(super) fn add_response(
    recording: &mut Recording,
    dialect: Dialect,
    status: Option<u16>,
    text: &str,
) {
    recording.status = status;
    if text.is_empty() {
        return;
    }
    let answer =
        read::find_dialect(dialect.word()).and_then(|dialect| read::answer(dialect, text).ok());
    if let Some(answer) = answer {
        recording.usage = answer.usage;
    }
    recording.response = Some(json_text::to_raw_json(text));
}

/// Returns path and query of a URL as they are recorded: without host, without parameters that hold
/// secrets, and for `OpenAI` without the version.
pub fn recorded_endpoint(uri: &str) -> String {
    let path = uri.split_once("://").map_or(uri, |(_, rest)| {
        rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
    });
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_openai = matches!(
        Dialect::of_path(path),
        Some(Dialect::OpenaiChat | Dialect::OpenaiResponses)
    );
    let path = path
        .strip_prefix("/v1")
        .filter(|rest| is_openai && rest.starts_with('/'))
        .unwrap_or(path);
    let (query, _) = split_secrets(query);
    path.to_owned() + &query
}

/// The top-level fields of a body.
#[derive(Default, serde::Deserialize)]
struct BodyHead {
    #[serde(default)]
    model: serde_json::Value,
    #[serde(default)]
    stream: serde_json::Value,
}

/// Copies model and stream from a request's body. Returns false if the body is not a JSON object.
pub(super) fn read_head(recording: &mut Recording) -> bool {
    let text = recording.request.get();
    if !text.starts_with('{') || serde_json::from_str::<&RawValue>(text).is_err() {
        return false;
    }
    let head: BodyHead = serde_json::from_str(text).unwrap_or_default();
    let path = recording.endpoint.split('?').next().unwrap_or_default();
    let in_path = || {
        path.rsplit('/')
            .next()
            .and_then(|last| last.split_once(':'))
            .map(|(model, _)| model.to_owned())
    };
    recording.model = head
        .model
        .as_str()
        .map(str::to_owned)
        .or_else(in_path)
        .unwrap_or_default();
    recording.stream = head
        .stream
        .as_bool()
        .unwrap_or_else(|| path.ends_with(":streamGenerateContent"));
    true
}

/// The reason why a file of another tool cannot be read as calls.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForeignFault {
    /// It is not valid in its format.
    #[error("it begins like {what}, but line {line} cannot be read: {why}")]
    Unreadable {
        /// The format.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// It contains no list of calls.
    #[error("it begins like a VCR cassette, but its key `interactions` holds no list")]
    NoList,
    /// It contains only calls to other servers.
    #[error(
        "none of its {0} calls goes to a model API that ctxc reads (docs/RECORD.md lists them)"
    )]
    NoCall(usize),
    /// It contains no call at all.
    #[error("the cassette is empty: it holds no call")]
    Empty,
    /// It contains no span or event of a model call.
    #[error(
        "it holds no span or event of a call to a model: expected attributes such as `gen_ai.input.messages`"
    )]
    NoSpans,
    /// The program that wrote it left out all content.
    #[error(
        "it holds {0} of calls to models, none with content: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true \
         (OpenLLMetry: TRACELOOP_TRACE_CONTENT=true) and trace the program again"
    )]
    NoContent(String),
}
