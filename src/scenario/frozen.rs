//! What stands frozen in a situation: texts and values in place, or files that hold them.

use crate::base::span::Spanned;
use crate::base::words::words;
use serde::Serialize;
use serde_json::Value;

/// A text, or a file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Content {
    /// The text itself.
    Text(String),
    /// A file, by its path relative to the scenario's folder.
    File(String),
}

/// A value, or a file that holds it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Frozen {
    /// The value itself.
    Value(Value),
    /// A file, by its path relative to the scenario's folder.
    File(String),
}

words! {
    /// How much is at stake, least first.
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

/// What was said before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Conversation {
    /// Its messages, oldest first, as OpenAI or Anthropic have them.
    Messages(Vec<Spanned<Value>>),
    /// A file that has one message a line, by its path relative to the scenario's folder.
    File(String),
}

impl Conversation {
    /// Returns whether nothing was said.
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Messages(messages) if messages.is_empty())
    }
}
