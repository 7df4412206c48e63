//! One pass over one text: the tree so far, the open elements, and the recording of faults.

use super::bindings::Bindings;
use super::fault::{Fault, FaultKind};
use super::limits::Limits;
use super::scanner::{Marks, NextOccurrence, Scanner};
use super::tree::{Kind, NONE, Raw, Tree, flag};
use crate::base::span::Span;

/// Buffers that are empty between two texts.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) open: Vec<Open>,
    pub(super) bindings: Bindings,
    pub(super) order: Vec<u32>,
    pub(super) marks: Marks,
}

/// An element whose end tag has not been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) node: u32,
    /// Its last child so far.
    pub(super) last: u32,
    /// The number of namespace bindings before its start tag.
    pub(super) bindings: u32,
}

/// A merge conflict: our side is read, theirs is skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conflict {
    /// Start of the middle marker.
    pub(super) middle: usize,
    /// The offset after the last marker.
    pub(super) end: usize,
}

/// Indicates that reading stopped at a limit; the fault has been recorded.
#[derive(Debug)]
pub(super) struct Stopped;

/// Continues, or stops at a limit.
pub(super) type Flow = Result<(), Stopped>;

/// One pass over one text.
#[derive(Debug)]
pub(super) struct Pass<'a, 'r> {
    pub(super) scan: Scanner<'a>,
    pub(super) limits: &'a Limits,
    pub(super) tree: &'r mut Tree,
    pub(super) faults: &'r mut Vec<Fault>,
    pub(super) scratch: &'r mut Scratch,
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
    pub(super) conflict: Option<Conflict>,
    pub(super) carriage: bool,
}

impl<'a, 'r> Pass<'a, 'r> {
    pub(super) fn new(
        text: &'a str,
        limits: &'a Limits,
        tree: &'r mut Tree,
        faults: &'r mut Vec<Fault>,
        scratch: &'r mut Scratch,
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
            last_top: NONE,
            outside: false,
            lookbacks: text.len(),
            doctype: None,
            doctype_open: false,
            conflict: None,
            carriage: false,
        }
    }

    /// A span without white space at its ends.
    pub(super) fn trimmed(&self, span: Span) -> Span {
        let text = span.slice(self.scan.text);
        let start = span.start + (text.len() - text.trim_ascii_start().len()) as u32;
        Span::new(start, start + text.trim_ascii().len() as u32)
    }

    /// Reports content outside the root: one fault for all of it.
    pub(super) fn outside(&mut self, kind: FaultKind, span: Span) -> Flow {
        if std::mem::replace(&mut self.outside, true) {
            return Ok(());
        }
        let root = self.tree.raw(self.tree.root).map(Raw::name_span);
        self.fault(kind, span, root)
    }

    /// Starts a new region: content before the root is separate from content after it.
    pub(super) fn forget_outside(&mut self) {
        self.outside = false;
    }

    /// Records a fault; stops if there are too many. Inside a merge conflict only the conflict
    /// itself is recorded.
    pub(super) fn fault(&mut self, kind: FaultKind, span: Span, other: Option<Span>) -> Flow {
        if self.conflict.is_some() {
            return Ok(());
        }
        if self.faults.len() + 1 >= self.limits.diagnostics as usize {
            self.record(FaultKind::TooManyFaults, span, None);
            return Err(Stopped);
        }
        self.record(kind, span, other);
        Ok(())
    }

    /// Records that a limit was reached, and stops.
    pub(super) fn stop(&mut self, kind: FaultKind, span: Span) -> Flow {
        self.record(kind, span, None);
        Err(Stopped)
    }

    /// The innermost open element and its last child; without one, the list of nodes without a
    /// parent.
    pub(super) fn innermost(&self) -> (u32, u32) {
        self.scratch
            .open
            .last()
            .map_or((NONE, self.last_top), |open| (open.node, open.last))
    }

    /// Sets the last child of the innermost open element.
    pub(super) fn set_innermost_last(&mut self, last: u32) {
        match self.scratch.open.last_mut() {
            Some(open) => open.last = last,
            None => self.last_top = last,
        }
    }

    pub(super) fn record(&mut self, kind: FaultKind, span: Span, other: Option<Span>) {
        self.faults.push(Fault { kind, span, other });
    }

    /// Adds a leaf, or an element whose remaining fields the caller sets. Returns its index.
    pub(super) fn add(
        &mut self,
        kind: Kind,
        flags: u8,
        span: Span,
        inner: Span,
    ) -> Result<u32, Stopped> {
        if self.tree.nodes.len() >= self.limits.nodes as usize {
            self.stop(FaultKind::TooManyNodes, Span::at(span.start))?;
        }
        let id = self.tree.nodes.len() as u32;
        let (parent, last) = match self.scratch.open.last_mut() {
            Some(open) => (open.node, std::mem::replace(&mut open.last, id)),
            None => (NONE, std::mem::replace(&mut self.last_top, id)),
        };
        if let Some(before) = self.tree.nodes.get_mut(last as usize) {
            before.next = id;
        } else if let Some(around) = self.tree.nodes.get_mut(parent as usize) {
            around.child = id;
        } else {
            self.tree.first = id;
        }
        self.tree.instructions += u32::from(kind == Kind::Instruction);
        self.tree.nodes.push(Raw {
            kind,
            flags,
            name: 0,
            count: 0,
            namespace: 0,
            parent,
            next: NONE,
            child: NONE,
            start: span.start,
            end: span.end,
            inner,
            attributes: 0,
        });
        Ok(id)
    }

    pub(super) fn raw_mut(&mut self, id: u32) -> Option<&mut Raw> {
        self.tree.nodes.get_mut(id as usize)
    }

    /// Marks the innermost open element as damaged.
    pub(super) fn damage_open(&mut self) {
        if let Some(open) = self.scratch.open.last().copied() {
            self.damage(open.node);
        }
    }

    /// Marks a node and its parent as damaged.
    pub(super) fn damage(&mut self, id: u32) {
        let Some(raw) = self.raw_mut(id) else { return };
        raw.flags |= flag::DAMAGED;
        let parent = raw.parent;
        if let Some(raw) = self.raw_mut(parent) {
            raw.flags |= flag::DAMAGED;
        }
    }
}
