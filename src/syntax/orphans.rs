//! End tags whose start tag is missing: which nodes stood between the two.
//!
//! A deleted start tag leaves its children to the element around it, where each of them would look like a fault of its
//! own. An element without a start tag is made for them, out of the white space before them; or an empty element of that
//! name, right before them, becomes their parent. Where neither can be, they are marked as orphans.

use super::fault::{Fault, FaultKind};
use super::pass::Pass;
use super::scanner::Name;
use super::tree::{Kind, NONE, Raw, flag};
use super::wellformed::is_space;
use crate::base::span::Span;

/// What became of the nodes before an end tag that closes nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Orphans {
    /// Nothing that can be seen belongs to it.
    Nothing,
    /// They are adrift, from this place on.
    From(u32),
    /// They have become children of the element of this name, which was written as an empty one.
    HomeIn(Span),
    /// The same, of an element that this end tag closed before anything stood in it.
    ClosedEarly(Span),
}

/// Nodes at the end of an element's children.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The last child before them that is to be seen.
    before: u32,
    /// The child right before them.
    previous: u32,
    first: u32,
    /// Where the first one is to be seen.
    begins: u32,
}

impl Pass<'_, '_> {
    /// Finds the nodes that an end tag was meant to hold, and sets them adrift.
    pub(super) fn mark_orphans(&mut self, name: Name, end_tag: Span) -> Orphans {
        let Some(run) = self.run_before(end_tag) else { return Orphans::Nothing };
        if let Some(home) = self.reopen(run, name, end_tag) {
            return home;
        }
        if self.adopt(run, name, end_tag) {
            return Orphans::From(run.begins);
        }
        let mut next = run.first;
        while let Some(raw) = self.raw_mut(next) {
            raw.flags |= flag::ORPHAN;
            next = raw.next;
        }
        Orphans::From(run.begins)
    }

    /// `<a/>text</a>`, `<a></a>text</a>`, or `<a>text</b>text</a>`: gives the nodes to the element after all.
    fn reopen(&mut self, run: Run, name: Name, end_tag: Span) -> Option<Orphans> {
        let raw = *self.tree.raw(run.before)?;
        let same = raw.kind == Kind::Element && self.name_of(&raw) == self.scan.slice(name.start, name.end);
        if !same || raw.flags & (flag::EMPTY | flag::CLOSED) == 0 {
            return None;
        }
        let early = Span::new(raw.inner.end, raw.end);
        let within = self.scan.slice(raw.inner.start as usize, raw.inner.end as usize);
        let is_of_another = |fault: &Fault| fault.kind == FaultKind::MismatchedEnd && early.encloses(fault.span);
        if let Some(at) = self.faults.iter().rposition(is_of_another) {
            self.faults.remove(at);
        } else if !within.iter().all(|&byte| is_space(byte)) {
            return None;
        }
        let was_empty = raw.flags & flag::EMPTY != 0;
        self.extend(run.before, end_tag)?;
        // Nothing of it is lost: what stands in it is checked as if the slash, or the end tag, were not there.
        self.set_innermost_last(run.before);
        Some(if was_empty { Orphans::HomeIn(self.name_span(run.before)) } else { Orphans::ClosedEarly(early) })
    }

    /// `<task name="a"/>…</task>`, or `<task>…</task>…</task>`: gives what stands behind the root, which has been reported, to
    /// it. The end tag that closed it too early, or its own place where it was empty; `None` where neither can be.
    pub(super) fn reopen_root(&mut self, name: Name, end_tag: Span) -> Option<Span> {
        let root = self.tree.root;
        let raw = *self.tree.raw(root)?;
        let is_root = |raw: &Raw| raw.kind == Kind::Element && self.name_of(raw) == self.scan.slice(name.start, name.end);
        if !self.outside || raw.flags & (flag::EMPTY | flag::CLOSED) == 0 || !is_root(&raw) {
            return None;
        }
        let was_empty = raw.flags & flag::EMPTY != 0;
        // Two of one name are two roots; the first few tell.
        let mut behind = std::iter::successors(self.tree.raw(raw.next), |one| self.tree.raw(one.next)).take(8);
        if !was_empty && behind.any(is_root) {
            return None;
        }
        self.extend(root, end_tag)?;
        self.last_top = root;
        if was_empty {
            // Its rule shows the slash.
            self.raw_mut(root)?.flags |= flag::EMPTY;
            return Some(Span::at(raw.end));
        }
        let is_beside = |fault: &Fault| matches!(fault.kind, FaultKind::SecondRoot | FaultKind::TextOutsideRoot);
        self.faults.retain(|fault| !is_beside(fault) || fault.span.start < raw.end);
        self.forget_outside();
        Some(Span::new(raw.inner.end, raw.end))
    }

