//! End tags whose start tag is missing: finds the nodes that belong between the two.
//!
//! A deleted start tag leaves its children to the surrounding element, where each of them would be
//! reported as a fault. An element without a start tag is created for them, from the white space
//! before them; or an empty element of that name directly before them becomes their parent. If
//! neither is possible, they are marked as orphans.

use super::fault::{XmlFault, XmlFaultKind};
use super::pass::Pass;
use super::scanner::ScannedName;
use super::tree::{NO_NODE, NodeKind, RawNode, flag};
use super::wellformed::is_space;
use crate::base::span::Span;

/// The outcome for the nodes before an end tag that closes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Orphans {
    /// No visible node belongs to it.
    Nothing,
    /// The nodes from this offset on are orphans.
    From(u32),
    /// The nodes have become children of the empty element with this name.
    ChildrenOf(Span),
    /// The nodes have become children of an element that an end tag had closed too early.
    ClosedEarly(Span),
}

/// Nodes at the end of an element's children.
#[derive(Clone, Copy, Debug)]
struct OrphanRun {
    /// The last visible child before them.
    before: u32,
    /// The child directly before them.
    previous: u32,
    first: u32,
    /// The first visible offset of the first node.
    begins: u32,
}

impl Pass<'_, '_> {
    /// Finds the nodes that belong to an end tag without a start tag, and marks them as orphans.
    pub(super) fn mark_orphans(&mut self, name: ScannedName, end_tag: Span) -> Orphans {
        let Some(run) = self.find_orphan_run(end_tag) else {
            return Orphans::Nothing;
        };
        if let Some(orphans) = self.reopen_element(run, name, end_tag) {
            return orphans;
        }
        if self.adopt_nodes(run, name, end_tag) {
            return Orphans::From(run.begins);
        }
        let mut next = run.first;
        while let Some(raw) = self.raw_mut(next) {
            raw.flags |= flag::ORPHAN;
            next = raw.next;
        }
        Orphans::From(run.begins)
    }

    /// `<a/>text</a>`, `<a></a>text</a>`, or `<a>text</b>text</a>`: makes the nodes children of the
    /// element.
    fn reopen_element(
        &mut self,
        run: OrphanRun,
        name: ScannedName,
        end_tag: Span,
    ) -> Option<Orphans> {
        let raw = *self.tree.raw(run.before)?;
        let same = raw.kind == NodeKind::Element
            && self.name_of(&raw) == self.scan.slice(name.start, name.end);
        if !same || raw.flags & (flag::EMPTY | flag::CLOSED) == 0 {
            return None;
        }
        let early = Span::new(raw.inner.end, raw.end);
        let within = self
            .scan
            .slice(raw.inner.start as usize, raw.inner.end as usize);
        let is_of_another = |fault: &XmlFault| {
            fault.kind == XmlFaultKind::MismatchedEnd && early.encloses(fault.span)
        };
        if let Some(at) = self.faults.iter().rposition(is_of_another) {
            self.faults.remove(at);
        } else if !within.iter().all(|&byte| is_space(byte)) {
            return None;
        }
        let was_empty = raw.flags & flag::EMPTY != 0;
        self.extend_element(run.before, end_tag)?;
        // The contents are checked as if the slash, or the premature end tag, did not exist.
        self.set_innermost_last(run.before);
        Some(if was_empty {
            Orphans::ChildrenOf(self.name_span(run.before))
        } else {
            Orphans::ClosedEarly(early)
        })
    }

