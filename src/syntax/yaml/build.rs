//! From parser events to a tree. Open collections are kept on an explicit stack, never on the
//! program's.

use super::fault::{DEPTH, Fault, FaultKind, WEIGHT};
use super::keys::{Key, merge, pair};
use super::node::{Entry, Node, Value};
use super::scalar::{own_tag, scalar};
use crate::base::number::is_beyond;
use crate::base::span::{Span, Spanned};
use granit_parser::{ErrorKind, Event, ParseResult, Parser, ScalarStyle, Tag};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum number of faults recorded for one file.
const FAULTS: usize = 100;

/// Reads a text. The tree contains everything up to the first fault that ends reading; an empty
/// text is a null node at its start.
pub fn read(text: &str) -> (Node<'_>, Vec<Fault>) {
    let mut builder = Builder {
        text,
        open: Vec::new(),
        root: None,
        anchors: HashMap::new(),
        weight: 0,
        faults: Vec::new(),
    };
    // One more than is allowed, so that excessive depth is distinguishable from a syntax error.
    let mut options = granit_parser::options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEPTH + 1,
        block_nesting_limit: DEPTH + 1,
    };
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(text, options);
    while let Some(result) = parser.next_event() {
        if !builder.take(result) {
            break;
        }
    }
    builder.finish()
}

/// A collection that is not yet closed.
struct Open<'t> {
    start: u32,
    end: u32,
    anchor: usize,
    tag: Option<Box<Spanned<String>>>,
    parts: Parts<'t>,
}

enum Parts<'t> {
    List(Vec<Node<'t>>),
    Map {
        entries: Vec<Entry<'t>>,
        merged: Vec<Entry<'t>>,
        key: Option<Key<'t>>,
    },
}

struct Builder<'t> {
    text: &'t str,
    open: Vec<Open<'t>>,
    root: Option<Node<'t>>,
    anchors: HashMap<usize, Node<'t>>,
    weight: usize,
    faults: Vec<Fault>,
}

impl<'t> Builder<'t> {
    fn report(&mut self, span: Span, kind: FaultKind) {
        if self.faults.len() < FAULTS || kind.ends() {
            self.faults.push(Fault { span, kind });
        }
    }