    /// Lets an element end at another end tag, and gives it what stands between.
    fn extend(&mut self, node: u32, end_tag: Span) -> Option<()> {
        let raw = *self.tree.raw(node)?;
        let mut last = NONE;
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
            own.inner = Span::new(if was_empty { raw.end } else { raw.inner.start }, end_tag.start);
            own.end = end_tag.end;
            own.next = NONE;
            own.child = if last == NONE { raw.next } else { raw.child };
        }
        self.give(raw.next, node);
        Some(())
    }

    /// `text</a>`: makes the element whose start tag is missing, out of the white space before the nodes or, where they
    /// are one text, out of that.
    fn adopt(&mut self, run: Run, name: Name, end_tag: Span) -> bool {
        if name.start != end_tag.start as usize + 2 || name.colon {
            return false;
        }
        let Some(first) = self.tree.raw(run.first).copied() else { return false };
        let is_blank = |raw: &Raw| raw.kind == Kind::Text && raw.flags & flag::BLANK != 0;
        let (node, child) = if self.tree.raw(run.previous).is_some_and(is_blank) {
            self.give(run.first, run.previous);
            (run.previous, run.first)
        } else if first.kind == Kind::Text && run.first as usize + 1 == self.tree.nodes.len() {
            let text = Span::new(run.begins, first.end);
            self.tree.nodes.push(Raw { parent: run.first, start: text.start, inner: text, ..first });
            (run.first, run.first + 1)
        } else {
            return false;
        };
        if let Some(raw) = self.raw_mut(node) {
            raw.kind = Kind::Element;
            raw.flags = flag::CLOSED | flag::TAG | flag::HEADLESS;
            raw.name = (name.end - name.start) as u16;
            raw.start = run.begins.min(raw.end);
            raw.end = end_tag.end;
            raw.inner = Span::new(raw.start, end_tag.start);
            raw.child = child;
            raw.next = NONE;
        }
        self.set_innermost_last(node);
        self.damage(node);
        true
    }

    /// `  <a/>…</task>`, all of a text but its first line: makes the root whose start tag is missing, where everything stands deeper
    /// than its end tag. Gives where it begins.
    pub(super) fn adopt_root(&mut self, name: Name, end_tag: Span) -> Option<u32> {
        let own = self.scan.indent(end_tag.start as usize)?;
        let behind = self.scan.slice(end_tag.end as usize, self.scan.bytes.len());
        let begins = self.tree.raw(self.tree.first)?.start;
        let mut top = std::iter::successors(self.tree.raw(self.tree.first), |one| self.tree.raw(one.next));
        let is_below = |raw: &Raw| match raw.kind {
            Kind::Element => self.indent_of(raw).is_some_and(|indent| indent > own),
            Kind::Comment | Kind::Instruction => true,
            Kind::Text | Kind::Cdata => false,
        };
        if name.colon || !behind.iter().all(|&byte| is_space(byte)) || !top.all(is_below) {
            return None;
        }
        let flags = flag::CLOSED | flag::TAG | flag::HEADLESS | flag::DAMAGED;
        let (name, inner) = ((name.end - name.start) as u16, Span::new(begins, end_tag.start));
        let first = *self.tree.raw(self.tree.first)?;
        // It stands where the first of its children does.
        let root =
            Raw { flags, name, count: 0, namespace: 0, next: NONE, child: self.tree.first + 1, end: end_tag.end, inner, ..first };
        // Nodes stand in the order of their starts; this is the last tag of the text, so no place is shifted twice.
        self.tree.nodes.insert(0, root);
        for raw in self.tree.nodes.iter_mut().skip(1) {
            raw.parent = if raw.parent == NONE { 0 } else { raw.parent + 1 };
            for id in [&mut raw.next, &mut raw.child] {
                *id += u32::from(*id != NONE);
            }
        }
        (self.tree.root, self.tree.first, self.last_top) = (0, 0, 0);
        self.faults.retain(|fault| !matches!(fault.kind, FaultKind::SecondRoot | FaultKind::TextOutsideRoot));
        self.forget_outside();
        Some(begins)
    }

    /// Gives nodes, from `first` on, to a parent.
    fn give(&mut self, first: u32, parent: u32) {
        let mut next = first;
        while let Some(child) = self.raw_mut(next) {
            child.parent = parent;
            next = child.next;
        }
    }

    fn run_before(&mut self, end_tag: Span) -> Option<Run> {
        let (parent, _) = self.innermost();
        let around = self.tree.raw(parent)?;
        let own = self.scan.indent(end_tag.start as usize);
        if own.is_some_and(|own| self.indent_of(around).is_some_and(|outer| own <= outer)) {
            return None;
        }
        let mut child = around.child;
        let mut before = NONE;
        let mut previous = NONE;
        let mut run = None;
        while let Some(raw) = self.tree.raw(child) {
            // Looking back costs; a file full of stray end tags may do it only so often.
            self.lookbacks = self.lookbacks.checked_sub(1)?;
            if raw.flags & (flag::BLANK | flag::ORPHAN) == 0 {
                let begins = self.first_mark(raw);
                let indent = self.scan.indent(begins as usize);
                let belongs = match own {
                    Some(own) => indent.map(|indent| indent > own),
                    None => Some(raw.kind != Kind::Element),
                };
                match belongs {
                    Some(true) => run = run.or(Some(Run { before, previous, first: child, begins })),
                    Some(false) => run = None,
                    // On the line of what stands before it.
                    None => {}
                }
                before = child;
            }
            previous = child;
            child = raw.next;
        }
        let run = run?;
        let on_one_line = || !self.scan.slice(run.begins as usize, end_tag.start as usize).contains(&b'\n');
        (own.is_some() || on_one_line()).then_some(run)
    }

    /// Where a node begins to be seen: text behind its white space.
    fn first_mark(&self, raw: &Raw) -> u32 {
        if raw.kind != Kind::Text {
            return raw.start;
        }
        let text = self.scan.slice(raw.start as usize, raw.end as usize);
        raw.start + text.iter().take_while(|&&byte| is_space(byte)).count() as u32
    }
}
