//! Collects the faults of one file, each with its key path and a place that can be shown.

use super::fault::{Fault, FaultKind};
use super::table::Shape;
use crate::base::span::Span;
use crate::syntax::yaml::{Node, Value};

/// The maximum number of faults of one file.
pub(super) const FAULTS: usize = 1000;

/// Collects faults of one file.
pub(super) struct Sink<'t> {
    pub(super) text: &'t str,
    pub(super) faults: Vec<Fault>,
    /// The row of a case table that is being checked, and the place that stands for it.
    pub(super) row: Option<(super::fault::Row, Span)>,
}

/// The key path of a value, for messages only. Costs no allocation while there is no fault.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    pub(super) parent: Option<&'p Path<'p>>,
    pub(super) name: &'p str,
}

impl Path<'_> {
    /// The top level of a file.
    pub(super) const TOP: Path<'static> = Path {
        parent: None,
        name: "",
    };

    /// Returns the keys from the outermost, joined by dots.
    pub(super) fn text(&self) -> String {
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

impl Sink<'_> {
    /// True if no more faults are collected, so that expensive suggestions can be skipped.
    pub(super) const fn is_full(&self) -> bool {
        self.faults.len() >= FAULTS
    }

    pub(super) fn report(&mut self, span: Span, kind: FaultKind) {
        if self.is_full() {
            return;
        }
        let (span, row) = self
            .row
            .as_ref()
            .map_or((span, None), |(row, place)| (*place, Some(row.clone())));
        self.faults.push(Fault { span, kind, row });
    }

    pub(super) fn wrong_type(&mut self, path: &Path<'_>, shape: Shape, node: &Node<'_>) {
        let found = if node.text().is_some_and(|text| text.trim().is_empty()) {
            "an empty text"
        } else {
            node.what()
        };
        self.report(
            self.shown(node),
            FaultKind::WrongType {
                key: path.text(),
                expected: shape.wanted(),
                found,
            },
        );
    }

    pub(super) fn bad_value(
        &mut self,
        path: &Path<'_>,
        node: &Node<'_>,
        expected: String,
        near: Option<&str>,
    ) {
        let found = self.written(node);
        let kind = FaultKind::BadValue {
            key: path.text(),
            found,
            expected,
            near: near.map(str::to_owned),
        };
        self.report(self.shown(node), kind);
    }

    /// Returns a node as written.
    pub(super) fn written(&self, node: &Node<'_>) -> String {
        if self.row.is_some() {
            return node.to_json().to_string();
        }
        node.text()
            .map_or_else(|| node.span.slice(self.text).to_owned(), str::to_owned)
    }

    /// Returns a place that can be shown: the first line of a list or mapping.
    fn shown(&self, node: &Node<'_>) -> Span {
        match node.value {
            Value::List(_) | Value::Map(_) => node.span.first_line(self.text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => node.span,
        }
    }
}

/// Returns the place of a part of a text, or the place of the whole text if it is written with
/// escapes.
pub(super) fn inside(source: &str, node: &Node<'_>, text: &str, start: usize, end: usize) -> Span {
    let written = node.span.slice(source);
    let quotes = usize::from(written.starts_with(['"', '\'']));
    let plain = written.get(quotes..written.len() - quotes.min(written.len())) == Some(text);
    if !plain || start >= end || end > text.len() {
        return node.span;
    }
    let from = node.span.start + quotes as u32;
    Span::new(from + start as u32, from + end as u32)
}
