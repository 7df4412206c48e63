//! End tags: decides which open element each one closes if its name matches none.
//!
//! If names are ambiguous, lines and indentation decide, since authors indent nested content. Both
//! are considered only in damaged regions, never in well-formed text.

use super::fault::{XmlFault, XmlFaultKind};
use super::orphans::Orphans;
use super::pass::{Flow, Pass};
use super::scanner::ScannedName;
use super::tree::{NO_NODE, NodeKind, RawNode, flag};
use super::wellformed::{is_near, is_space};
use crate::base::span::Span;

/// The element that an end tag closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClosingMatch {
    /// The open element at this depth, by its name.
    Exactly(usize),
    /// The open element at this depth, in spite of its name.
    Probably(usize),
    Nothing,
}

impl Pass<'_, '_> {
    /// Reads the end tag at the current position.
    #[inline]
    pub(super) fn read_end_tag(&mut self) -> Flow {
        let start = self.scan.at;
        if let Some(raw) = self
            .scratch
            .open
            .last()
            .and_then(|open| self.tree.raw(open.node))
        {
            let from = start + 2;
            let to = from + usize::from(raw.name);
            if self.scan.slice(from, to) == self.name_of(raw)
                && self.scan.bytes.get(to) == Some(&b'>')
            {
                self.scan.at = to + 1;
                self.close_innermost(start);
                return Ok(());
            }
        }
        self.read_unusual_end_tag(start)
    }

    fn read_unusual_end_tag(&mut self, start: usize) -> Flow {
        self.scan.at = start + 2;
        let spaced = self.scan.skip_space();
        let Some(name) = self.scan.read_name() else {
            return self.read_nameless_end_tag(start);
        };
        if name.end - name.start > self.limits.name.min(u32::from(u16::MAX)) as usize {
            return self.stop_at_limit(XmlFaultKind::NameTooLong, name.span());
        }
        let mut fault = spaced.then_some(XmlFaultKind::JunkInEnd);
        self.scan.skip_space();
        if self.scan.peek() == Some(b'>') {
            self.scan.at += 1;
        } else if let Some(end) = self
            .scan
            .find_either(b'<', b'>')
            .filter(|&end| self.scan.bytes.get(end) == Some(&b'>'))
        {
            self.scan.at = end + 1;
            fault = Some(XmlFaultKind::JunkInEnd);
        } else {
            self.scan.at = name.end;
            fault = Some(XmlFaultKind::UnclosedEnd);
        }
        let tag = Span::from_offsets(start, self.scan.at);
        if let Some(kind) = fault {
            let unclosed = kind == XmlFaultKind::UnclosedEnd;
            let (span, other) = if unclosed {
                (name.span(), Some(Span::empty_at(name.end as u32)))
            } else {
                (tag, None)
            };
            self.mark_open_damaged();
            self.report_fault(kind, span, other)?;
        }
        self.close_element(name, tag, fault.is_some())
    }

    /// Reads an end tag without a name, such as `</>` or `</ >`, which closes the innermost
    /// element.
    fn read_nameless_end_tag(&mut self, start: usize) -> Flow {
        let end = self
            .scan
            .find_either(b'<', b'>')
            .filter(|&end| self.scan.bytes.get(end) == Some(&b'>'));
        let Some(end) = end else {
            self.scan.at = start + 2;
            return self.report_fault(
                XmlFaultKind::LessInText,
                Span::from_offsets(start, start + 1),
                None,
            );
        };
        self.scan.at = end + 1;
        let Some(open) = self.scratch.open.last().copied() else {
            return self.report_outside(XmlFaultKind::StrayEnd, Span::from_offsets(start, end + 1));
        };
        let other = self.name_span(open.node);
        self.mark_damaged(open.node);
        self.close_innermost(start);
        self.report_fault(
            XmlFaultKind::MismatchedEnd,
            Span::from_offsets(start, end + 1),
            Some(other),
        )
    }

