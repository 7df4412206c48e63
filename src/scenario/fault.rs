//! What is wrong with a scenario file, as data. Worded by the rules of family 6xx, nowhere else.

use crate::base::span::Span;
use crate::syntax::yaml;

/// One fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The place to look at.
    pub span: Span,
    /// What is wrong.
    pub kind: FaultKind,
    /// The row of a table that it is about; the place is that of `cases_from` then.
    pub row: Option<Row>,
}

/// A row of a table of cases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The table, as written in `cases_from`.
    pub path: String,
    /// Its line, from 1.
    pub line: u32,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Not YAML, or more of it than is read.
    Yaml(yaml::FaultKind),
    /// A tag that means nothing where it stands.
    UnknownTag(String),
    /// A key that nothing reads.
    UnknownKey {
        /// What it stands in: “a scenario”, “`context`”.
        table: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        near: Option<&'static str>,
        /// The keys that may stand there.
        valid: Vec<&'static str>,
        /// Where the key would be read: `context`.
        elsewhere: Option<&'static str>,
    },
    /// A key and another name of it in one mapping.
    SameKey {
        /// The name that every key has.
        key: &'static str,
        /// Where it stands first.
        first: Span,
    },
    /// A value of another type than its key wants.
    WrongType {
        /// The key with those around it.
        key: String,
        /// What the key wants: “a text”, “a list of texts”.
        expected: &'static str,
        /// What stands there: “a number”.
        found: &'static str,
    },
    /// A value of the right type that its key cannot take.
    BadValue {
        /// The key with those around it.
        key: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
    /// A key that has to be there.
    Missing {
        /// What it is missing from.
        table: String,
        /// The keys of which one has to be there.
        keys: &'static [&'static str],
    },
    /// Keys that exclude each other.
    Together {
        /// What they stand in.
        table: String,
        /// The first of them.
        first: (String, Span),
        /// This one.
        second: String,
    },
    /// A pattern that is not a valid regular expression.
    BadPattern {
        /// Why.
        reason: String,
        /// The character at which, from 1.
        at: usize,
        /// The part of the pattern.
        part: String,
    },
    /// A path into an answer that is no `JSONPath`.
    BadPath {
        /// The character at which, from 1.
        at: usize,
    },
    /// More trials have to pass than there are.
    Threshold {
        /// Trials.
        runs: u64,
        /// Trials that must pass.
        pass: u64,
    },
    /// A table of cases that cannot be read.
    Table {
        /// The table, as written.
        path: String,
        /// Why.
        reason: String,
    },
}
