//! One call: a request with its response, a line of a file.

use super::json_text::json_tokens;
use crate::base::hash::{Hash, Hasher};
use crate::base::json::describe_syntax_error;
use crate::kernel::provider::Usage;
use crate::schema::json::names::{REQUEST, RUN};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A call of a provider: a line of a recording. Bodies are as sent, except for white space between
/// values and masked values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Recording {
    /// The version of the format.
    pub schema: String,
    /// The id of the call in its file.
    pub id: String,
    /// The time of the call, in UTC; null if no call was made, as for an answer written by hand.
    pub at: Option<String>,
    /// The agent that made the call; null if unknown.
    pub agent: Option<String>,
    /// The conversation that the call belongs to; null if unknown.
    pub conversation: Option<String>,
    /// The run that the call belongs to; null for none.
    pub run: Option<String>,
    /// The command that sent it; null for none.
    pub command: Option<Vec<String>>,
    /// The file and line of the program that sent it, by its header `x-ctxc-caller`; absent without
    /// that header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The trial of a scenario that the call belongs to, if `ctxc eval` made it; else null.
    pub trial: Option<TrialNumber>,
    /// The source of the answer: `upstream` is a model, `script` a person, `replay` an earlier
    /// recording.
    pub answered_by: AnsweredBy,
    /// The form of the request and its response, by the words of `ctxc render --as`.
    pub dialect: String,
    /// The path that the request went to, without its host.
    pub endpoint: String,
    /// The model that was asked.
    pub model: String,
    /// True if the response was requested as a stream.
    pub stream: bool,
    /// The body of the request.
    #[cfg_attr(
        feature = "cli",
        schemars(with = "BTreeMap<String, serde_json::Value>")
    )]
    pub request: Box<RawValue>,
    /// The body of the response, that of a stream as a text; null if none came.
    #[cfg_attr(feature = "cli", schemars(with = "Option<serde_json::Value>", extend("type" = ["object", "string", "null"])))]
    pub response: Option<Box<RawValue>>,
    /// The HTTP status; null if no response came.
    pub status: Option<u16>,
    /// The tokens that were counted.
    pub usage: Usage,
    /// The time from the request to the end of the response, in milliseconds; null if not measured.
    pub latency_ms: Option<u64>,
    /// The key by which the call is found: the hash of the request before any value was masked.
    pub key: String,
    /// Headers of the response that describe the call, such as its id.
    pub headers: BTreeMap<String, String>,
    /// The parts of a stream, each with the milliseconds after which it came; null without a stream
    /// or without stored parts.
    pub chunks: Option<Vec<(u64, String)>>,
    /// The reason that there is no response; null if there is one.
    pub error: Option<String>,
    /// True if the response is cut.
    pub truncated: bool,
    /// The masked values in the bodies.
    pub redacted: Vec<MaskedCount>,
    /// Secrets that another tool recorded beside the bodies; they are written nowhere.
    #[serde(skip)]
    pub secrets: Vec<String>,
}

/// A trial among those that were to be recorded with it. If fewer exist, some were deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "TrialOf"))]
pub struct TrialNumber {
    /// The stage that the trial belongs to.
    pub stage: TrialStage,
    /// The number of the trial in this stage, from 1.
    pub number: u32,
    /// The planned number of trials in this stage.
    pub of: u32,
}

/// A round of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", schemars(rename = "Stage"))]
pub enum TrialStage {
    /// The first stage, which every scenario has.
    #[default]
    First,
    /// The second stage, for a scenario that failed the first one.
    Confirm,
}

/// Sources of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A model.
    #[default]
    Upstream,
    /// A person who wrote it.
    Script,
    /// An earlier recording.
    Replay,
}

/// A masked value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Redacted"))]
pub struct MaskedCount {
    /// The place of the value, as a JSON pointer that begins with `/request` or `/response`.
    pub pointer: String,
    /// The kind of the value: `secret`, `email`, `phone`, `card`, `iban`, or `own` for a match of a
    /// pattern of the project.
    pub kind: String,
    /// The number of occurrences there.
    pub count: u64,
}

/// The reason why a line is not a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It is not valid JSON, such as the line of a program that was killed while writing.
    #[error("it is not valid JSON: {0}")]
    NoJson(String),
    /// It is a line of a run's trace, which mixes such lines with calls.
    #[error("it says what a run did beside its calls")]
    Trace,
    /// A later version wrote it.
    #[error("it says `{0}`, which a newer ctxc wrote; this one reads `{REQUEST}`")]
    Newer(String),
    /// It is something else.
    #[error("it is not a recorded call: {0}")]
    Other(String),
}

/// The schema of a line.
#[derive(Deserialize)]
struct LineHead {
    schema: Option<String>,
}

