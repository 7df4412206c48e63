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
    pub const fn strictness(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::At(Severity::Hint) => 1,
            Self::At(Severity::Info) => 2,
            Self::At(Severity::Warning) => 3,
            Self::At(Severity::Error) => 4,
        }
    }
}

/// Families in the order of their codes: number, name, what it is about.
pub static FAMILIES: &[Family] = &[
    Family { number: 0, name: "syntax", about: "the XML itself" },
    Family { number: 1, name: "structure", about: "elements, attributes and where they belong" },
    Family { number: 2, name: "context", about: "the four context settings, resolved" },
    Family { number: 3, name: "names", about: "names, references and variables" },
    Family { number: 4, name: "migration", about: "older forms, read as their modern value" },
    Family { number: 5, name: "project", about: "the project file and its policies" },
    Family { number: 6, name: "scenario", about: "scenarios and suites: what agents are tested with" },
    Family { number: 7, name: "request", about: "requests to models, from any program" },
    Family { number: 9, name: "input", about: "files that cannot be read" },
];

/// A hundred of codes that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The hundred: 2 for `CTX2xx`.
    pub number: u16,
    /// Its name in `[lints]`.
    pub name: &'static str,
    /// What its rules are about; a lower-case fragment.
    pub about: &'static str,
}

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
