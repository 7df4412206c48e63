//! End tags whose start tag is missing: which nodes stood between the two.
//!
//! A deleted start tag leaves its children to the element around, where each of them would look like a fault of its
//! own. They stay in the tree where they are, and say that they are adrift.

use super::reader::Pass;
use super::tree::{Kind, Raw, flag};
use super::wellformed::is_space;
use crate::base::span::Span;

impl Pass<'_, '_> {
    /// Sets the nodes adrift that an end tag was meant to hold, and says where the first one begins; `None` when
    /// nothing that can be seen belongs to it.
    pub(super) fn set_adrift(&mut self, end_tag: Span) -> Option<u32> {
        let (parent, _) = self.innermost();
        let around = self.tree.raw(parent)?;
        let own = self.scan.indent(end_tag.start as usize);
        if own.is_some_and(|own| self.indent_of(around).is_some_and(|outer| own <= outer)) {
            return None;
        }
        let mut child = around.child;
        let mut run = None;
        while let Some(raw) = self.tree.raw(child) {
            // Looking back costs; a file full of stray end tags may do it only so often.
            self.lookbacks = self.lookbacks.checked_sub(1)?;
            let begins = self.first_mark(raw);
            run = match own {
                _ if raw.flags & flag::BLANK != 0 => run,
                Some(own) => match self.scan.indent(begins as usize) {
                    Some(indent) if indent > own => run.or(Some((child, begins))),
                    Some(_) => None,
                    None => run,
                },
                None if raw.kind == Kind::Element => None,
                None => run.or(Some((child, begins))),
            };
            child = raw.next;
        }
        let (first, begins) = run?;
        if own.is_none() && self.scan.slice(begins as usize, end_tag.start as usize).contains(&b'\n') {
            return None;
        }
        let mut next = first;
        while let Some(raw) = self.raw_mut(next) {
            raw.flags |= flag::ADRIFT;
            next = raw.next;
        }
        Some(begins)
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
