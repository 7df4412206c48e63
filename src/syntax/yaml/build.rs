//! From parser events to a tree. Open collections are kept on an explicit stack, never on the
//! program's.

use super::fault::{MAX_DEPTH, MAX_WEIGHT, YamlFault, YamlFaultKind};
use super::keys::{PendingKey, append_merged, take_key_or_value};
use super::node::{YamlEntry, YamlNode, YamlValue};
use super::scalar::{own_tag, scalar_node};
use crate::base::number::is_out_of_range;
use crate::base::span::{Span, Spanned};
use granit_parser::{ErrorKind, Event, ParseResult, Parser, ScalarStyle, Tag};
use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum number of faults recorded for one file.
const MAX_FAULTS: usize = 100;

/// Reads a text. The tree contains everything up to the first fault that ends reading; an empty
/// text is a null node at its start.
pub fn parse_tree(text: &str) -> (YamlNode<'_>, Vec<YamlFault>) {
    let mut builder = TreeBuilder {
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
        flow_nesting_limit: MAX_DEPTH + 1,
        block_nesting_limit: MAX_DEPTH + 1,
    };
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(text, options);
    while let Some(result) = parser.next_event() {
        if !builder.handle_event(result) {
            break;
        }
    }
    builder.finish()
}

/// A collection that is not yet closed.
struct OpenCollection<'t> {
    start: u32,
    end: u32,
    anchor: usize,
    tag: Option<Box<Spanned<String>>>,
    parts: CollectionParts<'t>,
}

enum CollectionParts<'t> {
    List(Vec<YamlNode<'t>>),
    Map {
        entries: Vec<YamlEntry<'t>>,
        merged: Vec<YamlEntry<'t>>,
        key: Option<PendingKey<'t>>,
    },
}

struct TreeBuilder<'t> {
    text: &'t str,
    open: Vec<OpenCollection<'t>>,
    root: Option<YamlNode<'t>>,
    anchors: HashMap<usize, YamlNode<'t>>,
    weight: usize,
    faults: Vec<YamlFault>,
}

impl<'t> TreeBuilder<'t> {
    fn report(&mut self, span: Span, kind: YamlFaultKind) {
        if self.faults.len() < MAX_FAULTS || kind.stops_reading() {
            self.faults.push(YamlFault { span, kind });
        }
    }

