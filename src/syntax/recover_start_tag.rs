//! Repairs start tags that lost a character, as their end tags reveal: a bracket, or the space or
//! bracket after the name.

use super::fault::XmlFaultKind;
use super::pass::{Pass, ReadStopped};
use super::scanner::ScannedName;
use super::tag::{StartTag, StartTagEnd};
use super::tree::{NO_NODE, NodeKind, flag};
use super::wellformed::is_space;
use crate::base::span::Span;

impl Pass<'_, '_> {
    /// `<taskname="x">…</task>`: separates the names if the end tag shows their border.
    pub(super) fn split_joined_name(&mut self, name: ScannedName) -> bool {
        let Some(raw) = self
            .scratch
            .open
            .last()
            .and_then(|open| self.tree.raw(open.node))
        else {
            return false;
        };
        let node = self.scratch.open.last().map_or(0, |open| open.node);
        let first = raw.attributes as usize;
        let length = name.end - name.start;
        let joined = raw.count > 0
            && self
                .tree
                .attributes
                .get(first)
                .is_some_and(|attribute| attribute.name.is_empty());
        if !joined
            || length >= usize::from(raw.name)
            || !self
                .name_of(raw)
                .starts_with(self.scan.slice(name.start, name.end))
        {
            return false;
        }
        let start = raw.start + 1;
        let rest = Span::new(start + length as u32, start + u32::from(raw.name));
        if let Some(raw) = self.raw_mut(node) {
            raw.name = length as u16;
        }
        if let Some(attribute) = self.tree.attributes.get_mut(first) {
            attribute.name = rest;
        }
        true
    }

    /// `<descriptionSort it.</description>`: separates the first word of the text from the name.
    pub(super) fn split_text(&mut self, name: ScannedName) -> bool {
        let Some(open) = self.scratch.open.last().copied() else {
            return false;
        };
        let Some(raw) = self.tree.raw(open.node).copied() else {
            return false;
        };
        let length = (name.end - name.start) as u32;
        let bracket = raw
            .inner
            .start
            .checked_sub(1)
            .and_then(|at| self.scan.bytes.get(at as usize))
            == Some(&b'>');
        let longer = length < u32::from(raw.name)
            && self
                .name_of(&raw)
                .starts_with(self.scan.slice(name.start, name.end));
        if bracket || !longer || raw.count > 0 {
            return false;
        }
        let written = self.name_span(open.node);
        let inner = raw.start + 1 + length;
        let written_text = Span::new(inner, raw.inner.start);
        if raw.child == NO_NODE {
            if self
                .add_node(NodeKind::Text, 0, written_text, written_text)
                .is_err()
            {
                return false;
            }
        } else if let Some(text) = self
            .raw_mut(raw.child)
            .filter(|text| text.kind == NodeKind::Text && text.start == raw.inner.start)
        {
            text.start = inner;
            text.inner.start = inner;
            text.flags &= !flag::BLANK;
        } else {
            return false;
        }
        if let Some(raw) = self.raw_mut(open.node) {
            raw.name = length as u16;
            raw.inner.start = inner;
        }
        if let Some(fault) = self
            .faults
            .iter_mut()
            .rev()
            .take(16)
            .find(|fault| fault.span == written)
        {
            fault.span.end = inner;
            fault.other = Some(Span::empty_at(inner));
        }
        true
    }

