//! `[lints]`: the severity of each rule's findings in this project. Never silences or lowers a
//! locked rule.

use crate::base::rule_meta::{Code, RuleMeta, Severity};
use std::collections::BTreeMap;

/// A level of `[lints]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LintLevel {
    /// Not reported.
    Off,
    /// Reported with this severity.
    At(Severity),
}

impl LintLevel {
    /// The names of the levels, the lowest first.
    pub const WORDS: [&'static str; 5] = ["off", "hint", "info", "warning", "error"];

    /// Parses a level exactly.
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

    /// The name of the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::At(severity) => severity.as_str(),
        }
    }

    /// A number that is greater for a stricter level.
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

/// Families in the order of their codes: number, name, subject.
pub static FAMILIES: &[Family] = &[
    Family {
        number: 0,
        name: "syntax",
        about: "the XML itself",
    },
    Family {
        number: 1,
        name: "structure",
        about: "elements, attributes and where they belong",
    },
    Family {
        number: 2,
        name: "context",
        about: "the four context settings, resolved",
    },
    Family {
        number: 3,
        name: "names",
        about: "names, references and variables",
    },
    Family {
        number: 4,
        name: "migration",
        about: "older forms, read as their modern value",
    },
    Family {
        number: 5,
        name: "project",
        about: "the project file and its policies",
    },
    Family {
        number: 6,
        name: "scenario",
        about: "scenarios and suites, the tests of agents",
    },
    Family {
        number: 7,
        name: "request",
        about: "requests to models, from any program",
    },
    Family {
        number: 9,
        name: "input",
        about: "files that cannot be read",
    },
];

/// A group of a hundred codes.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The hundred: 2 for `CTX2xx`.
    pub number: u16,
    /// Its name in `[lints]`.
    pub name: &'static str,
    /// The subject of its rules, as a lower-case fragment.
    pub about: &'static str,
}

/// The levels that a project sets, rule by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lints {
    pub(super) levels: BTreeMap<Code, LintLevel>,
}

impl Lints {
    /// The severity of a finding: the project's level, otherwise the rule's own; `None` if it is
    /// not reported.
    pub fn severity_for(&self, rule: &RuleMeta, default: Severity) -> Option<Severity> {
        match self.levels.get(&rule.code) {
            Some(LintLevel::At(severity)) => Some(*severity),
            Some(LintLevel::Off) => None,
            None => rule.severity.map(|_| default),
        }
    }

    /// True if findings of a rule are reported.
    pub fn is_on(&self, rule: &RuleMeta) -> bool {
        self.severity_for(rule, Severity::Error).is_some()
    }

    /// Takes over the level for a rule from another project.
    pub fn copy_level(&mut self, code: Code, from: &Self) {
        match from.levels.get(&code) {
            Some(level) => self.levels.insert(code, *level),
            None => self.levels.remove(&code),
        };
    }

    /// The project's level for a rule; `None` if it sets none.
    pub fn level(&self, code: Code) -> Option<LintLevel> {
        self.levels.get(&code).copied()
    }
}
