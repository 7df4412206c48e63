//! One pass over one text: the tree so far, the open elements, and the recording of faults.

use super::bindings::NamespaceScope;
use super::fault::{XmlFault, XmlFaultKind};
use super::limits::XmlLimits;
use super::scanner::{Marks, NextOccurrence, Scanner};
use super::tree::{NO_NODE, NodeKind, RawNode, XmlTree, flag};
use crate::base::span::Span;

/// Buffers that are empty between two texts.
#[derive(Debug, Default)]
pub(super) struct PassBuffers {
    pub(super) open: Vec<OpenElement>,
    pub(super) bindings: NamespaceScope,
    pub(super) order: Vec<u32>,
    pub(super) marks: Marks,
}

/// An element whose end tag has not been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenElement {
    pub(super) node: u32,
    /// Its last child so far.
    pub(super) last: u32,
    /// The number of namespace bindings before its start tag.
    pub(super) bindings: u32,
}

/// A merge conflict: our side is read, theirs is skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergeConflict {
    /// Start of the middle marker.
    pub(super) middle: usize,
    /// The offset after the last marker.
    pub(super) end: usize,
}

/// Indicates that reading stopped at a limit; the fault has been recorded.
#[derive(Debug)]
pub(super) struct ReadStopped;

/// Continues, or stops at a limit.
pub(super) type Flow = Result<(), ReadStopped>;

/// One pass over one text.
#[derive(Debug)]
pub(super) struct Pass<'a, 'r> {
    pub(super) scan: Scanner<'a>,
    pub(super) limits: &'a XmlLimits,
    pub(super) tree: &'r mut XmlTree,
    pub(super) faults: &'r mut Vec<XmlFault>,
    pub(super) scratch: &'r mut PassBuffers,
    pub(super) comment_end: NextOccurrence,
    pub(super) cdata_start: NextOccurrence,
    pub(super) cdata_end: NextOccurrence,
    pub(super) instruction_end: NextOccurrence,
    pub(super) conflict_middle: NextOccurrence,
    pub(super) conflict_end: NextOccurrence,
    /// Signs before this offset lie in an attribute value whose end is known.
    pub(super) signs_until: usize,
    /// The last node without a parent.
    pub(super) last_top: u32,
    /// True if content outside the root was reported: all of it is one region.
    pub(super) outside: bool,
    /// The remaining number of nodes that recovery may look back at.
    pub(super) lookbacks: usize,
    pub(super) doctype: Option<Span>,
    /// True after an unterminated document type: later ones are not searched for an end.
    pub(super) doctype_open: bool,
    pub(super) conflict: Option<MergeConflict>,
    pub(super) carriage: bool,
}

impl<'a, 'r> Pass<'a, 'r> {
    pub(super) fn new(
        text: &'a str,
        limits: &'a XmlLimits,
        tree: &'r mut XmlTree,
        faults: &'r mut Vec<XmlFault>,
        scratch: &'r mut PassBuffers,
    ) -> Self {
        Self {
            scan: Scanner::new(text),
            limits,
            tree,
            faults,
            scratch,
            comment_end: NextOccurrence::default(),
            cdata_start: NextOccurrence::default(),
            cdata_end: NextOccurrence::default(),
            instruction_end: NextOccurrence::default(),
            conflict_middle: NextOccurrence::default(),
            conflict_end: NextOccurrence::default(),
            signs_until: 0,
            last_top: NO_NODE,
            outside: false,
            lookbacks: text.len(),
            doctype: None,
            doctype_open: false,
            conflict: None,
            carriage: false,
        }
    }

    /// A span without white space at its ends.
    pub(super) fn trim_span(&self, span: Span) -> Span {
        let text = span.slice(self.scan.text);
        let start = span.start + (text.len() - text.trim_ascii_start().len()) as u32;
        Span::new(start, start + text.trim_ascii().len() as u32)
    }

