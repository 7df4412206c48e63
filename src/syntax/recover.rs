//! Elements without an end tag: decides where each of them was meant to end.
//!
//! Runs once for each such element, when an outer end tag or the end of the text reveals that its
//! end tag is missing. Its children are moved behind it if they are indented no deeper than itself,
//! or if they follow the rest of its end tag; every node is moved at most once.

use super::fault::{XmlFault, XmlFaultKind};
use super::pass::{Flow, OpenElement, Pass};
use super::tree::{NO_NODE, NodeKind, flag};
use crate::base::span::Span;

/// An element to which children may be moved.
#[derive(Clone, Copy, Debug)]
struct AdoptiveParent {
    node: u32,
    last: u32,
    /// `None` for the element that stays open, which accepts all children.
    indent: Option<usize>,
}

/// The border between the children that stay in an element and those that leave it.
#[derive(Clone, Copy, Debug)]
struct ChildCut {
    /// The last child that stays; `NO_NODE` if none stays.
    stays: u32,
    /// The first child that leaves.
    leaves: u32,
}

impl Pass<'_, '_> {
    /// Closes all open elements from `keep` on, without end tags, at the end tag of an outer one or
    /// the end of the text.
    pub(super) fn close_unclosed(&mut self, keep: usize, at: usize) -> Flow {
        if self.scratch.open.len() <= keep {
            return Ok(());
        }
        let chain = self.scratch.open.split_off(keep);
        if let Some(first) = chain.first() {
            self.scratch.bindings.truncate(first.bindings);
        }
        let mut faults = Vec::new();
        self.rehome_children(&chain, at as u32, &mut faults);
        self.report_missing(&chain, &mut faults);
        for open in &chain {
            self.mark_damaged(open.node);
        }
        faults
            .into_iter()
            .try_for_each(|fault| self.report_fault(fault.kind, fault.span, fault.other))
    }

    /// Moves the children of unclosed elements to the elements that contain them according to their
    /// indentation.
    fn rehome_children(&mut self, chain: &[OpenElement], at: u32, faults: &mut Vec<XmlFault>) {
        let (outer, last) = self.innermost_open();
        let mut homes = vec![AdoptiveParent {
            node: outer,
            last,
            indent: None,
        }];
        let mut chain = chain.iter().copied().peekable();
        while let Some(open) = chain.next() {
            let Some(raw) = self.tree.raw(open.node).copied() else {
                continue;
            };
            while homes.len() > 1 && homes.last().is_some_and(|home| home.node != raw.parent) {
                homes.pop();
            }
            if let Some(raw) = self.raw_mut(open.node) {
                raw.inner.end = at;
                raw.end = at;
            }
            let line = homes.last().and_then(|home| home.indent);
            let indent = self.indent_of(&raw).or(line);
            homes.push(AdoptiveParent {
                node: open.node,
                last: open.last,
                indent,
            });
            if let Some(&next) = chain.peek()
                && self.is_end_without_slash(open, next)
            {
                chain.next();
                self.take_as_end(open, next, &mut homes, faults);
                continue;
            }
            let cut = self
                .end_without_bracket(open, faults)
                .or_else(|| self.find_outdent(open, indent));
            if let Some(cut) = cut {
                self.detach_children(open.node, cut, &mut homes);
                homes.pop();
                self.hand_on_nodes(cut.leaves, &mut homes);
            }
        }
        if let Some(home) = homes.first() {
            self.set_innermost_last(home.last);
        }
    }

    /// `<a>text<a>`: the second tag is an end tag without its slash.
    fn is_end_without_slash(&self, open: OpenElement, next: OpenElement) -> bool {
        let (Some(outer), Some(inner)) = (self.tree.raw(open.node), self.tree.raw(next.node))
        else {
            return false;
        };
        let plain = inner.count == 0
            && inner.parent == open.node
            && self.name_of(outer) == self.name_of(inner);
        // A nested element of the same name is indented deeper on a line of its own.
        let deeper = match (self.indent_of(outer), self.indent_of(inner)) {
            (Some(outer), Some(inner)) => inner > outer,
            _ => false,
        };
        plain && !deeper
    }

