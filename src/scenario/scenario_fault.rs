//! Faults of a scenario file, as data, each with its key path and a place that can be shown. Their
//! messages are written by the rules of family 6xx, nowhere else.

use super::table::ScenarioShape;
use crate::base::span::Span;
use crate::syntax::yaml::{self, YamlNode, YamlValue};

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

/// The maximum number of faults of one file.
pub(super) const MAX_FAULTS: usize = 1000;

/// Collects faults of one file.
pub(super) struct ScenarioFaultSink<'t> {
    pub(super) text: &'t str,
    pub(super) faults: Vec<ScenarioFault>,
    /// The row of a case table that is being checked, and the place that stands for it.
    pub(super) row: Option<(CaseTableRow, Span)>,
}

/// The key path of a value, for messages only. Costs no allocation while there is no fault.
#[derive(Clone, Copy)]
pub(super) struct KeyPath<'p> {
    pub(super) parent: Option<&'p KeyPath<'p>>,
    pub(super) name: &'p str,
}

impl KeyPath<'_> {
    /// The top level of a file.
    pub(super) const TOP: KeyPath<'static> = KeyPath {
        parent: None,
        name: "",
    };

    /// Returns the keys from the outermost, joined by dots.
    pub(super) fn dotted(&self) -> String {
        let mut parts = Vec::new();
        let mut at = Some(self);
        while let Some(path) = at {
            parts.push(path.name);
            at = path.parent;
        }
        parts.retain(|part| !part.is_empty());
        parts.reverse();
        parts.join(".")
    }
}

impl ScenarioFaultSink<'_> {
    /// True if no more faults are collected, so that expensive suggestions can be skipped.
    pub(super) const fn is_full(&self) -> bool {
        self.faults.len() >= MAX_FAULTS
    }

    pub(super) fn report(&mut self, span: Span, kind: ScenarioFaultKind) {
        if self.is_full() {
            return;
        }
        let (span, row) = self
            .row
            .as_ref()
            .map_or((span, None), |(row, place)| (*place, Some(row.clone())));
        self.faults.push(ScenarioFault { span, kind, row });
    }

    pub(super) fn report_wrong_type(
        &mut self,
        path: &KeyPath<'_>,
        shape: ScenarioShape,
        node: &YamlNode<'_>,
    ) {
        let found = if node.text().is_some_and(|text| text.trim().is_empty()) {
            "an empty text"
        } else {
            node.kind_name()
        };
        self.report(
            self.visible_span(node),
            ScenarioFaultKind::WrongType {
                key: path.dotted(),
                expected: shape.description(),
                found,
            },
        );
    }

    pub(super) fn report_bad_value(
        &mut self,
        path: &KeyPath<'_>,
        node: &YamlNode<'_>,
        expected: String,
        near: Option<&str>,
    ) {
        let found = self.written_text(node);
        let kind = ScenarioFaultKind::BadValue {
            key: path.dotted(),
            found,
            expected,
            near: near.map(str::to_owned),
        };
        self.report(self.visible_span(node), kind);
    }

    /// Returns a node as written.
    pub(super) fn written_text(&self, node: &YamlNode<'_>) -> String {
        if self.row.is_some() {
            return node.to_json().to_string();
        }
        node.text()
            .map_or_else(|| node.span.slice(self.text).to_owned(), str::to_owned)
    }

    /// Returns a place that can be shown: the first line of a list or mapping.
    fn visible_span(&self, node: &YamlNode<'_>) -> Span {
        match node.value {
            YamlValue::List(_) | YamlValue::Map(_) => node.span.first_line(self.text),
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {
                node.span
            }
        }
    }
}

/// Returns the place of a part of a text, or the place of the whole text if it is written with
/// escapes.
pub(super) fn span_inside(
    source: &str,
    node: &YamlNode<'_>,
    text: &str,
    start: usize,
    end: usize,
) -> Span {
    let written = node.span.slice(source);
    let quotes = usize::from(written.starts_with(['"', '\'']));
    let plain = written.get(quotes..written.len() - quotes.min(written.len())) == Some(text);
    if !plain || start >= end || end > text.len() {
        return node.span;
    }
    let from = node.span.start + quotes as u32;
    Span::new(from + start as u32, from + end as u32)
}
