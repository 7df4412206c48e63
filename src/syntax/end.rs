//! End tags: decides which open element each one closes if its name matches none.
//!
//! If names are ambiguous, lines and indentation decide, since authors indent nested content. Both
//! are considered only in damaged regions, never in well-formed text.

use super::fault::{Fault, FaultKind};
use super::orphans::Orphans;
use super::pass::{Flow, Pass};
use super::scanner::Name;
use super::tree::{Kind, NONE, Raw, flag};
use super::wellformed::{is_near, is_space};
use crate::base::span::Span;

/// The element that an end tag closes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Closes {
    /// The open element at this depth, by its name.
    Exactly(usize),
    /// The open element at this depth, in spite of its name.
    Probably(usize),
    Nothing,
}

impl Pass<'_, '_> {
    /// Reads the end tag at the current position.
    #[inline]
    pub(super) fn end_tag(&mut self) -> Flow {
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
        self.unusual_end_tag(start)
    }

    fn unusual_end_tag(&mut self, start: usize) -> Flow {
        self.scan.at = start + 2;
        let spaced = self.scan.skip_space();
        let Some(name) = self.scan.name() else {
            return self.nameless_end_tag(start);
        };
        if name.end - name.start > self.limits.name.min(u32::from(u16::MAX)) as usize {
            return self.stop(FaultKind::NameTooLong, name.span());
        }
        let mut fault = spaced.then_some(FaultKind::JunkInEnd);
        self.scan.skip_space();
        if self.scan.peek() == Some(b'>') {
            self.scan.at += 1;
        } else if let Some(end) = self
            .scan
            .find2(b'<', b'>')
            .filter(|&end| self.scan.bytes.get(end) == Some(&b'>'))
        {
            self.scan.at = end + 1;
            fault = Some(FaultKind::JunkInEnd);
        } else {
            self.scan.at = name.end;
            fault = Some(FaultKind::UnclosedEnd);
        }
        let tag = Span::of(start, self.scan.at);
        if let Some(kind) = fault {
            let unclosed = kind == FaultKind::UnclosedEnd;
            let (span, other) = if unclosed {
                (name.span(), Some(Span::at(name.end as u32)))
            } else {
                (tag, None)
            };
            self.damage_open();
            self.fault(kind, span, other)?;
        }
        self.close(name, tag, fault.is_some())
    }

    /// `</>`, `</ >` and the like: closes the innermost element.
    fn nameless_end_tag(&mut self, start: usize) -> Flow {
        let end = self
            .scan
            .find2(b'<', b'>')
            .filter(|&end| self.scan.bytes.get(end) == Some(&b'>'));
        let Some(end) = end else {
            self.scan.at = start + 2;
            return self.fault(FaultKind::LessInText, Span::of(start, start + 1), None);
        };
        self.scan.at = end + 1;
        let Some(open) = self.scratch.open.last().copied() else {
            return self.outside(FaultKind::StrayEnd, Span::of(start, end + 1));
        };
        let other = self.name_span(open.node);
        self.damage(open.node);
        self.close_innermost(start);
        self.fault(
            FaultKind::MismatchedEnd,
            Span::of(start, end + 1),
            Some(other),
        )
    }