    /// Ends `open` at the start tag of `next`, whose children move to the surrounding element.
    fn take_as_end(
        &mut self,
        open: OpenElement,
        next: OpenElement,
        homes: &mut Vec<AdoptiveParent>,
        faults: &mut Vec<XmlFault>,
    ) {
        let Some(tag) = self
            .tree
            .raw(next.node)
            .map(|raw| Span::new(raw.start, raw.inner.start))
        else {
            return;
        };
        let children = self.tree.raw(next.node).map_or(NO_NODE, |raw| raw.child);
        let before = self.child_before(open.node, next.node);
        self.detach_children(
            open.node,
            ChildCut {
                stays: before,
                leaves: next.node,
            },
            homes,
        );
        homes.pop();
        if let Some(raw) = self.raw_mut(open.node) {
            raw.inner.end = tag.start;
            raw.end = tag.end;
        }
        if let Some(raw) = self.raw_mut(next.node) {
            // It stays in the arena, outside every list of children, as a blank text.
            raw.kind = NodeKind::Text;
            raw.flags = flag::BLANK | flag::DAMAGED;
            raw.name = 0;
            raw.end = tag.end;
            raw.inner = tag;
            raw.child = NO_NODE;
            raw.next = NO_NODE;
        }
        faults.push(XmlFault {
            kind: XmlFaultKind::EndWithoutSlash,
            span: tag,
            other: Some(self.name_span(open.node)),
        });
        self.hand_on_nodes(children, homes);
    }

    /// `<a>text/a>`: the text contains the rest of the end tag.
    fn end_without_bracket(
        &mut self,
        open: OpenElement,
        faults: &mut Vec<XmlFault>,
    ) -> Option<ChildCut> {
        let raw = *self.tree.raw(open.node)?;
        let mut mark = Vec::with_capacity(usize::from(raw.name) + 2);
        mark.push(b'/');
        mark.extend_from_slice(self.name_of(&raw));
        mark.push(b'>');
        let mut child = raw.child;
        while let Some(node) = self.tree.raw(child).copied() {
            if node.kind == NodeKind::Text
                && let Some(found) = memchr::memmem::find(
                    self.scan.slice(node.start as usize, node.end as usize),
                    &mark,
                )
            {
                let start = node.start + found as u32;
                let end = start + mark.len() as u32;
                let other = Some(self.name_span(open.node));
                faults.push(XmlFault {
                    kind: XmlFaultKind::EndWithoutBracket,
                    span: Span::new(start, end),
                    other,
                });
                if let Some(node) = self.raw_mut(child) {
                    node.end = start;
                    node.inner.end = start;
                }
                if let Some(raw) = self.raw_mut(open.node) {
                    raw.inner.end = start;
                    raw.end = end;
                }
                return Some(ChildCut {
                    stays: child,
                    leaves: node.next,
                });
            }
            child = node.next;
        }
        None
    }

    /// The first child that begins a line no deeper than its parent, if indentation is evidence: in
    /// a text without indentation, and for a root, only the nodes before that child can show that
    /// the element was to end there.
    fn find_outdent(&self, open: OpenElement, indent: Option<usize>) -> Option<ChildCut> {
        let indent = indent?;
        let raw = self.tree.raw(open.node)?;
        let around = self
            .tree
            .raw(raw.parent)
            .and_then(|parent| self.indent_of(parent));
        let mut tells = around.is_some_and(|around| around < indent);
        let mut before = NO_NODE;
        let mut previous = NO_NODE;
        let mut child = raw.child;
        while let Some(node) = self.tree.raw(child) {
            let own = if node.kind == NodeKind::Element {
                self.indent_of(node)
            } else {
                None
            };
            tells |= own.is_some_and(|own| own > indent);
            tells |= raw.parent != NO_NODE
                && node.kind == NodeKind::Text
                && node.flags & flag::BLANK == 0;
            if tells && own.is_some_and(|own| own <= indent) {
                let blank = self
                    .tree
                    .raw(previous)
                    .is_some_and(|text| text.flags & flag::BLANK != 0);
                return Some(if blank {
                    ChildCut {
                        stays: before,
                        leaves: previous,
                    }
                } else {
                    ChildCut {
                        stays: previous,
                        leaves: child,
                    }
                });
            }
            before = previous;
            previous = child;
            child = node.next;
        }
        None
    }

