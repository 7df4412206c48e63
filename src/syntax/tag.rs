//! Start tags. A tag without an end yields one fault, and apparent bare words in it are read as
//! text.

use super::fault::XmlFaultKind;
use super::pass::{Flow, OpenElement, Pass};
use super::raw::RawAttribute;
use super::scanner::ScannedName;
use super::tree::{NO_NODE, NodeKind, flag};
use crate::base::span::Span;

/// The maximum distance before a `<` at which words are searched: a file full of `<` must not be
/// read again for each.
const MAX_LOOKBACK: usize = 256;

/// A start tag while it is read.
#[derive(Debug)]
pub(super) struct StartTag {
    /// The index of its first attribute.
    pub(super) first: usize,
    pub(super) name: ScannedName,
    /// True if a name in it has a colon or is `xmlns`.
    pub(super) has_namespaces: bool,
    pub(super) damaged: bool,
    /// The span of the last part: the name or an attribute.
    pub(super) last: Span,
    /// The first part that is not an attribute. Reported if the tag ends; otherwise text begins
    /// there.
    pub(super) deferred: Option<DeferredFault>,
}

/// A fault in a tag that counts only if the tag ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeferredFault {
    kind: XmlFaultKind,
    span: Span,
    at: usize,
    attributes: usize,
    faults: usize,
}

/// The end of a start tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StartTagEnd {
    Open,
    Empty,
    /// At `<` or the end of the text, without `>`.
    Unclosed,
}

impl Pass<'_, '_> {
    /// Reads the start tag at the place and opens its element.
    pub(super) fn read_start_tag(&mut self) -> Flow {
        let start = self.scan.at;
        self.scan.at += 1;
        let Some(name) = self.scan.read_name() else {
            return Ok(());
        };
        self.check_name(name)?;
        if self.scratch.open.len() >= self.limits.depth as usize {
            return self.stop_at_limit(XmlFaultKind::TooDeep, name.span());
        }
        let first = self.tree.attributes.len();
        let faults = self.faults.len();
        let bindings = self.scratch.bindings.len();
        let mut tag = StartTag {
            first,
            name,
            has_namespaces: name.has_colon,
            damaged: false,
            last: name.span(),
            deferred: None,
        };
        let end = self.read_attributes(&mut tag)?;
        if (end == StartTagEnd::Unclosed || tag.deferred.is_some()) && self.is_prose(start, first) {
            self.tree.attributes.truncate(first);
            self.faults.truncate(faults);
            return self.absorb_sign(start);
        }
        if tag.deferred.is_some() && self.scan.slice(0, self.scan.at).ends_with(b"?>") {
            return self.read_markless_instruction(start, &tag);
        }
        self.report_deferred(&mut tag, end)?;
        let name = tag.name;
        let id = self.add_node(
            NodeKind::Element,
            0,
            Span::from_offsets(start, self.scan.at),
            Span::from_offsets(self.scan.at, self.scan.at),
        )?;
        let count = (self.tree.attributes.len() - first) as u16;
        if let Some(raw) = self.raw_mut(id) {
            raw.name = (name.end - name.start) as u16;
            raw.count = count;
            raw.attributes = first as u32;
            raw.flags |= if end == StartTagEnd::Empty {
                flag::EMPTY
            } else {
                0
            };
        }
        if self.scratch.open.is_empty() {
            self.claim_root(id, name)?;
        }
        self.check_attributes(&tag)?;
        let namespace = self.element_namespace(name)?;
        if let Some(raw) = self.raw_mut(id) {
            raw.namespace = namespace;
        }
        if tag.damaged || self.conflict.is_some() {
            self.mark_damaged(id);
            if let Some(raw) = self.raw_mut(id) {
                raw.flags |= flag::TAG;
            }
        }
        if end == StartTagEnd::Empty {
            self.scratch.bindings.truncate(bindings);
        } else {
            self.scratch.open.push(OpenElement {
                node: id,
                last: NO_NODE,
                bindings,
            });
        }
        Ok(())
    }