    /// Closes the element that belongs to an end tag; `reported`: the tag already has a fault.
    fn close(&mut self, name: Name, tag: Span, reported: bool) -> Flow {
        let start = tag.start as usize;
        if self.split_joined(name) || self.split_text(name) {
            self.close_innermost(start);
            return Ok(());
        }
        if self.open_name(self.scratch.open.len().wrapping_sub(1))
            != self.scan.slice(name.start, name.end)
            && self.recover_start_tag(name, tag)?
        {
            return Ok(());
        }
        match self.closes(name, start) {
            Closes::Nothing => {
                self.damage_open();
                let Some(open) = self.scratch.open.last().copied() else {
                    return match self.reopen_root(name, tag) {
                        // The slash of an empty root has been reported.
                        Some(early) if early.is_empty() => Ok(()),
                        Some(early) => self.fault(FaultKind::StrayEnd, early, Some(tag)),
                        None => match self.adopt_root(name, tag) {
                            Some(begins) => {
                                self.fault(FaultKind::MissingStart, tag, Some(Span::at(begins)))
                            }
                            None => self.outside(FaultKind::StrayEnd, tag),
                        },
                    };
                };
                let around = self.name_span(open.node);
                match self.mark_orphans(name, tag) {
                    _ if reported => Ok(()),
                    Orphans::Nothing => self.fault(FaultKind::StrayEnd, tag, Some(around)),
                    Orphans::From(start) => {
                        let place = self.take_stray_before(start).unwrap_or(Span::at(start));
                        self.fault(FaultKind::MissingStart, tag, Some(place))
                    }
                    Orphans::HomeIn(element) => {
                        self.fault(FaultKind::ClosedTwice, element, Some(tag))
                    }
                    Orphans::ClosedEarly(early) => {
                        self.fault(FaultKind::StrayEnd, early, Some(tag))
                    }
                }
            }
            Closes::Exactly(depth) => {
                let missing = self.abandon(depth + 1, start);
                self.close_innermost(start);
                missing
            }
            Closes::Probably(depth) => {
                let missing = self.abandon(depth + 1, start);
                let innermost = self.scratch.open.last().map(|open| open.node);
                let other = innermost.map(|node| self.name_span(node));
                self.damage_open();
                // It is unknown which of the two names is misspelt.
                if let Some(raw) = innermost.and_then(|node| self.raw_mut(node)) {
                    raw.flags |= flag::TAG;
                }
                self.close_innermost(start);
                missing?;
                if reported {
                    Ok(())
                } else {
                    self.fault(FaultKind::MismatchedEnd, name.span(), other)
                }
            }
        }
    }

