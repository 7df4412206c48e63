//! Faults of a scenario file, as data. Their messages are written by the rules of family 6xx,
//! nowhere else.

use crate::base::span::Span;
use crate::syntax::yaml;

/// A fault of a scenario file.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioFault {
    /// The place of the fault.
    pub span: Span,
    /// Its kind and details.
    pub kind: ScenarioFaultKind,
    /// The row of the case table with the fault; the span is then that of `cases_from`.
    pub row: Option<CaseTableRow>,
}

/// A row of a table of cases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseTableRow {
    /// The table, as written in `cases_from`.
    pub path: String,
    /// The line number, from 1.
    pub line: u32,
}

/// The kinds of faults of a scenario file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScenarioFaultKind {
    /// Invalid YAML, or more than the reader accepts.
    Yaml(yaml::YamlFaultKind),
    /// A tag that has no meaning at its place.
    UnknownTag(String),
    /// A key that is not read.
    UnknownKey {
        /// The mapping with the key: “a scenario”, “`context`”.
        table: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        near: Option<&'static str>,
        /// The valid keys of the mapping.
        valid: Vec<&'static str>,
        /// The key of the mapping in which it would be read: `context`.
        elsewhere: Option<&'static str>,
    },
    /// A key and its alias in one mapping.
    RepeatedKey {
        /// The main name of the key.
        key: &'static str,
        /// The place of its first occurrence.
        first: Span,
    },
    /// A value of the wrong type.
    WrongType {
        /// The key path.
        key: String,
        /// The expected type: “a text”, “a list of texts”.
        expected: &'static str,
        /// The actual type: “a number”.
        found: &'static str,
    },
    /// A value of the right type that its key does not accept.
    BadValue {
        /// The key path.
        key: String,
        /// The value as written.
        found: String,
        /// The accepted values.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
    /// A required key that is missing.
    Missing {
        /// The mapping without the key.
        table: String,
        /// The keys, one of which is required.
        keys: &'static [&'static str],
    },
    /// Keys that exclude each other.
    ExclusiveKeys {
        /// The mapping with the keys.
        table: String,
        /// The key that comes first, with its place.
        first: (String, Span),
        /// The key at the span of the fault.
        second: String,
    },
    /// A pattern that is not a valid regular expression.
    BadPattern {
        /// The reason.
        reason: String,
        /// The position of the mistake in characters, from 1.
        at: usize,
        /// The invalid part of the pattern.
        part: String,
    },
    /// A text that is not a valid `JSONPath`.
    BadPath {
        /// The position of the mistake in characters, from 1.
        at: usize,
    },
    /// A pass threshold above the number of trials.
    PassAboveRuns {
        /// The number of trials.
        runs: u64,
        /// The number of trials that must pass.
        pass: u64,
    },
    /// A table of cases that cannot be read.
    UnreadableTable {
        /// The table, as written.
        path: String,
        /// The reason.
        reason: String,
    },
}