    /// Processes one event; returns true while more can be read.
    fn take(&mut self, result: ParseResult<'t>) -> bool {
        let (event, at) = match result {
            Ok((event, at)) => (event, at),
            Err(error) => {
                let offset = error.marker().byte_offset().unwrap_or(self.text.len());
                let (span, kind) = self.syntax(offset, &error);
                self.report(span, kind);
                return false;
            }
        };
        let span = at
            .byte_range()
            .map_or(Span::at(0), |range| Span::of(range.start, range.end));
        let tag = |tag: Option<Cow<'t, Tag>>| own_tag(tag.as_deref(), span, &at);
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "a foreign list that may grow: what has no node is passed over"
        )]
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                self.report(span.visible(self.text), FaultKind::SecondDocument);
                return false;
            }
            Event::Scalar(text, style, anchor, own) => {
                let is_text = own
                    .as_deref()
                    .is_some_and(|tag| tag.core_suffix() == Some("str"));
                let own = tag(own);
                // The span of a block scalar extends to the next node.
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let shown = if block {
                    span.slice(self.text).trim_end().len() as u32
                } else {
                    span.len()
                };
                let at = Span::new(span.start, span.start + shown);
                if matches!(style, ScalarStyle::Plain)
                    && own.is_none()
                    && !is_text
                    && is_beyond(&text)
                {
                    self.report(at, FaultKind::Beyond(text.to_string()));
                }
                let node = scalar(text, style, at, own, is_text);
                return self.node(node, anchor);
            }
            Event::SequenceStart(_, anchor, own) => {
                return self.start(span, anchor, tag(own), Parts::List(Vec::new()));
            }
            Event::MappingStart(_, anchor, own) => {
                return self.start(
                    span,
                    anchor,
                    tag(own),
                    Parts::Map {
                        entries: Vec::new(),
                        merged: Vec::new(),
                        key: None,
                    },
                );
            }
            Event::SequenceEnd | Event::MappingEnd => return self.end(span),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                // An anchor that is still missing belongs to a collection around the alias.
                let Some(node) = node else {
                    return self.unknown(span);
                };
                self.weight += node.weight();
                return self.node(node, 0);
            }
            Event::UnresolvedAlias(_) => return self.unknown(span),
            // Events without a node: starts and ends of documents, and unrequested events.
            _ => {}
        }
        true
    }

    fn unknown(&mut self, span: Span) -> bool {
        let name = span.slice(self.text).trim_start_matches('*').to_owned();
        self.report(span, FaultKind::UnknownAlias(name));
        self.node(
            Node {
                value: Value::Null,
                span,
                tag: None,
            },
            0,
        )
    }

    fn syntax(&self, offset: usize, error: &granit_parser::ScanError) -> (Span, FaultKind) {
        let offset = self.text.floor_char_boundary(offset);
        let span = Span::of(offset, offset).visible(self.text);
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            return (span, FaultKind::Deep);
        }
        let start = self
            .text
            .get(..offset)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |newline| newline + 1);
        // The fault of a text that continues on the next line is reported at its beginning.
        let mut at = start;
        for line in self
            .text
            .get(start..)
            .unwrap_or("")
            .split_inclusive('\n')
            .take(2)
        {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = line.get(..indent).and_then(|indent| indent.find('\t')) {
                return (Span::of(at + tab, at + indent), FaultKind::Tab);
            }
            at += line.len();
        }
        (span, FaultKind::Syntax(error.info()))
    }

    fn start(
        &mut self,
        span: Span,
        anchor: usize,
        tag: Option<Box<Spanned<String>>>,
        parts: Parts<'t>,
    ) -> bool {
        if self.open.len() >= DEPTH {
            self.report(span.visible(self.text), FaultKind::Deep);
            return false;
        }
        self.open.push(Open {
            start: span.start,
            end: span.end,
            anchor,
            tag,
            parts,
        });
        true
    }

    /// Closes the innermost collection. A block ends with its last part.
    fn end(&mut self, span: Span) -> bool {
        let Some(open) = self.open.pop() else {
            return true;
        };
        let end = if span.is_empty() { open.end } else { span.end };
        let span = Span::new(open.start, end);
        let value = match open.parts {
            Parts::List(items) => Value::List(items),
            Parts::Map {
                entries, merged, ..
            } => {
                let mut entries = self.once(entries);
                merge(&mut entries, merged);
                Value::Map(entries)
            }
        };
        self.node(
            Node {
                value,
                span,
                tag: open.tag,
            },
            open.anchor,
        )
    }

    /// Adds a finished node to its parent.
    fn node(&mut self, node: Node<'t>, anchor: usize) -> bool {
        self.weight += 1;
        if self.weight > WEIGHT {
            self.report(node.span.visible(self.text), FaultKind::Heavy);
            return false;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
            self.weight += node.weight();
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return true;
        };
        open.end = open.end.max(node.span.end);
        let fault = match &mut open.parts {
            Parts::List(items) => {
                items.push(node);
                None
            }
            Parts::Map {
                entries,
                merged,
                key,
            } => pair(self.text, (entries, merged), key, node),
        };
        if let Some(fault) = fault {
            self.report(fault.span, fault.kind);
        }
        true
    }

    /// Removes duplicate keys; the first one stays.
    fn once(&mut self, entries: Vec<Entry<'t>>) -> Vec<Entry<'t>> {
        if entries.len() <= 8 {
            let is_double = |at: usize| {
                entries
                    .iter()
                    .take(at)
                    .any(|before| Some(&before.key.value) == entries.get(at).map(|e| &e.key.value))
            };
            if !(1..entries.len()).any(is_double) {
                return entries;
            }
        }
        let mut seen: HashMap<String, usize> = HashMap::with_capacity(entries.len());
        let mut kept: Vec<Entry<'t>> = Vec::with_capacity(entries.len());
        let mut faults = Vec::new();
        for entry in entries {
            let key = entry.key.value.as_ref().to_owned();
            let Some(first) = seen.get(&key).and_then(|at| kept.get_mut(*at)) else {
                seen.insert(key, kept.len());
                kept.push(entry);
                continue;
            };
            faults.push(Fault {
                span: entry.key.span,
                kind: FaultKind::DuplicateKey {
                    key,
                    first: first.key.span,
                },
            });
            // The first may be an unfinished line that was written again.
            if matches!(first.value.value, Value::Null) {
                first.value = entry.value;
            }
        }
        for fault in faults {
            self.report(fault.span, fault.kind);
        }
        kept
    }

    fn finish(mut self) -> (Node<'t>, Vec<Fault>) {
        // Collections left open by a fault are closed, so that everything before the fault can be
        // checked.
        while !self.open.is_empty() {
            self.weight = 0;
            self.end(Span::at(0));
        }
        self.faults.sort_by_key(|fault| fault.span);
        (
            self.root.unwrap_or(Node {
                value: Value::Null,
                span: Span::at(0),
                tag: None,
            }),
            self.faults,
        )
    }
}