    /// Closes the element that belongs to an end tag; `reported`: the tag already has a fault.
    fn close_element(&mut self, name: ScannedName, tag: Span, reported: bool) -> Flow {
        let start = tag.start as usize;
        if self.split_joined_name(name) || self.split_text(name) {
            self.close_innermost(start);
            return Ok(());
        }
        if self.open_name(self.scratch.open.len().wrapping_sub(1))
            != self.scan.slice(name.start, name.end)
            && self.recover_start_tag(name, tag)?
        {
            return Ok(());
        }
        match self.find_closed(name, start) {
            ClosingMatch::Nothing => {
                self.mark_open_damaged();
                let Some(open) = self.scratch.open.last().copied() else {
                    return match self.reopen_root(name, tag) {
                        // The slash of an empty root has been reported.
                        Some(early) if early.is_empty() => Ok(()),
                        Some(early) => self.report_fault(XmlFaultKind::StrayEnd, early, Some(tag)),
                        None => match self.adopt_root(name, tag) {
                            Some(begins) => self.report_fault(
                                XmlFaultKind::MissingStart,
                                tag,
                                Some(Span::empty_at(begins)),
                            ),
                            None => self.report_outside(XmlFaultKind::StrayEnd, tag),
                        },
                    };
                };
                let around = self.name_span(open.node);
                match self.mark_orphans(name, tag) {
                    _ if reported => Ok(()),
                    Orphans::Nothing => {
                        self.report_fault(XmlFaultKind::StrayEnd, tag, Some(around))
                    }
                    Orphans::From(start) => {
                        let place = self
                            .take_stray_before(start)
                            .unwrap_or(Span::empty_at(start));
                        self.report_fault(XmlFaultKind::MissingStart, tag, Some(place))
                    }
                    Orphans::ChildrenOf(element) => {
                        self.report_fault(XmlFaultKind::ClosedTwice, element, Some(tag))
                    }
                    Orphans::ClosedEarly(early) => {
                        self.report_fault(XmlFaultKind::StrayEnd, early, Some(tag))
                    }
                }
            }
            ClosingMatch::Exactly(depth) => {
                let missing = self.close_unclosed(depth + 1, start);
                self.close_innermost(start);
                missing
            }
            ClosingMatch::Probably(depth) => {
                let missing = self.close_unclosed(depth + 1, start);
                let innermost = self.scratch.open.last().map(|open| open.node);
                let other = innermost.map(|node| self.name_span(node));
                self.mark_open_damaged();
                // It is unknown which of the two names is misspelt.
                if let Some(raw) = innermost.and_then(|node| self.raw_mut(node)) {
                    raw.flags |= flag::TAG;
                }
                self.close_innermost(start);
                missing?;
                if reported {
                    Ok(())
                } else {
                    self.report_fault(XmlFaultKind::MismatchedEnd, name.span(), other)
                }
            }
        }
    }

    /// A stray end tag directly before content without a start tag was meant as that start tag:
    /// both are one fault.
    fn take_stray_before(&mut self, start: u32) -> Option<Span> {
        let is_before = |fault: &&XmlFault| {
            let between = || {
                self.scan
                    .slice(fault.span.end as usize, start as usize)
                    .iter()
                    .all(|&byte| is_space(byte))
            };
            fault.kind == XmlFaultKind::StrayEnd && fault.span.end <= start && between()
        };
        let stray = self
            .faults
            .iter()
            .rev()
            .take(4)
            .find(is_before)
            .map(|fault| fault.span)?;
        self.faults.retain(|fault| fault.span != stray);
        Some(stray)
    }

    /// Closes the innermost element with the end tag from `start` to the current position.
    pub(super) fn close_innermost(&mut self, start: usize) {
        let Some(open) = self.scratch.open.pop() else {
            return;
        };
        self.scratch.bindings.truncate(open.bindings);
        let end = self.scan.at as u32;
        if let Some(raw) = self.raw_mut(open.node) {
            raw.inner.end = start as u32;
            raw.end = end;
            raw.flags |= flag::CLOSED;
        }
    }

