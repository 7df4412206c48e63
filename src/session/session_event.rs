//! A session as events: messages with their places, and the points at which its history shrank.
//!
//! Messages are numbered from 0 in the order of their events; a number is never used again.

use crate::base::words::words;
use crate::kernel::conversation::{Part, Speaker, Turn};
use serde::Serialize;
use serde_json::Value;

words! {
    /// The program that wrote a session.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum SessionFormat {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex CLI.
        Codex = "codex",
        /// pi and OMP.
        Pi = "pi",
        /// Gemini CLI.
        GeminiCli = "gemini-cli",
        /// Calls that ctxc recorded.
        Recording = "recording",
    }
}

/// The reason why a message is in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOrigin {
    /// The user or the model wrote it, or a tool returned it.
    Conversation,
    /// The agent's program inserted it: reminders, output of its own commands.
    Program,
    /// The agent's program sends it with every request, so that no compaction drops it.
    Standing,
}

/// A message with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionMessage {
    /// The message.
    pub turn: Turn,
    /// The reason why it is there.
    pub origin: MessageOrigin,
    /// The line of the file, from 1.
    pub line: usize,
    /// True for the first message of an answer of the model; an answer can have several.
    pub starts_answer: bool,
}

impl SessionMessage {
    /// Creates a message; one of the model starts an answer.
    pub fn new(turn: Turn, origin: MessageOrigin, line: usize) -> Self {
        Self {
            starts_answer: turn.speaker == Speaker::Assistant,
            turn,
            origin,
            line,
        }
    }
}

words! {
    /// The kind of a compaction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum CompactionKind {
        /// A summary replaced messages.
        Summary = "summary",
        /// Results of tools were cleared, without a summary.
        ClearedResults = "cleared-results",
        /// A summary that cannot be read, or that is not in the session, replaced messages.
        Opaque = "opaque",
    }
}

/// A point at which a history shrank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CompactionPoint {
    /// Its kind: `opaque` if its summary cannot be read, so that nothing but the kept messages is
    /// compared.
    pub kind: CompactionKind,
    /// The line of the file, from 1.
    pub line: usize,
    /// The time, as written.
    pub at: Option<String>,
    /// The cause, as written: `auto`, `manual`.
    pub trigger: Option<String>,
    /// The tokens of the last request before it.
    pub tokens_before: Option<u64>,
    /// The tokens of the history after it, or of the first request.
    pub tokens_after: Option<u64>,
    /// The summary; empty if there is none that can be read.
    #[serde(skip)]
    pub summary: String,
    /// The numbers of the earlier messages that stay, in ascending order.
    #[serde(skip)]
    pub retained: Vec<usize>,
}

impl CompactionPoint {
    /// Creates a point without details.
    pub const fn new(kind: CompactionKind, line: usize) -> Self {
        Self {
            kind,
            line,
            at: None,
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary: String::new(),
            retained: Vec::new(),
        }
    }
}

/// The next step of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A message, with the next number.
    Message(SessionMessage),
    /// The user went back: messages from this number on are no longer part of the conversation.
    Rewind(usize),
    /// The history shrank.
    Compaction(Box<CompactionPoint>),
    /// The user went back to a message before the last compaction of the conversation: what it
    /// dropped is part of the conversation again, and what came behind it is not.
    UndoCompaction,
    /// The agent's program loaded a file or a text again by itself.
    Reload(Reload),
    /// The facts about the request that the last message of the model answers.
    Request(RequestFacts),
    /// The system text that is sent with every request.
    SystemText(String),
    /// The folder in which the agent works.
    Folder(String),
    /// The events that follow belong to this conversation, which has numbers of its own.
    Conversation(String),
}

/// The facts about a request that stand beside its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The model that answered.
    pub model: Option<String>,
    /// The time of the answer, as written.
    pub at: Option<String>,
    /// The tokens that the provider billed.
    pub tokens: BilledTokens,
}

/// The tokens of a request as its provider billed them; `None` for values that it did not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilledTokens {
    /// Everything that was sent, cached or not.
    pub input: Option<u64>,
    /// The part of the input that the provider read from its cache.
    pub cached: Option<u64>,
    /// The part of the input that the provider wrote to its cache.
    pub written: Option<u64>,
}

/// A file or a text that an agent's program loaded by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reload {
    /// The path of the file, if it is one.
    pub path: Option<String>,
    /// The text; empty if the session does not contain it.
    pub text: String,
}

/// The result of reading a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A row that the reader understands, or that is not part of the conversation.
    Known,
    /// A row of another kind, by its name.
    Unknown(String),
}

/// The rows of a session that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RowCounts {
    /// The rows of kinds that ctxc does not know; those of further kinds count as `…`.
    pub unknown_rows: Vec<UnknownRows>,
    /// The number of lines that are too long or not JSON, such as those of two writers at once.
    pub unreadable_rows: usize,
    /// The first of these lines.
    pub unreadable_lines: Vec<usize>,
    /// True if the last line is cut.
    pub is_cut: bool,
}

/// The rows of a kind that ctxc does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct UnknownRows {
    /// The kind, as written.
    pub kind: String,
    /// The number of rows.
    pub rows: usize,
}

/// Returns the text of a part that is one.
pub fn part_text(part: &Part) -> Option<&str> {
    if let Part::Text(text) = part {
        Some(text)
    } else {
        None
    }
}

/// Returns the text at a key; empty if there is none.
pub fn text_at<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns all texts in a JSON value, one a line.
pub fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => joined(values.iter()),
        Value::Object(values) => joined(values.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

fn joined<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    values.map(all_text).collect::<Vec<_>>().join("\n")
}