impl AsRef<Recording> for Recording {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Recording {
    /// Parses a line.
    ///
    /// # Errors
    /// The line is not a call, or a later version wrote it.
    pub fn parse_line(line: &str) -> Result<Self, LineFault> {
        match serde_json::from_str::<Self>(line) {
            Ok(call) if call.schema == REQUEST => Ok(call),
            // Most lines are calls: the reason against one is computed only if parsing fails.
            Ok(_) => Err(line_fault(line).unwrap_or_else(|| {
                LineFault::Other(format!("expected the key `schema` to say `{REQUEST}`"))
            })),
            Err(error) => {
                Err(line_fault(line).unwrap_or_else(|| LineFault::Other(error.to_string())))
            }
        }
    }

    /// Returns the call as a line, line end included.
    pub fn to_line(&self) -> String {
        // Serialising plain data with string keys cannot fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Writes the call as a line whose request, here null, another function writes: a large request
    /// is not copied in memory.
    ///
    /// # Errors
    /// The line cannot be written.
    #[cfg(feature = "serve")]
    pub fn write_line(
        &self,
        out: &mut dyn std::io::Write,
        request: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        const KEY: &str = "\"request\":";
        let line = self.to_line();
        // No string contains this text: quotes inside strings are escaped.
        let (head, tail) = line
            .split_once(&[KEY, "null"].concat())
            .ok_or(std::io::ErrorKind::InvalidData)?;
        out.write_all([head, KEY].concat().as_bytes())?;
        request(out)?;
        out.write_all(tail.as_bytes())
    }

    /// Returns true if the call has a complete, successful response.
    pub fn is_answered(&self) -> bool {
        self.response.is_some()
            && !self.truncated
            && self
                .status
                .is_none_or(|status| (200..300).contains(&status))
    }

    /// Returns true if the vendor itself answered with success, which proves that it accepts the
    /// request.
    pub fn is_vendor_success(&self) -> bool {
        self.answered_by == AnsweredBy::Upstream && self.is_answered()
    }

    /// Returns true if the key is that of the request, or if masked values in the request make that
    /// impossible to check.
    pub fn key_matches(&self) -> bool {
        self.redacted
            .iter()
            .any(|one| one.pointer.starts_with("/request"))
            || call_key("POST", &self.endpoint, self.request.get()).to_string() == self.key
    }

    /// The body of the response as received; `None` if no response came.
    pub fn response_text(&self) -> Option<String> {
        let raw = self.response.as_ref()?.get();
        Some(serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned()))
    }
}

/// Finds the reason why a line is not a call, as far as its schema shows it.
fn line_fault(line: &str) -> Option<LineFault> {
    if let Err(error) = serde_json::from_str::<&RawValue>(line) {
        return Some(LineFault::NoJson(describe_syntax_error(&error)));
    }
    let schema = match serde_json::from_str::<LineHead>(line) {
        Ok(LineHead {
            schema: Some(schema),
        }) => schema,
        Ok(LineHead { schema: None }) => {
            return Some(LineFault::Other(format!(
                "expected the key `schema` to say `{REQUEST}`"
            )));
        }
        Err(error) => return Some(LineFault::Other(error.to_string())),
    };
    if schema == REQUEST {
        return None;
    }
    if schema == RUN {
        return Some(LineFault::Trace);
    }
    let version = |name: &str| {
        name.rsplit_once('/')
            .and_then(|(name, version)| Some((name.to_owned(), version.parse::<u32>().ok()?)))
    };
    let is_newer = matches!((version(&schema), version(REQUEST)), (Some(a), Some(b)) if a.0 == b.0 && a.1 > b.1);
    Some(if is_newer {
        LineFault::Newer(schema)
    } else {
        LineFault::Other(format!(
            "expected the key `schema` to say `{REQUEST}`, found `{schema}`"
        ))
    })
}

/// The prefix of every fence mark.
const FENCE_MARK: &[u8] = b"untrusted-";
/// The text before a fence mark.
const FENCE_STARTS: [&str; 2] = ["<untrusted-", "</untrusted-"];

/// Returns the key of a call whose body is JSON.
pub fn call_key(method: &str, path: &str, body: &str) -> Hash {
    let has_marks = memchr::memmem::find(body.as_bytes(), FENCE_MARK).is_some();
    let plain = move |token| {
        Some(token)
            .filter(|_| has_marks)
            .and_then(without_fence_marks)
            .map_or(Cow::Borrowed(token), Cow::Owned)
    };
    let parts = json_tokens(body).map(move |token| KeyPart(plain(token.trim())));
    Hasher::new()
        .add_field("ctxc request 1")
        .add_field(method)
        .add_field(path)
        .add_field_parts(parts)
        .finish()
}

struct KeyPart<'b>(Cow<'b, str>);

impl AsRef<[u8]> for KeyPart<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns a text without the marks of its fences; `None` if it has none.
pub(super) fn without_fence_marks(text: &str) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), FENCE_MARK)?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = FENCE_STARTS
        .iter()
        .filter_map(|side| rest.find(side).map(|at| at + side.len()))
        .min()
    {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    Some(out + rest)
}