    fn find_closed(&self, name: ScannedName, start: usize) -> ClosingMatch {
        let wanted = self.scan.slice(name.start, name.end);
        let Some(top) = self.scratch.open.len().checked_sub(1) else {
            return ClosingMatch::Nothing;
        };
        let exact = (0..=top)
            .rev()
            .find(|&depth| self.open_name(depth) == wanted);
        let near = |depth: &usize| is_near(self.open_name(*depth), wanted);
        let outer_fits =
            |depth| self.fits_indent(depth, start) && !self.have_end_tags(wanted, name.end);
        if exact != Some(top)
            && near(&top)
            && self.fits_indent(top, start)
            && !exact.is_some_and(outer_fits)
        {
            return ClosingMatch::Probably(top);
        }
        if let Some(depth) = exact {
            if self.is_indented_like_innermost(depth, start) {
                return if self.has_content(top) {
                    ClosingMatch::Probably(top)
                } else {
                    ClosingMatch::Nothing
                };
            }
            let may = depth == top || self.may_close_outer(depth, start);
            return if may {
                ClosingMatch::Exactly(depth)
            } else {
                ClosingMatch::Nothing
            };
        }
        if near(&top) && self.may_close_innermost(start) {
            return ClosingMatch::Probably(top);
        }
        let outer = (top.saturating_sub(8)..top)
            .rev()
            .find(near)
            .filter(|&depth| self.may_close_outer(depth, start));
        match outer {
            Some(depth) => ClosingMatch::Probably(depth),
            None if self.is_probable_end(start) => ClosingMatch::Probably(top),
            None => ClosingMatch::Nothing,
        }
    }

    /// Returns true if all open elements of a name have end tags after `from`, within a few
    /// thousand bytes.
    fn have_end_tags(&self, name: &[u8], from: usize) -> bool {
        let rest = self
            .scan
            .slice(from, (from + 4096).min(self.scan.bytes.len()));
        let mut open = (0..self.scratch.open.len())
            .filter(|depth| self.open_name(*depth) == name)
            .count();
        memchr::memchr_iter(b'<', rest).any(|at| {
            let tag = rest.get(at + 1..).unwrap_or_default();
            let is_end = tag.starts_with(b"/");
            let named = tag
                .get(usize::from(is_end)..)
                .and_then(|tag| tag.strip_prefix(name));
            let Some(behind) = named.filter(|behind| {
                behind
                    .first()
                    .is_some_and(|&byte| is_space(byte) || matches!(byte, b'>' | b'/'))
            }) else {
                return false;
            };
            let is_empty = memchr::memchr(b'>', behind)
                .is_some_and(|end| behind.get(..end).is_some_and(|tag| tag.ends_with(b"/")));
            match (is_end, is_empty) {
                (true, _) => open = open.saturating_sub(1),
                (false, false) => open += 1,
                (false, true) => {}
            }
            open == 0
        })
    }

    /// Returns true if an end tag here is at the expected place for an open element: equally
    /// indented, or on the same line.
    fn fits_indent(&self, depth: usize, start: usize) -> bool {
        let Some(raw) = self.open_raw(depth) else {
            return false;
        };
        match self.scan.indent_before(start) {
            Some(own) => self.indent_of(raw) == Some(own),
            None => self.is_on_one_line(raw, start),
        }
    }

    /// Returns true if an end tag with the name of an outer element is on a line of its own with
    /// the indentation of the innermost element, and indented deeper than the outer one.
    fn is_indented_like_innermost(&self, depth: usize, start: usize) -> bool {
        let top = self.scratch.open.len() - 1;
        let (Some(outer), Some(innermost)) = (self.open_raw(depth), self.open_raw(top)) else {
            return false;
        };
        let Some(own) = self.scan.indent_before(start).filter(|_| depth != top) else {
            return false;
        };
        self.indent_of(innermost) == Some(own)
            && self.indent_of(outer).is_some_and(|indent| indent < own)
    }