    /// A stray end tag directly before content without a start tag was meant as that start tag:
    /// both are one fault.
    fn take_stray_before(&mut self, start: u32) -> Option<Span> {
        let is_before = |fault: &&Fault| {
            let between = || {
                self.scan
                    .slice(fault.span.end as usize, start as usize)
                    .iter()
                    .all(|&byte| is_space(byte))
            };
            fault.kind == FaultKind::StrayEnd && fault.span.end <= start && between()
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

    fn closes(&self, name: Name, start: usize) -> Closes {
        let wanted = self.scan.slice(name.start, name.end);
        let Some(top) = self.scratch.open.len().checked_sub(1) else {
            return Closes::Nothing;
        };
        let exact = (0..=top)
            .rev()
            .find(|&depth| self.open_name(depth) == wanted);
        let near = |depth: &usize| is_near(self.open_name(*depth), wanted);
        let outer_fits = |depth| self.fits(depth, start) && !self.have_ends(wanted, name.end);
        if exact != Some(top)
            && near(&top)
            && self.fits(top, start)
            && !exact.is_some_and(outer_fits)
        {
            return Closes::Probably(top);
        }
        if let Some(depth) = exact {
            if self.stands_as_deep_as_innermost(depth, start) {
                return if self.holds_something(top) {
                    Closes::Probably(top)
                } else {
                    Closes::Nothing
                };
            }
            let may = depth == top || self.may_close_outer(depth, start);
            return if may {
                Closes::Exactly(depth)
            } else {
                Closes::Nothing
            };
        }
        if near(&top) && self.may_close_innermost(start) {
            return Closes::Probably(top);
        }
        let outer = (top.saturating_sub(8)..top)
            .rev()
            .find(near)
            .filter(|&depth| self.may_close_outer(depth, start));
        match outer {
            Some(depth) => Closes::Probably(depth),
            None if self.looks_like_its_end(start) => Closes::Probably(top),
            None => Closes::Nothing,
        }
    }

    /// Returns true if all open elements of a name have end tags after `from`, within a few
    /// thousand bytes.
    fn have_ends(&self, name: &[u8], from: usize) -> bool {
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
    fn fits(&self, depth: usize, start: usize) -> bool {
        let Some(raw) = self.open_raw(depth) else {
            return false;
        };
        match self.scan.indent(start) {
            Some(own) => self.indent_of(raw) == Some(own),
            None => self.on_one_line(raw, start),
        }
    }

    /// Returns true if an end tag with the name of an outer element is on a line of its own with
    /// the indentation of the innermost element, and indented deeper than the outer one.
    fn stands_as_deep_as_innermost(&self, depth: usize, start: usize) -> bool {
        let top = self.scratch.open.len() - 1;
        let (Some(outer), Some(innermost)) = (self.open_raw(depth), self.open_raw(top)) else {
            return false;
        };
        let Some(own) = self.scan.indent(start).filter(|_| depth != top) else {
            return false;
        };
        self.indent_of(innermost) == Some(own)
            && self.indent_of(outer).is_some_and(|indent| indent < own)
    }

    /// Returns true if an open element contains more than white space; only the first few children
    /// are considered.
    fn holds_something(&self, depth: usize) -> bool {
        let mut next = self.open_raw(depth).map_or(NONE, |raw| raw.child);
        for _ in 0..4 {
            let Some(child) = self.tree.raw(next) else {
                return false;
            };
            if child.flags & flag::BLANK == 0 || child.kind != Kind::Text {
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
        match self.scan.indent(start) {
            Some(own) => [outer, innermost]
                .iter()
                .any(|raw| self.indent_of(raw).is_none_or(|indent| own <= indent)),
            None => self.on_one_line(innermost, start),
        }
    }

    /// Returns true if an end tag here may close the innermost element in spite of a slightly
    /// different name.
    fn may_close_innermost(&self, start: usize) -> bool {
        let Some(innermost) = self.open_raw(self.scratch.open.len() - 1) else {
            return false;
        };
        match self.scan.indent(start) {
            Some(own) => self.indent_of(innermost).is_none_or(|indent| own <= indent),
            None => self.on_one_line(innermost, start) || !self.has_elements(innermost),
        }
    }

    /// Returns true if position alone indicates that an end tag with a different name closes the
    /// innermost element.
    fn looks_like_its_end(&self, start: usize) -> bool {
        let Some(innermost) = self.open_raw(self.scratch.open.len() - 1) else {
            return false;
        };
        match (self.scan.indent(start), self.indent_of(innermost)) {
            (Some(own), Some(indent)) => {
                own == indent && self.holds_something(self.scratch.open.len() - 1)
            }
            (None, _) => self.on_one_line(innermost, start) && !self.has_elements(innermost),
            (Some(_), None) => false,
        }
    }

    fn on_one_line(&self, raw: &Raw, start: usize) -> bool {
        let from = (raw.inner.start as usize).max(start.saturating_sub(4096));
        !self.scan.slice(from, start).contains(&b'\n')
    }

    fn has_elements(&self, raw: &Raw) -> bool {
        // A few children suffice: text is interrupted by comments at most.
        let mut next = raw.child;
        for _ in 0..4 {
            let Some(child) = self.tree.raw(next) else {
                return false;
            };
            if child.kind == Kind::Element {
                return true;
            }
            next = child.next;
        }
        true
    }

    pub(super) fn open_raw(&self, depth: usize) -> Option<&Raw> {
        self.tree.raw(self.scratch.open.get(depth)?.node)
    }

    pub(super) fn open_name(&self, depth: usize) -> &[u8] {
        self.open_raw(depth).map_or(&[], |raw| self.name_of(raw))
    }

    #[inline]
    pub(super) fn name_of(&self, raw: &Raw) -> &[u8] {
        let span = raw.name_span();
        self.scan.slice(span.start as usize, span.end as usize)
    }

    pub(super) fn name_span(&self, node: u32) -> Span {
        self.tree.raw(node).map_or(Span::at(0), Raw::name_span)
    }

    pub(super) fn indent_of(&self, raw: &Raw) -> Option<usize> {
        self.scan.indent(raw.start as usize)
    }
}