    /// Returns true if an apparent tag at `start` was meant as text: words precede it on its line,
    /// and none of its attributes has a value.
    fn is_prose(&self, start: usize, first: usize) -> bool {
        let has_value = |attribute: &RawAttribute| attribute.value.start > attribute.name.end;
        let (parent, last) = self.innermost_open();
        let text = self.tree.raw(last).filter(|raw| {
            raw.kind == NodeKind::Text && raw.end as usize == start && parent != NO_NODE
        });
        let words = text.map_or(&[][..], |raw| {
            self.scan.slice(
                (raw.start as usize).max(start.saturating_sub(MAX_LOOKBACK)),
                start,
            )
        });
        let line =
            memchr::memrchr(b'\n', words).map_or(words, |end| words.get(end..).unwrap_or(&[]));
        let is_valued = self
            .tree
            .attributes
            .get(first..)
            .unwrap_or(&[])
            .iter()
            .any(has_value);
        !is_valued
            && self.conflict.is_none()
            && line.iter().any(|&byte| !super::wellformed::is_space(byte))
    }

    /// Reads attributes up to the end of the tag.
    pub(super) fn read_attributes(
        &mut self,
        tag: &mut StartTag,
    ) -> Result<StartTagEnd, super::pass::ReadStopped> {
        loop {
            let spaced = self.scan.skip_space();
            if self.conflict.is_some() {
                self.leave_conflict();
            }
            match self.scan.peek() {
                Some(b'>') => {
                    self.scan.at += 1;
                    return Ok(StartTagEnd::Open);
                }
                Some(b'/') => {
                    if let Some(end) = self.read_slash(tag)? {
                        return Ok(end);
                    }
                }
                None => return Ok(StartTagEnd::Unclosed),
                Some(b'<') => {
                    if self.enter_conflict()? {
                        self.scan.at = self.scan.line_end();
                    } else if !self.report_stray_marker()? {
                        return Ok(StartTagEnd::Unclosed);
                    }
                    tag.damaged = true;
                }
                Some(b'=') if self.scan.at == tag.name.end => self.read_joined_attribute(tag)?,
                Some(_) if self.scan.is_name_start(self.scan.at) => {
                    self.read_attribute(tag, spaced)?;
                }
                Some(_) => self.skip_junk(tag),
            }
            if self.tree.attributes.len() - tag.first
                > self.limits.attributes.min(u32::from(u16::MAX)) as usize
            {
                self.stop_at_limit(XmlFaultKind::TooManyAttributes, tag.name.span())?;
            }
        }
    }

    /// Handles a `/` in a tag: the end of an empty element, or out of place.
    fn read_slash(
        &mut self,
        tag: &mut StartTag,
    ) -> Result<Option<StartTagEnd>, super::pass::ReadStopped> {
        if self.scan.peek_at(1) == Some(b'>') {
            self.scan.at += 2;
            return Ok(Some(StartTagEnd::Empty));
        }
        let at = self.scan.at;
        self.scan.at += 1;
        self.scan.skip_space();
        match self.scan.peek() {
            Some(b'<') | None if tag.deferred.is_none() => {
                // `<a b="c"/` followed by the next tag: only the bracket is missing.
                self.scan.at = at + 1;
                self.report_fault(
                    XmlFaultKind::UnclosedStart,
                    tag.name.span(),
                    Some(Span::empty_at(self.scan.at as u32)),
                )?;
                tag.damaged = true;
                Ok(Some(StartTagEnd::Empty))
            }
            Some(b'>') => {
                self.defer_fault(
                    tag,
                    XmlFaultKind::JunkInTag,
                    Span::from_offsets(at, at + 1),
                    at,
                );
                self.scan.at += 1;
                Ok(Some(StartTagEnd::Empty))
            }
            _ => {
                self.defer_fault(
                    tag,
                    XmlFaultKind::JunkInTag,
                    Span::from_offsets(at, at + 1),
                    at,
                );
                Ok(None)
            }
        }
    }