    /// Returns true if an open element contains more than white space; only the first few children
    /// are considered.
    fn has_content(&self, depth: usize) -> bool {
        let mut next = self.open_raw(depth).map_or(NO_NODE, |raw| raw.child);
        for _ in 0..4 {
            let Some(child) = self.tree.raw(next) else {
                return false;
            };
            if child.flags & flag::BLANK == 0 || child.kind != NodeKind::Text {
                return true;
            }
            next = child.next;
        }
        true
    }

    /// Returns true if an end tag here may close an outer element together with those inside.
    fn may_close_outer(&self, depth: usize, start: usize) -> bool {
        let (Some(outer), Some(innermost)) = (
            self.open_raw(depth),
            self.open_raw(self.scratch.open.len() - 1),
        ) else {
            return false;
        };
        match self.scan.indent_before(start) {
            Some(own) => [outer, innermost]
                .iter()
                .any(|raw| self.indent_of(raw).is_none_or(|indent| own <= indent)),
            None => self.is_on_one_line(innermost, start),
        }
    }

    /// Returns true if an end tag here may close the innermost element in spite of a slightly
    /// different name.
    fn may_close_innermost(&self, start: usize) -> bool {
        let Some(innermost) = self.open_raw(self.scratch.open.len() - 1) else {
            return false;
        };
        match self.scan.indent_before(start) {
            Some(own) => self.indent_of(innermost).is_none_or(|indent| own <= indent),
            None => self.is_on_one_line(innermost, start) || !self.has_elements(innermost),
        }
    }

    /// Returns true if position alone indicates that an end tag with a different name closes the
    /// innermost element.
    fn is_probable_end(&self, start: usize) -> bool {
        let Some(innermost) = self.open_raw(self.scratch.open.len() - 1) else {
            return false;
        };
        match (self.scan.indent_before(start), self.indent_of(innermost)) {
            (Some(own), Some(indent)) => {
                own == indent && self.has_content(self.scratch.open.len() - 1)
            }
            (None, _) => self.is_on_one_line(innermost, start) && !self.has_elements(innermost),
            (Some(_), None) => false,
        }
    }

    fn is_on_one_line(&self, raw: &RawNode, start: usize) -> bool {
        let from = (raw.inner.start as usize).max(start.saturating_sub(4096));
        !self.scan.slice(from, start).contains(&b'\n')
    }

    fn has_elements(&self, raw: &RawNode) -> bool {
        // A few children suffice: text is interrupted by comments at most.
        let mut next = raw.child;
        for _ in 0..4 {
            let Some(child) = self.tree.raw(next) else {
                return false;
            };
            if child.kind == NodeKind::Element {
                return true;
            }
            next = child.next;
        }
        true
    }

    pub(super) fn open_raw(&self, depth: usize) -> Option<&RawNode> {
        self.tree.raw(self.scratch.open.get(depth)?.node)
    }

    pub(super) fn open_name(&self, depth: usize) -> &[u8] {
        self.open_raw(depth).map_or(&[], |raw| self.name_of(raw))
    }

    #[inline]
    pub(super) fn name_of(&self, raw: &RawNode) -> &[u8] {
        let span = raw.name_span();
        self.scan.slice(span.start as usize, span.end as usize)
    }

    pub(super) fn name_span(&self, node: u32) -> Span {
        self.tree
            .raw(node)
            .map_or(Span::empty_at(0), RawNode::name_span)
    }

    pub(super) fn indent_of(&self, raw: &RawNode) -> Option<usize> {
        self.scan.indent_before(raw.start as usize)
    }
}
