//! One call: a request with its response, a line of a file.

use super::key::call_key;
use crate::base::json::describe_syntax_error;
use crate::kernel::provider::Usage;
use crate::schema::json::names::{REQUEST, RUN};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A call of a provider: a line of a recording. Bodies are as they were sent, but for white space between values and for what was replaced.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Recording {
    /// The format.
    pub schema: String,
    /// What names the call in its file.
    pub id: String,
    /// When it was made, in UTC; null where nobody made it, as for an answer that somebody wrote.
    pub at: Option<String>,
    /// The agent that it is of; null where nobody knows.
    pub agent: Option<String>,
    /// The conversation that it is of; null where nobody knows.
    pub conversation: Option<String>,
    /// The run that it is of; null for none.
    pub run: Option<String>,
    /// The command that sent it; null for none.
    pub command: Option<Vec<String>>,
    /// The file and line of the program that sent it, as its header `x-ctxc-caller` said; left out where it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The trial of a scenario that it is of, where `ctxc eval` made the call; else null.
    pub trial: Option<TrialNumber>,
    /// Who answered: `upstream` is a model, `script` a person, `replay` an earlier recording.
    pub answered_by: AnsweredBy,
    /// The form of the request and its response, by the words of `ctxc render --as`.
    pub dialect: String,
    /// The path that the request went to, without its host.
    pub endpoint: String,
    /// The model that was asked.
    pub model: String,
    /// Whether the response was asked for as a stream.
    pub stream: bool,
    /// The body of the request.
    #[cfg_attr(
        feature = "cli",
        schemars(with = "BTreeMap<String, serde_json::Value>")
    )]
    pub request: Box<RawValue>,
    /// The body of the response, that of a stream as a text; null where none came.
    #[cfg_attr(feature = "cli", schemars(with = "Option<serde_json::Value>", extend("type" = ["object", "string", "null"])))]
    pub response: Option<Box<RawValue>>,
    /// The status of HTTP; null where no response came.
    pub status: Option<u16>,
    /// The tokens that were counted.
    pub usage: Usage,
    /// From the request to the end of the response, in milliseconds; null where nobody measured it.
    pub latency_ms: Option<u64>,
    /// What finds the call again: the hash of what was asked, taken before anything was replaced.
    pub key: String,
    /// Headers of the response that say something of the call, such as its id.
    pub headers: BTreeMap<String, String>,
    /// The parts of a stream, each with the milliseconds after which it came; null where it was none or nobody kept them.
    pub chunks: Option<Vec<(u64, String)>>,
    /// Why there is no response; null where there is one.
    pub error: Option<String>,
    /// Whether the response is cut.
    pub truncated: bool,
    /// What was replaced in the bodies.
    pub redacted: Vec<MaskedCount>,
    /// Secrets in what another tool recorded beside the bodies, which are written nowhere.
    #[serde(skip)]
    pub secrets: Vec<String>,
}

/// A trial among those that were to be recorded with it. Where fewer are there, somebody took some away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "TrialOf"))]
pub struct TrialNumber {
    /// The stage that tries it.
    pub stage: TrialStage,
    /// Its number in this stage, from 1.
    pub number: u32,
    /// How many this stage was to have.
    pub of: u32,
}

/// A round of trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", schemars(rename = "Stage"))]
pub enum TrialStage {
    /// Every scenario has it.
    #[default]
    First,
    /// That of a scenario which failed the first one.
    Confirm,
}

/// Who gave an answer.
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

/// Something that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Redacted"))]
pub struct MaskedCount {
    /// Where it stood, as a JSON pointer that begins with `/request` or `/response`.
    pub pointer: String,
    /// What it was: `secret`, `email`, `phone`, `card`, `iban`, or `own` for what a pattern of the project finds.
    pub kind: String,
    /// How often it stood there.
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
