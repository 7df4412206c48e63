//! End tags whose start tag is missing: which nodes stood between the two.
//!
//! A deleted start tag leaves its children to the element around it, where each of them would look like a fault of its
//! own. They stay in the tree where they are, and are marked as orphans; unless an empty element of that name stands
//! right before them, which then becomes their parent.

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
}

/// Nodes at the end of an element's children.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The child before them.
    before: u32,
    first: u32,
    /// Where the first one is to be seen.
    begins: u32,
}

impl Pass<'_, '_> {
    /// Finds the nodes that an end tag was meant to hold, and sets them adrift.
    pub(super) fn mark_orphans(&mut self, name: Name, end_tag: Span) -> Orphans {
        let Some(run) = self.run_before(end_tag) else { return Orphans::Nothing };
        if self.reopen(run, name, end_tag) {
            return Orphans::HomeIn(self.name_span(run.before));
        }
        let mut next = run.first;
        while let Some(raw) = self.raw_mut(next) {
            raw.flags |= flag::ORPHAN;
            next = raw.next;
        }
        Orphans::From(run.begins)
    }

    /// `<a/>text</a>`: gives the nodes to the element after all.
    fn reopen(&mut self, run: Run, name: Name, end_tag: Span) -> bool {
        let Some(raw) = self.tree.raw(run.before).copied() else { return false };
        let same = raw.kind == Kind::Element && self.name_of(&raw) == self.scan.slice(name.start, name.end);
        if !same || raw.flags & flag::EMPTY == 0 {
            return false;
        }
        if let Some(raw) = self.raw_mut(run.before) {
            raw.flags = (raw.flags & !flag::EMPTY) | flag::CLOSED;
            raw.inner = Span::new(raw.end, end_tag.start);
            raw.end = end_tag.end;
            raw.child = raw.next;
            raw.next = NONE;
        }
        let mut next = raw.next;
        while let Some(child) = self.raw_mut(next) {
            child.parent = run.before;
            next = child.next;
        }
        // Nothing of it is lost: what stands in it is checked as if the slash were not there.
        self.set_innermost_last(run.before);
        true
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
                    Some(true) => run = run.or(Some(Run { before, first: child, begins })),
                    Some(false) => run = None,
                    // On the line of what stands before it.
                    None => {}
                }
                before = child;
            }
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
