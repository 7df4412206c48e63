//! Text to tree in one pass, with recovery: never fails, never recurses, never reads a region more than a fixed
//! number of times. What is wrong comes back as [`Fault`]s, one for a damaged region.
//!
//! The parts: this file drives and reads text; `tag` and `attribute` read start tags, `end` reads end tags,
//! `recover` mends what was left open, `markup` reads everything that begins with `<!` or `<?`.

use super::conflict::Conflict;
use super::fault::{Fault, FaultKind};
use super::limits::Limits;
use super::namespaces::Bindings;
use super::scanner::{Ahead, Marks, Scanner};
use super::tree::{Document, Kind, NONE, Raw, Tree, flag};
use super::wellformed::{self, class, is};
use crate::base::span::Span;

/// Reads texts one after the other; keeps its buffers from file to file.
#[derive(Debug, Default)]
pub struct Reader {
    tree: Tree,
    faults: Vec<Fault>,
    scratch: Scratch,
}

/// Buffers that hold nothing between two texts.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) open: Vec<Open>,
    pub(super) bindings: Bindings,
    pub(super) order: Vec<u32>,
    pub(super) marks: Marks,
}

/// An element whose end tag has not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) node: u32,
    /// Its last child so far.
    pub(super) last: u32,
    /// Namespace bindings in force before its start tag.
    pub(super) bindings: u32,
}

impl Reader {
    /// A reader with empty buffers.
    pub fn new() -> Self {
        Self { tree: Tree::new(), ..Self::default() }
    }

    /// Reads a text; what was read before is forgotten.
    pub fn read(&mut self, text: &str, limits: &Limits) {
        let Self { tree, faults, scratch } = self;
        tree.clear();
        faults.clear();
        scratch.open.clear();
        scratch.bindings.clear();
        let mut pass = Pass::new(text, limits, tree, faults, scratch);
        pass.run();
    }

    /// The tree of the last text; `text` must be that text.
    pub const fn document<'a>(&'a self, text: &'a str) -> Document<'a> {
        Document { text, tree: &self.tree }
    }

    /// The faults of the last text, in the order of their places.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Hands out the tree and the faults of the last text, for those who keep them.
    pub fn take(&mut self) -> (Tree, Vec<Fault>) {
        (std::mem::replace(&mut self.tree, Tree::new()), std::mem::take(&mut self.faults))
    }
}

/// Reading stopped at a limit; the fault has been recorded.
#[derive(Debug)]
pub(super) struct Stopped;

/// Goes on, or stops at a limit.
pub(super) type Flow = Result<(), Stopped>;

/// One pass over one text.
#[derive(Debug)]
pub(super) struct Pass<'a, 'r> {
    pub(super) scan: Scanner<'a>,
    pub(super) limits: &'a Limits,
    pub(super) tree: &'r mut Tree,
    pub(super) faults: &'r mut Vec<Fault>,
    pub(super) scratch: &'r mut Scratch,
    pub(super) comment_end: Ahead,
    pub(super) cdata_start: Ahead,
    pub(super) cdata_end: Ahead,
    pub(super) instruction_end: Ahead,
    pub(super) conflict_middle: Ahead,
    pub(super) conflict_end: Ahead,
    /// Signs before this place stand in an attribute value whose end is known.
    pub(super) signs_until: usize,
    /// The last node without a parent.
    last_top: u32,
    /// Whether content outside the root was reported: all of it is one region.
    outside: bool,
    /// How many more nodes recovery may look back at.
    pub(super) lookbacks: usize,
    pub(super) doctype: Option<Span>,
    /// A document type was not terminated, so none that follows is.
    pub(super) doctype_open: bool,
    pub(super) conflict: Option<Conflict>,
    pub(super) carriage: bool,
}