    /// `<task name="a"/>…</task>`, or `<task>…</task>…</task>`: moves the content after the root,
    /// which has been reported, into the root. Returns the end tag that closed the root too early,
    /// or an empty span at its end if the root was an empty tag; `None` if the root cannot be
    /// reopened.
    pub(super) fn reopen_root(&mut self, name: ScannedName, end_tag: Span) -> Option<Span> {
        let root = self.tree.root;
        let raw = *self.tree.raw(root)?;
        let is_root = |raw: &RawNode| {
            raw.kind == NodeKind::Element
                && self.name_of(raw) == self.scan.slice(name.start, name.end)
        };
        if !self.outside || raw.flags & (flag::EMPTY | flag::CLOSED) == 0 || !is_root(&raw) {
            return None;
        }
        let was_empty = raw.flags & flag::EMPTY != 0;
        // Two elements of the same name are two roots; looking at the first few suffices.
        let mut behind =
            std::iter::successors(self.tree.raw(raw.next), |one| self.tree.raw(one.next)).take(8);
        if !was_empty && behind.any(is_root) {
            return None;
        }
        self.extend_element(root, end_tag)?;
        self.last_top = root;
        if was_empty {
            // The rule's diagnostic shows the slash.
            self.raw_mut(root)?.flags |= flag::EMPTY;
            return Some(Span::empty_at(raw.end));
        }
        let is_beside = |fault: &XmlFault| {
            matches!(
                fault.kind,
                XmlFaultKind::SecondRoot | XmlFaultKind::TextOutsideRoot
            )
        };
        self.faults
            .retain(|fault| !is_beside(fault) || fault.span.start < raw.end);
        self.forget_outside();
        Some(Span::new(raw.inner.end, raw.end))
    }

    /// Extends an element to another end tag, and makes the nodes between its children.
    fn extend_element(&mut self, node: u32, end_tag: Span) -> Option<()> {
        let raw = *self.tree.raw(node)?;
        let mut last = NO_NODE;
        let mut child = raw.child;
        while let Some(one) = self.tree.raw(child) {
            self.lookbacks = self.lookbacks.checked_sub(1)?;
            last = child;
            child = one.next;
        }
        if let Some(last) = self.raw_mut(last) {
            last.next = raw.next;
        }
        let was_empty = raw.flags & flag::EMPTY != 0;
        if let Some(own) = self.raw_mut(node) {
            own.flags = (raw.flags & !(flag::EMPTY | flag::TAG | flag::DAMAGED)) | flag::CLOSED;
            own.inner = Span::new(
                if was_empty { raw.end } else { raw.inner.start },
                end_tag.start,
            );
            own.end = end_tag.end;
            own.next = NO_NODE;
            own.child = if last == NO_NODE { raw.next } else { raw.child };
        }
        self.set_parents(raw.next, node);
        Some(())
    }

    /// `text</a>`: creates the element whose start tag is missing, from the white space before the
    /// nodes or, if they are a single text, from that text.
    fn adopt_nodes(&mut self, run: OrphanRun, name: ScannedName, end_tag: Span) -> bool {
        if name.start != end_tag.start as usize + 2 || name.has_colon {
            return false;
        }
        let Some(first) = self.tree.raw(run.first).copied() else {
            return false;
        };
        let is_blank = |raw: &RawNode| raw.kind == NodeKind::Text && raw.flags & flag::BLANK != 0;
        let (node, child) = if self.tree.raw(run.previous).is_some_and(is_blank) {
            self.set_parents(run.first, run.previous);
            (run.previous, run.first)
        } else if first.kind == NodeKind::Text && run.first as usize + 1 == self.tree.nodes.len() {
            let text = Span::new(run.begins, first.end);
            self.tree.nodes.push(RawNode {
                parent: run.first,
                start: text.start,
                inner: text,
                ..first
            });
            (run.first, run.first + 1)
        } else {
            return false;
        };
        if let Some(raw) = self.raw_mut(node) {
            raw.kind = NodeKind::Element;
            raw.flags = flag::CLOSED | flag::TAG | flag::HEADLESS;
            raw.name = (name.end - name.start) as u16;
            raw.start = run.begins.min(raw.end);
            raw.end = end_tag.end;
            raw.inner = Span::new(raw.start, end_tag.start);
            raw.child = child;
            raw.next = NO_NODE;
        }
        self.set_innermost_last(node);
        self.mark_damaged(node);
        true
    }

