//! What was said before the frozen situation, as written.

use crate::base::span::Spanned;
use serde::Serialize;
use serde_json::Value;

/// What was said before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Conversation {
    /// Its messages, oldest first, as OpenAI or Anthropic have them.
    Messages(Vec<Spanned<Value>>),
    /// A file that has one message a line, by its path relative to the scenario's folder.
    File(String),
}

impl Conversation {
    /// Whether nothing was said.
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Messages(messages) if messages.is_empty())
    }
}