impl<'a, 'r> Pass<'a, 'r> {
    fn new(text: &'a str, limits: &'a Limits, tree: &'r mut Tree, faults: &'r mut Vec<Fault>, scratch: &'r mut Scratch) -> Self {
        Self {
            scan: Scanner::new(text),
            limits,
            tree,
            faults,
            scratch,
            comment_end: Ahead::default(),
            cdata_start: Ahead::default(),
            cdata_end: Ahead::default(),
            instruction_end: Ahead::default(),
            conflict_middle: Ahead::default(),
            conflict_end: Ahead::default(),
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

    fn run(&mut self) {
        if self.scan.bytes.len() as u64 > self.limits.file.min(u64::from(NONE - 1)) {
            self.record(FaultKind::FileTooLong, Span::at(0), None);
            return;
        }
        let survey = wellformed::survey(self.scan.bytes);
        self.carriage = survey.carriage;
        let stopped = self.characters(survey).and_then(|()| self.content()).is_err();
        self.finish(stopped);
        if let Some(span) = self.doctype {
            // Whatever else is wrong may be made by the declaration that was passed over.
            self.faults.clear();
            self.record(FaultKind::Doctype, span, None);
        }
        if self.faults.len() > 1 {
            self.faults.sort_by_key(|fault| fault.span.start);
        }
    }

    fn content(&mut self) -> Flow {
        self.declaration()?;
        loop {
            if self.conflict.is_some() {
                self.leave_conflict();
            }
            if self.scan.peek() != Some(b'<') || !self.is_markup() {
                if self.scan.peek().is_none() {
                    return Ok(());
                }
                self.text()?;
                continue;
            }
            match self.scan.peek_at(1) {
                Some(b'/') => self.end_tag()?,
                Some(b'!') => self.bang()?,
                Some(b'?') => self.instruction()?,
                Some(b'[') => self.misspelt_cdata(8)?,
                _ => self.start_tag()?,
            }
        }
    }

    /// Whether the `<` at the place begins markup rather than being a sign in text.
    #[inline]
    pub(super) fn is_markup(&self) -> bool {
        let begins_name = |ahead| self.scan.peek_at(ahead).is_some_and(|byte| class(byte) & is::NAME_START != 0);
        begins_name(1) || (self.scan.peek_at(1) == Some(b'/') && begins_name(2)) || self.is_rare_markup()
    }

    fn is_rare_markup(&self) -> bool {
        match self.scan.peek_at(1) {
            Some(b'?') => true,
            Some(b'/') => match self.scan.peek_at(2) {
                Some(byte) => byte == b'>' || wellformed::is_space(byte) || self.scan.is_name_start(self.scan.at + 2),
                None => true,
            },
            Some(b'!') => self.scan.peek_at(2).is_some_and(|byte| matches!(byte, b'-' | b'[') || byte.is_ascii_alphabetic()),
            Some(b'[') => self.scan.starts_with(b"<[CDATA["),
            Some(_) => self.scan.is_name_start(self.scan.at + 1),
            None => false,
        }
    }

    /// A span without white space at its ends.
    pub(super) fn trimmed(&self, span: Span) -> Span {
        let text = span.slice(self.scan.text);
        let start = span.start + (text.len() - text.trim_ascii_start().len()) as u32;
        Span::new(start, start + text.trim_ascii().len() as u32)
    }

    /// Content beside the root: one fault for all of it.
    pub(super) fn outside(&mut self, kind: FaultKind, span: Span) -> Flow {
        if std::mem::replace(&mut self.outside, true) {
            return Ok(());
        }
        let root = self.tree.raw(self.tree.root).map(Raw::name_span);
        self.fault(kind, span, root)
    }

    /// What stands before the root is another region than what stands behind it.
    pub(super) fn forget_outside(&mut self) {
        self.outside = false;
    }

    /// Records a fault; stops when there are too many. Inside a merge conflict nothing but the conflict is one.
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

    /// Records the limit that was met, and stops.
    pub(super) fn stop(&mut self, kind: FaultKind, span: Span) -> Flow {
        self.record(kind, span, None);
        Err(Stopped)
    }

    /// Ends whatever is still open, and says what is missing.
    fn finish(&mut self, stopped: bool) {
        if stopped {
            let end = self.scan.at as u32;
            while let Some(open) = self.scratch.open.pop() {
                self.damage(open.node);
                if let Some(raw) = self.raw_mut(open.node) {
                    raw.inner.end = end.max(raw.inner.start);
                    raw.end = raw.inner.end;
                }
            }
            return;
        }
        // Too many faults at this point change nothing any more: they have been recorded.
        let _ = self.abandon(0, self.scan.bytes.len());
        if self.tree.root == NONE {
            self.faults.retain(|fault| fault.kind != FaultKind::TextOutsideRoot);
            if self.faults.is_empty() {
                let end = self.scan.text.trim_end().len();
                self.record(FaultKind::NoRoot, Span::at(end as u32), None);
            }
        }
    }

    /// The innermost open element and its last child; without one, the list of nodes without a parent.
    pub(super) fn innermost(&self) -> (u32, u32) {
        self.scratch.open.last().map_or((NONE, self.last_top), |open| (open.node, open.last))
    }

    /// Sets the last child of the innermost open element.
    pub(super) fn set_innermost_last(&mut self, last: u32) {
        match self.scratch.open.last_mut() {
            Some(open) => open.last = last,
            None => self.last_top = last,
        }
    }

    fn record(&mut self, kind: FaultKind, span: Span, other: Option<Span>) {
        self.faults.push(Fault { kind, span, other });
    }

    /// Adds a leaf, or an element whose rest is filled in by the caller. Returns its index.
    pub(super) fn add(&mut self, kind: Kind, flags: u8, span: Span, inner: Span) -> Result<u32, Stopped> {
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

    /// Says that damage lies in or around the innermost open element.
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