    /// Skips a part that is not an attribute.
    fn skip_junk(&mut self, tag: &mut StartTag) {
        let start = self.scan.at;
        // A character that XML forbids has been reported already.
        let forbidden = self.scan.peek().is_some_and(|byte| byte < b' ');
        while let Some(byte) = self.scan.peek() {
            let ends = super::wellformed::is_space(byte)
                || matches!(byte, b'>' | b'<' | b'/') && self.scan.at > start;
            if ends {
                break;
            }
            self.scan.at += 1;
        }
        if forbidden {
            tag.damaged = true;
        } else {
            self.defer_fault(
                tag,
                XmlFaultKind::JunkInTag,
                Span::from_offsets(start, self.scan.at),
                start,
            );
        }
    }

    /// Records a fault that counts only if the tag ends; the first one is kept.
    pub(super) fn defer_fault(
        &mut self,
        tag: &mut StartTag,
        kind: XmlFaultKind,
        span: Span,
        at: usize,
    ) {
        tag.damaged = true;
        let attributes = self.tree.attributes.len();
        let faults = self.faults.len();
        tag.deferred.get_or_insert(DeferredFault {
            kind,
            span,
            at,
            attributes,
            faults,
        });
    }

    /// Reports the faults of a tag once its end is known.
    fn report_deferred(&mut self, tag: &mut StartTag, end: StartTagEnd) -> Flow {
        match (tag.deferred, end) {
            (Some(soft), StartTagEnd::Open | StartTagEnd::Empty) => {
                self.report_fault(soft.kind, soft.span, None)
            }
            (None, StartTagEnd::Open | StartTagEnd::Empty) => Ok(()),
            (soft, StartTagEnd::Unclosed) => {
                if let Some(soft) = soft {
                    self.tree.attributes.truncate(soft.attributes);
                    self.faults.truncate(soft.faults);
                    self.scan.at = soft.at;
                }
                let content = self.scan.slice(0, self.scan.at);
                let blank = content
                    .iter()
                    .rev()
                    .take_while(|&&byte| super::wellformed::is_space(byte))
                    .count();
                // Trailing white space belongs to the text, unless it is the end of a value without
                // its quote.
                let last_value_end = self
                    .tree
                    .attributes
                    .get(tag.first..)
                    .and_then(<[_]>::last)
                    .map_or(0, |last| last.value.end as usize);
                self.scan.at = (self.scan.at - blank).max(tag.name.end).max(last_value_end);
                tag.damaged = true;
                self.report_fault(
                    XmlFaultKind::UnclosedStart,
                    tag.name.span(),
                    Some(Span::empty_at(self.scan.at as u32)),
                )
            }
        }
    }

    /// Makes an element without a parent the root, or reports a second root.
    fn claim_root(&mut self, id: u32, name: ScannedName) -> Flow {
        if self.tree.root == NO_NODE {
            self.tree.root = id;
            self.forget_outside();
            return Ok(());
        }
        let root = self.tree.root;
        if self
            .tree
            .raw(root)
            .is_some_and(|raw| raw.flags & flag::EMPTY != 0)
        {
            // Content after `<task/>` was meant to be inside it: the misplacement is part of the
            // same fault.
            self.mark_damaged(root);
        }
        self.report_outside(XmlFaultKind::SecondRoot, name.span())
    }

    /// Checks that a name is within its limit and that a colon in it is in the right place.
    pub(super) fn check_name(&mut self, name: ScannedName) -> Flow {
        if name.end - name.start > self.limits.name.min(u32::from(u16::MAX)) as usize {
            return self.stop_at_limit(XmlFaultKind::NameTooLong, name.span());
        }
        if name.has_colon && !super::wellformed::is_qname(name.span().slice(self.scan.text)) {
            return self.report_fault(XmlFaultKind::BadColon, name.span(), None);
        }
        Ok(())
    }
}