    /// `  <a/>…</task>`, a document without its first line: creates the root whose start tag is
    /// missing, if everything is indented deeper than its end tag. Returns its start.
    pub(super) fn adopt_root(&mut self, name: ScannedName, end_tag: Span) -> Option<u32> {
        let own = self.scan.indent_before(end_tag.start as usize)?;
        let behind = self.scan.slice(end_tag.end as usize, self.scan.bytes.len());
        let begins = self.tree.raw(self.tree.first)?.start;
        let mut top = std::iter::successors(self.tree.raw(self.tree.first), |one| {
            self.tree.raw(one.next)
        });
        let is_below = |raw: &RawNode| match raw.kind {
            NodeKind::Element => self.indent_of(raw).is_some_and(|indent| indent > own),
            NodeKind::Comment | NodeKind::Instruction => true,
            NodeKind::Text | NodeKind::Cdata => false,
        };
        if name.has_colon || !behind.iter().all(|&byte| is_space(byte)) || !top.all(is_below) {
            return None;
        }
        let flags = flag::CLOSED | flag::TAG | flag::HEADLESS | flag::DAMAGED;
        let (name, inner) = (
            (name.end - name.start) as u16,
            Span::new(begins, end_tag.start),
        );
        let first = *self.tree.raw(self.tree.first)?;
        // It starts where its first child does.
        let root = RawNode {
            flags,
            name,
            count: 0,
            namespace: 0,
            next: NO_NODE,
            child: self.tree.first + 1,
            end: end_tag.end,
            inner,
            ..first
        };
        // Nodes are sorted by their starts; this is the last tag of the text, so no index is
        // shifted twice.
        self.tree.nodes.insert(0, root);
        for raw in self.tree.nodes.iter_mut().skip(1) {
            raw.parent = if raw.parent == NO_NODE {
                0
            } else {
                raw.parent + 1
            };
            for id in [&mut raw.next, &mut raw.child] {
                *id += u32::from(*id != NO_NODE);
            }
        }
        (self.tree.root, self.tree.first, self.last_top) = (0, 0, 0);
        self.faults.retain(|fault| {
            !matches!(
                fault.kind,
                XmlFaultKind::SecondRoot | XmlFaultKind::TextOutsideRoot
            )
        });
        self.forget_outside();
        Some(begins)
    }

    /// Makes nodes, from `first` on, children of a parent.
    fn set_parents(&mut self, first: u32, parent: u32) {
        let mut next = first;
        while let Some(child) = self.raw_mut(next) {
            child.parent = parent;
            next = child.next;
        }
    }

    fn find_orphan_run(&mut self, end_tag: Span) -> Option<OrphanRun> {
        let (parent, _) = self.innermost_open();
        let around = self.tree.raw(parent)?;
        let own = self.scan.indent_before(end_tag.start as usize);
        if own.is_some_and(|own| self.indent_of(around).is_some_and(|outer| own <= outer)) {
            return None;
        }
        let mut child = around.child;
        let mut before = NO_NODE;
        let mut previous = NO_NODE;
        let mut run = None;
        while let Some(raw) = self.tree.raw(child) {
            // Each step back is counted: a file full of stray end tags has only a limited number of
            // them.
            self.lookbacks = self.lookbacks.checked_sub(1)?;
            if raw.flags & (flag::BLANK | flag::ORPHAN) == 0 {
                let begins = self.visible_start(raw);
                let indent = self.scan.indent_before(begins as usize);
                let belongs = match own {
                    Some(own) => indent.map(|indent| indent > own),
                    None => Some(raw.kind != NodeKind::Element),
                };
                match belongs {
                    Some(true) => {
                        run = run.or(Some(OrphanRun {
                            before,
                            previous,
                            first: child,
                            begins,
                        }));
                    }
                    Some(false) => run = None,
                    // It shares a line with the node before it.
                    None => {}
                }
                before = child;
            }
            previous = child;
            child = raw.next;
        }
        let run = run?;
        let on_one_line = || {
            !self
                .scan
                .slice(run.begins as usize, end_tag.start as usize)
                .contains(&b'\n')
        };
        (own.is_some() || on_one_line()).then_some(run)
    }

    /// The first visible offset of a node: for text, after its white space.
    fn visible_start(&self, raw: &RawNode) -> u32 {
        if raw.kind != NodeKind::Text {
            return raw.start;
        }
        let text = self.scan.slice(raw.start as usize, raw.end as usize);
        raw.start + text.iter().take_while(|&&byte| is_space(byte)).count() as u32
    }
}