    fn child_before(&self, parent: u32, child: u32) -> u32 {
        let mut previous = NO_NODE;
        let mut at = self.tree.raw(parent).map_or(NO_NODE, |raw| raw.child);
        while at != child {
            let Some(node) = self.tree.raw(at) else {
                return previous;
            };
            previous = at;
            at = node.next;
        }
        previous
    }

    /// Cuts the list of children of a node, and ends the node at the first child that leaves.
    fn detach_children(&mut self, node: u32, cut: ChildCut, homes: &mut [AdoptiveParent]) {
        if let Some(stays) = self.raw_mut(cut.stays) {
            stays.next = NO_NODE;
        } else if let Some(raw) = self.raw_mut(node) {
            raw.child = NO_NODE;
        }
        if let Some(home) = homes.last_mut() {
            home.last = cut.stays;
        }
        let Some(start) = self.tree.raw(cut.leaves).map(|raw| raw.start) else {
            return;
        };
        if let Some(raw) = self.raw_mut(node) {
            raw.inner.end = raw.inner.end.min(start);
            raw.end = raw.end.min(start);
        }
    }

    /// Moves nodes, from `first` on, to the innermost parent that they are indented deeper than.
    fn hand_on_nodes(&mut self, first: u32, homes: &mut Vec<AdoptiveParent>) {
        let mut node = first;
        while let Some(raw) = self.tree.raw(node).copied() {
            let seen = if raw.kind == NodeKind::Element {
                Some(raw)
            } else {
                self.tree.raw(raw.next).copied()
            };
            let indent = seen
                .filter(|raw| raw.kind == NodeKind::Element)
                .and_then(|raw| self.indent_of(&raw));
            while let Some(home) = homes.last()
                && home
                    .indent
                    .is_some_and(|own| indent.is_none_or(|indent| indent <= own))
            {
                let left = home.node;
                if let Some(left) = self.raw_mut(left) {
                    left.inner.end = left.inner.end.min(raw.start);
                    left.end = left.end.min(raw.start);
                }
                homes.pop();
            }
            self.append_node(node, homes);
            node = raw.next;
        }
    }

    fn append_node(&mut self, node: u32, homes: &mut [AdoptiveParent]) {
        let Some(home) = homes.last_mut() else { return };
        if let Some(raw) = self.raw_mut(node) {
            raw.parent = home.node;
            raw.next = NO_NODE;
        }
        if let Some(last) = self.raw_mut(home.last) {
            last.next = node;
        } else if let Some(parent) = self.raw_mut(home.node) {
            parent.child = node;
        } else {
            self.tree.first = node;
        }
        home.last = node;
    }

    /// Reports one fault for the innermost of the elements that end at the same place; the others
    /// are the same region.
    fn report_missing(&self, chain: &[OpenElement], faults: &mut Vec<XmlFault>) {
        let mut known = None;
        for open in chain.iter().rev() {
            let Some(raw) = self
                .tree
                .raw(open.node)
                .filter(|raw| raw.kind == NodeKind::Element)
            else {
                continue;
            };
            let name = self.name_span(open.node);
            let reported = faults.iter().any(|fault| fault.other == Some(name));
            if known != Some(raw.end) && !reported {
                faults.push(XmlFault {
                    kind: XmlFaultKind::MissingEnd,
                    span: name,
                    other: Some(Span::empty_at(raw.end)),
                });
            }
            known = Some(raw.end);
        }
    }
}
