//! Text to tree in one pass, with recovery: never fails, never recurses, never reads a region more
//! than a fixed number of times. Errors are returned as [`Fault`]s, one for each damaged region.
//!
//! This file drives the pass and reads text; `tag` and `attribute` read start tags, `end` reads end
//! tags, `recover` repairs unclosed elements, `markup` reads everything that begins with `<!` or
//! `<?`.

use super::fault::{Fault, FaultKind};
use super::limits::Limits;
use super::pass::{Flow, Pass, Scratch};
use super::tree::{Document, NONE, Tree};
use super::wellformed::{self, class, is};
use crate::base::span::Span;

/// Reads texts one after another; reuses its buffers from file to file.
#[derive(Debug, Default)]
pub struct Reader {
    tree: Tree,
    faults: Vec<Fault>,
    scratch: Scratch,
}

impl Reader {
    /// A reader with empty buffers.
    pub fn new() -> Self {
        Self {
            tree: Tree::new(),
            ..Self::default()
        }
    }

    /// Reads a text and discards the result of the previous one.
    pub fn read(&mut self, text: &str, limits: &Limits) {
        let Self {
            tree,
            faults,
            scratch,
        } = self;
        tree.clear();
        faults.clear();
        scratch.open.clear();
        scratch.bindings.clear();
        let mut pass = Pass::new(text, limits, tree, faults, scratch);
        pass.run();
    }

    /// The tree of the last text; `text` must be that text.
    pub const fn document<'a>(&'a self, text: &'a str) -> Document<'a> {
        Document {
            text,
            tree: &self.tree,
        }
    }

    /// The faults of the last text, sorted by position.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }
}

impl Pass<'_, '_> {
    fn run(&mut self) {
        if self.scan.bytes.len() as u64 > self.limits.file.min(u64::from(NONE - 1)) {
            self.record(FaultKind::FileTooLong, Span::at(0), None);
            return;
        }
        let survey = wellformed::survey(self.scan.bytes);
        self.carriage = survey.carriage;
        let stopped = self
            .characters(survey)
            .and_then(|()| self.content())
            .is_err();
        self.finish(stopped);
        if let Some(span) = self.doctype {
            // An unknown entity may be one that the document type declares; if the declaration has
            // no end, anything may be part of it.
            let doctype_open = self.doctype_open;
            let written = span.slice(self.scan.text);
            let declares = ["<!ENTITY", "SYSTEM", "PUBLIC"]
                .iter()
                .any(|word| written.contains(word));
            let is_hidden = |fault: &Fault| declares && fault.kind == FaultKind::UnknownEntity;
            let used = self
                .faults
                .iter()
                .find(|fault| is_hidden(fault))
                .map(|fault| fault.span);
            self.faults
                .retain(|fault| !doctype_open && !is_hidden(fault));
            self.record(FaultKind::Doctype, span, used);
        }
        if self.faults.len() > 1 {
            self.faults.sort_by_key(|fault| fault.span.start);
        }
    }

    fn content(&mut self) -> Flow {
        // Decoding strips the byte order mark; an editor's text may still begin with it.
        if self.scan.text.starts_with('\u{feff}') {
            self.scan.at = '\u{feff}'.len_utf8();
        }
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

    /// Returns true if the `<` at the current position begins markup rather than being a sign in
    /// text.
    #[inline]
    pub(super) fn is_markup(&self) -> bool {
        let begins_name = |ahead| {
            self.scan
                .peek_at(ahead)
                .is_some_and(|byte| class(byte) & is::NAME_START != 0)
        };
        begins_name(1)
            || (self.scan.peek_at(1) == Some(b'/') && begins_name(2))
            || self.is_rare_markup()
    }

    fn is_rare_markup(&self) -> bool {
        match self.scan.peek_at(1) {
            Some(b'?') => true,
            Some(b'/') => match self.scan.peek_at(2) {
                Some(byte) => {
                    byte == b'>'
                        || wellformed::is_space(byte)
                        || self.scan.is_name_start(self.scan.at + 2)
                }
                None => true,
            },
            Some(b'!') => self
                .scan
                .peek_at(2)
                .is_some_and(|byte| matches!(byte, b'-' | b'[') || byte.is_ascii_alphabetic()),
            Some(b'[') => self.scan.starts_with(b"<[CDATA["),
            Some(_) => self.scan.is_name_start(self.scan.at + 1),
            None => false,
        }
    }

    /// Ends all open elements, and reports the missing end tags.
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
        // An error here has no effect: it has been recorded already.
        let _ = self.abandon(0, self.scan.bytes.len());
        if self.tree.root == NONE {
            self.faults
                .retain(|fault| fault.kind != FaultKind::TextOutsideRoot);
            if self.faults.is_empty() {
                let end = self.scan.text.trim_end().len();
                self.record(FaultKind::NoRoot, Span::at(end as u32), None);
            }
        }
    }
}
