//! `[lints]`: how much each rule's findings weigh in this project. Never silences or lowers a locked rule.

use crate::base::rule_meta::{Code, RuleMeta, Severity};
use std::collections::BTreeMap;

/// A level of `[lints]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not reported.
    Off,
    /// Reported with this severity.
    At(Severity),
}

impl Level {
    /// The words of a level, the lightest first.
    pub const WORDS: [&'static str; 5] = ["off", "hint", "info", "warning", "error"];

    /// Reads a level exactly.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "off" => Self::Off,
            "hint" => Self::At(Severity::Hint),
            "info" => Self::At(Severity::Info),
            "warning" => Self::At(Severity::Warning),
            "error" => Self::At(Severity::Error),
            _ => return None,
        })
    }

    /// The word of the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::At(severity) => severity.as_str(),
        }
    }

    /// Greater is stricter.
    pub(super) const fn strictness(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::At(Severity::Hint) => 1,
            Self::At(Severity::Info) => 2,
            Self::At(Severity::Warning) => 3,
            Self::At(Severity::Error) => 4,
        }
    }
}

/// The families of codes by name.
pub const FAMILIES: [(&str, u16); 9] = [
    ("syntax", 0),
    ("structure", 1),
    ("context", 2),
    ("names", 3),
    ("migration", 4),
    ("project", 5),
    ("scenario", 6),
    ("request", 7),
    ("input", 9),
];

/// The levels that a project sets, rule by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lints {
    pub(super) levels: BTreeMap<Code, Level>,
}

impl Lints {
    /// The severity of a finding: the project's level, else what the rule gave it; `None` when it is not reported.
    pub fn apply(&self, rule: &RuleMeta, given: Severity) -> Option<Severity> {
        match self.levels.get(&rule.code) {
            Some(Level::At(severity)) => Some(*severity),
            Some(Level::Off) => None,
            None => rule.severity.map(|_| given),
        }
    }

    /// Whether a rule is reported at all.
    pub fn is_on(&self, rule: &RuleMeta) -> bool {
        self.apply(rule, Severity::Error).is_some()
    }

    /// What the project sets for a rule; `None` where it says nothing.
    pub fn level(&self, code: Code) -> Option<Level> {
        self.levels.get(&code).copied()
    }
}