    /// `steps>…</steps>`: the start tag of this end tag lost its bracket and was read as text.
    /// Converts it to an element that contains everything since then.
    pub(super) fn recover_start_tag(
        &mut self,
        name: ScannedName,
        end_tag: Span,
    ) -> Result<bool, ReadStopped> {
        let (parent, _) = self.innermost_open();
        let Some((text, start)) = self.find_lost_start(parent, name) else {
            return Ok(false);
        };
        let Some(raw) = self.tree.raw(text).copied() else {
            return Ok(false);
        };
        let place = self.scan.at;
        let faults = self.faults.len();
        let first = self.tree.attributes.len();
        self.scan.at = start;
        let Some(written) = self.scan.read_name() else {
            return Ok(false);
        };
        let mut tag = StartTag {
            first,
            name: written,
            has_namespaces: false,
            damaged: true,
            last: written.span(),
            deferred: None,
        };
        let end = self.read_attributes(&mut tag)?;
        let content = std::mem::replace(&mut self.scan.at, place);
        if end != StartTagEnd::Open
            || tag.deferred.is_some()
            || self.faults.len() > faults
            || content > raw.end as usize
        {
            self.faults.truncate(faults);
            self.tree.attributes.truncate(first);
            return Ok(false);
        }
        let rest = Span::new(content as u32, raw.end);
        if !rest.slice(self.scan.text).trim().is_empty() && raw.next == NO_NODE {
            // Nothing followed this text, so its rest is still the last node of the document.
            self.add_node(NodeKind::Text, raw.flags, rest, rest)?;
        }
        self.reinstate_element(text, parent, &tag, Span::new(content as u32, end_tag.start));
        let kind = XmlFaultKind::StartWithoutBracket;
        let before = self
            .scan
            .slice(raw.inner.start as usize, written.start)
            .trim_ascii_end();
        let bracket = before
            .last()
            .filter(|&&byte| byte == b'<')
            .map(|_| raw.inner.start + before.len() as u32 - 1);
        self.faults
            .retain(|fault| !is_outside(fault.kind) || fault.span.start < raw.start);
        // The bracket alone was read as a sign in the text.
        self.faults
            .retain(|fault| bracket != Some(fault.span.start));
        let span = Span::new(bracket.unwrap_or(written.start as u32), written.end as u32);
        self.report_fault(kind, span, Some(end_tag))?;
        Ok(true)
    }

    /// Converts a text node to the element whose start tag it contains.
    fn reinstate_element(&mut self, text: u32, parent: u32, tag: &StartTag, inner: Span) {
        let count = (self.tree.attributes.len() - tag.first) as u16;
        let end = self.scan.at as u32;
        let child = self.tree.raw(text).map_or(NO_NODE, |raw| raw.next);
        if let Some(raw) = self.raw_mut(text) {
            raw.kind = NodeKind::Element;
            raw.flags = flag::CLOSED | flag::DAMAGED | flag::TAG | flag::BARE;
            raw.name = (tag.name.end - tag.name.start) as u16;
            raw.count = count;
            raw.attributes = tag.first as u32;
            raw.start = tag.name.start as u32;
            raw.end = end;
            raw.inner = inner;
            raw.child = child;
            raw.next = NO_NODE;
        }
        let mut next = child;
        while let Some(raw) = self.raw_mut(next) {
            raw.parent = text;
            next = raw.next;
        }
        self.set_innermost_last(text);
        self.mark_damaged(text);
        if parent == NO_NODE {
            self.tree.root = text;
            self.forget_outside();
        }
    }

    /// The last text among the children of `parent` that begins with a name and `>` or a space, and
    /// the offset of the name.
    fn find_lost_start(&mut self, parent: u32, name: ScannedName) -> Option<(u32, usize)> {
        let wanted = self.scan.slice(name.start, name.end);
        let mut child = self
            .tree
            .raw(parent)
            .map_or(self.tree.first, |raw| raw.child);
        let mut found = None;
        while let Some(raw) = self.tree.raw(child) {
            // Each step back is counted: a file full of stray end tags has only a limited number of
            // them.
            self.lookbacks = self.lookbacks.checked_sub(1)?;
            if raw.kind == NodeKind::Text && raw.flags & flag::BLANK == 0 {
                let text = self
                    .scan
                    .slice(raw.inner.start as usize, raw.inner.end as usize);
                let blank = text
                    .iter()
                    .take(200)
                    .take_while(|&&byte| is_space(byte))
                    .count();
                // `< steps>`: the bracket exists but is separated.
                let bracket = text
                    .get(blank..)
                    .filter(|text| text.starts_with(b"<"))
                    .unwrap_or(&[]);
                let apart = bracket
                    .iter()
                    .skip(1)
                    .take(8)
                    .take_while(|&&byte| is_space(byte))
                    .count();
                let blank = if apart > 0 { blank + 1 + apart } else { blank };
                let start = raw.inner.start as usize + blank;
                let text = text.get(blank..).unwrap_or(&[]);
                let follows = text.get(wanted.len()).copied();
                if text.starts_with(wanted)
                    && follows.is_some_and(|byte| byte == b'>' || is_space(byte))
                {
                    found = Some((child, start));
                }
            }
            child = raw.next;
        }
        found
    }
}

/// Returns true if a fault concerns content outside the root.
const fn is_outside(kind: XmlFaultKind) -> bool {
    matches!(
        kind,
        XmlFaultKind::TextOutsideRoot | XmlFaultKind::SecondRoot | XmlFaultKind::StrayEnd
    )
}