    /// Processes one event; returns true while more can be read.
    fn handle_event(&mut self, result: ParseResult<'t>) -> bool {
        let (event, at) = match result {
            Ok((event, at)) => (event, at),
            Err(error) => {
                let offset = error.marker().byte_offset().unwrap_or(self.text.len());
                let (span, kind) = self.syntax_fault(offset, &error);
                self.report(span, kind);
                return false;
            }
        };
        let span = at.byte_range().map_or(Span::empty_at(0), |range| {
            Span::from_offsets(range.start, range.end)
        });
        let tag = |tag: Option<Cow<'t, Tag>>| own_tag(tag.as_deref(), span, &at);
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "a foreign list that may grow: what has no node is passed over"
        )]
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                self.report(span.visible(self.text), YamlFaultKind::SecondDocument);
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
                    && is_out_of_range(&text)
                {
                    self.report(at, YamlFaultKind::NumberTooLarge(text.to_string()));
                }
                let node = scalar_node(text, style, at, own, is_text);
                return self.add_node(node, anchor);
            }
            Event::SequenceStart(_, anchor, own) => {
                return self.open_collection(
                    span,
                    anchor,
                    tag(own),
                    CollectionParts::List(Vec::new()),
                );
            }
            Event::MappingStart(_, anchor, own) => {
                return self.open_collection(
                    span,
                    anchor,
                    tag(own),
                    CollectionParts::Map {
                        entries: Vec::new(),
                        merged: Vec::new(),
                        key: None,
                    },
                );
            }
            Event::SequenceEnd | Event::MappingEnd => return self.close_collection(span),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                // An anchor that is still missing belongs to a collection around the alias.
                let Some(node) = node else {
                    return self.add_unknown_alias(span);
                };
                self.weight += node.alias_weight();
                return self.add_node(node, 0);
            }
            Event::UnresolvedAlias(_) => return self.add_unknown_alias(span),
            // Events without a node: starts and ends of documents, and unrequested events.
            _ => {}
        }
        true
    }

    fn add_unknown_alias(&mut self, span: Span) -> bool {
        let name = span.slice(self.text).trim_start_matches('*').to_owned();
        self.report(span, YamlFaultKind::UnknownAlias(name));
        self.add_node(
            YamlNode {
                value: YamlValue::Null,
                span,
                tag: None,
            },
            0,
        )
    }

    fn syntax_fault(
        &self,
        offset: usize,
        error: &granit_parser::ScanError,
    ) -> (Span, YamlFaultKind) {
        let offset = self.text.floor_char_boundary(offset);
        let span = Span::from_offsets(offset, offset).visible(self.text);
        if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
            return (span, YamlFaultKind::TooDeep);
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
                return (
                    Span::from_offsets(at + tab, at + indent),
                    YamlFaultKind::Tab,
                );
            }
            at += line.len();
        }
        (span, YamlFaultKind::Syntax(error.info()))
    }

    fn open_collection(
        &mut self,
        span: Span,
        anchor: usize,
        tag: Option<Box<Spanned<String>>>,
        parts: CollectionParts<'t>,
    ) -> bool {
        if self.open.len() >= MAX_DEPTH {
            self.report(span.visible(self.text), YamlFaultKind::TooDeep);
            return false;
        }
        self.open.push(OpenCollection {
            start: span.start,
            end: span.end,
            anchor,
            tag,
            parts,
        });
        true
    }

    /// Closes the innermost collection. A block ends with its last part.
    fn close_collection(&mut self, span: Span) -> bool {
        let Some(open) = self.open.pop() else {
            return true;
        };
        let end = if span.is_empty() { open.end } else { span.end };
        let span = Span::new(open.start, end);
        let value = match open.parts {
            CollectionParts::List(items) => YamlValue::List(items),
            CollectionParts::Map {
                entries, merged, ..
            } => {
                let mut entries = self.remove_duplicate_keys(entries);
                append_merged(&mut entries, merged);
                YamlValue::Map(entries)
            }
        };
        self.add_node(
            YamlNode {
                value,
                span,
                tag: open.tag,
            },
            open.anchor,
        )
    }

    /// Adds a finished node to its parent.
    fn add_node(&mut self, node: YamlNode<'t>, anchor: usize) -> bool {
        self.weight += 1;
        if self.weight > MAX_WEIGHT {
            self.report(node.span.visible(self.text), YamlFaultKind::TooHeavy);
            return false;
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
            self.weight += node.alias_weight();
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return true;
        };
        open.end = open.end.max(node.span.end);
        let fault = match &mut open.parts {
            CollectionParts::List(items) => {
                items.push(node);
                None
            }
            CollectionParts::Map {
                entries,
                merged,
                key,
            } => take_key_or_value(self.text, (entries, merged), key, node),
        };
        if let Some(fault) = fault {
            self.report(fault.span, fault.kind);
        }
        true
    }

    /// Removes duplicate keys; the first one stays.
    fn remove_duplicate_keys(&mut self, entries: Vec<YamlEntry<'t>>) -> Vec<YamlEntry<'t>> {
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
        let mut unique_entries: Vec<YamlEntry<'t>> = Vec::with_capacity(entries.len());
        let mut faults = Vec::new();
        for entry in entries {
            let key = entry.key.value.as_ref().to_owned();
            let Some(first) = seen.get(&key).and_then(|at| unique_entries.get_mut(*at)) else {
                seen.insert(key, unique_entries.len());
                unique_entries.push(entry);
                continue;
            };
            faults.push(YamlFault {
                span: entry.key.span,
                kind: YamlFaultKind::DuplicateKey {
                    key,
                    first: first.key.span,
                },
            });
            // The first may be an unfinished line that was written again.
            if matches!(first.value.value, YamlValue::Null) {
                first.value = entry.value;
            }
        }
        for fault in faults {
            self.report(fault.span, fault.kind);
        }
        unique_entries
    }

    fn finish(mut self) -> (YamlNode<'t>, Vec<YamlFault>) {
        // Collections left open by a fault are closed, so that everything before the fault can be
        // checked.
        while !self.open.is_empty() {
            self.weight = 0;
            self.close_collection(Span::empty_at(0));
        }
        self.faults.sort_by_key(|fault| fault.span);
        (
            self.root.unwrap_or(YamlNode {
                value: YamlValue::Null,
                span: Span::empty_at(0),
                tag: None,
            }),
            self.faults,
        )
    }
}
