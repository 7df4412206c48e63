//! Frozen texts and values of a situation, either in place or in files.

use crate::base::span::Spanned;
use crate::base::words::words;
use serde::Serialize;
use serde_json::Value;

/// A text, or a file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FrozenText {
    /// The text itself.
    Text(String),
    /// A file, by its path relative to the scenario's folder.
    File(String),
}

/// A value, or a file that holds it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum FrozenValue {
    /// The value itself.
    Value(Value),
    /// A file, by its path relative to the scenario's folder.
    File(String),
}

words! {
    /// The risk of a task, lowest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum Risk {
        /// `low`
        Low = "low",
        /// `medium`
        Medium = "medium",
        /// `high`
        High = "high",
        /// `critical`
        Critical = "critical",
    }
}

/// The earlier messages of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum FrozenConversation {
    /// The messages, oldest first, in the format of OpenAI or Anthropic.
    Messages(Vec<Spanned<Value>>),
    /// A file with one message a line, by its path relative to the scenario's folder.
    File(String),
}

impl FrozenConversation {
    /// Returns true if there are no messages.
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Messages(messages) if messages.is_empty())
    }
}
