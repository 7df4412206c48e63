//! What stands frozen in a situation: texts and values in place, or files that hold them.

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

/// How much is at stake, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Risk {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `critical`
    Critical,
}

impl Risk {
    /// Every risk, least first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Medium, Self::High, Self::Critical];
    /// Their words.
    pub const WORDS: [&'static str; 4] = ["low", "medium", "high", "critical"];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.word() == word)
    }
}