    /// Reports content outside the root: one fault for all of it.
    pub(super) fn report_outside(&mut self, kind: XmlFaultKind, span: Span) -> Flow {
        if std::mem::replace(&mut self.outside, true) {
            return Ok(());
        }
        let root = self.tree.raw(self.tree.root).map(RawNode::name_span);
        self.report_fault(kind, span, root)
    }

    /// Starts a new region: content before the root is separate from content after it.
    pub(super) fn forget_outside(&mut self) {
        self.outside = false;
    }

    /// Records a fault; stops if there are too many. Inside a merge conflict only the conflict
    /// itself is recorded.
    pub(super) fn report_fault(
        &mut self,
        kind: XmlFaultKind,
        span: Span,
        other: Option<Span>,
    ) -> Flow {
        if self.conflict.is_some() {
            return Ok(());
        }
        if self.faults.len() + 1 >= self.limits.diagnostics as usize {
            self.record_fault(XmlFaultKind::TooManyFaults, span, None);
            return Err(ReadStopped);
        }
        self.record_fault(kind, span, other);
        Ok(())
    }

    /// Records that a limit was reached, and stops.
    pub(super) fn stop_at_limit(&mut self, kind: XmlFaultKind, span: Span) -> Flow {
        self.record_fault(kind, span, None);
        Err(ReadStopped)
    }

    /// The innermost open element and its last child; without one, the list of nodes without a
    /// parent.
    pub(super) fn innermost_open(&self) -> (u32, u32) {
        self.scratch
            .open
            .last()
            .map_or((NO_NODE, self.last_top), |open| (open.node, open.last))
    }

    /// Sets the last child of the innermost open element.
    pub(super) fn set_innermost_last(&mut self, last: u32) {
        match self.scratch.open.last_mut() {
            Some(open) => open.last = last,
            None => self.last_top = last,
        }
    }

    pub(super) fn record_fault(&mut self, kind: XmlFaultKind, span: Span, other: Option<Span>) {
        self.faults.push(XmlFault { kind, span, other });
    }

    /// Adds a leaf, or an element whose remaining fields the caller sets. Returns its index.
    pub(super) fn add_node(
        &mut self,
        kind: NodeKind,
        flags: u8,
        span: Span,
        inner: Span,
    ) -> Result<u32, ReadStopped> {
        if self.tree.nodes.len() >= self.limits.nodes as usize {
            self.stop_at_limit(XmlFaultKind::TooManyNodes, Span::empty_at(span.start))?;
        }
        let id = self.tree.nodes.len() as u32;
        let (parent, last) = match self.scratch.open.last_mut() {
            Some(open) => (open.node, std::mem::replace(&mut open.last, id)),
            None => (NO_NODE, std::mem::replace(&mut self.last_top, id)),
        };
        if let Some(before) = self.tree.nodes.get_mut(last as usize) {
            before.next = id;
        } else if let Some(around) = self.tree.nodes.get_mut(parent as usize) {
            around.child = id;
        } else {
            self.tree.first = id;
        }
        self.tree.instructions += u32::from(kind == NodeKind::Instruction);
        self.tree.nodes.push(RawNode {
            kind,
            flags,
            name: 0,
            count: 0,
            namespace: 0,
            parent,
            next: NO_NODE,
            child: NO_NODE,
            start: span.start,
            end: span.end,
            inner,
            attributes: 0,
        });
        Ok(id)
    }

    pub(super) fn raw_mut(&mut self, id: u32) -> Option<&mut RawNode> {
        self.tree.nodes.get_mut(id as usize)
    }

    /// Marks the innermost open element as damaged.
    pub(super) fn mark_open_damaged(&mut self) {
        if let Some(open) = self.scratch.open.last().copied() {
            self.mark_damaged(open.node);
        }
    }

    /// Marks a node and its parent as damaged.
    pub(super) fn mark_damaged(&mut self, id: u32) {
        let Some(raw) = self.raw_mut(id) else { return };
        raw.flags |= flag::DAMAGED;
        let parent = raw.parent;
        if let Some(raw) = self.raw_mut(parent) {
            raw.flags |= flag::DAMAGED;
        }
    }
}
