//! Text to tree in one pass, with recovery: never fails, never recurses, never reads a region more
//! than a fixed number of times. Errors are returned as [`XmlFault`]s, one for each damaged region.
//!
//! This file drives the pass and reads text; `tag` and `attribute` read start tags, `end` reads end
//! tags, `recover` repairs unclosed elements, `markup` reads everything that begins with `<!` or
//! `<?`.

use super::fault::{XmlFault, XmlFaultKind};
use super::limits::XmlLimits;
use super::pass::{Flow, Pass, PassBuffers};
use super::tree::{NO_NODE, XmlDocument, XmlTree};
use super::wellformed::{self, byte_class, class};
use crate::base::span::Span;

/// Reads texts one after another; reuses its buffers from file to file.
#[derive(Debug, Default)]
pub struct XmlReader {
    tree: XmlTree,
    faults: Vec<XmlFault>,
    scratch: PassBuffers,
}

impl XmlReader {
    /// A reader with empty buffers.
    pub fn new() -> Self {
        Self {
            tree: XmlTree::new(),
            ..Self::default()
        }
    }

    /// Reads a text and discards the result of the previous one.
    pub fn read(&mut self, text: &str, limits: &XmlLimits) {
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
    pub const fn document<'a>(&'a self, text: &'a str) -> XmlDocument<'a> {
        XmlDocument {
            text,
            tree: &self.tree,
        }
    }

    /// The faults of the last text, sorted by position.
    pub fn faults(&self) -> &[XmlFault] {
        &self.faults
    }
}

impl Pass<'_, '_> {
    fn run(&mut self) {
        if self.scan.bytes.len() as u64 > self.limits.file.min(u64::from(NO_NODE - 1)) {
            self.record_fault(XmlFaultKind::FileTooLong, Span::empty_at(0), None);
            return;
        }
        let survey = wellformed::survey_bytes(self.scan.bytes);
        self.carriage = survey.carriage;
        let stopped = self
            .check_characters(survey)
            .and_then(|()| self.read_content())
            .is_err();
        self.finish_tree(stopped);
        if let Some(span) = self.doctype {
            // An unknown entity may be one that the document type declares; if the declaration has
            // no end, anything may be part of it.
            let doctype_open = self.doctype_open;
            let written = span.slice(self.scan.text);
            let declares = ["<!ENTITY", "SYSTEM", "PUBLIC"]
                .iter()
                .any(|word| written.contains(word));
            let is_hidden =
                |fault: &XmlFault| declares && fault.kind == XmlFaultKind::UnknownEntity;
            let used = self
                .faults
                .iter()
                .find(|fault| is_hidden(fault))
                .map(|fault| fault.span);
            self.faults
                .retain(|fault| !doctype_open && !is_hidden(fault));
            self.record_fault(XmlFaultKind::Doctype, span, used);
        }
        if self.faults.len() > 1 {
            self.faults.sort_by_key(|fault| fault.span.start);
        }
    }

    fn read_content(&mut self) -> Flow {
        // Decoding strips the byte order mark; an editor's text may still begin with it.
        if self.scan.text.starts_with('\u{feff}') {
            self.scan.at = '\u{feff}'.len_utf8();
        }
        self.read_declaration()?;
        loop {
            if self.conflict.is_some() {
                self.leave_conflict();
            }
            if self.scan.peek() != Some(b'<') || !self.is_markup() {
                if self.scan.peek().is_none() {
                    return Ok(());
                }
                self.read_text()?;
                continue;
            }
            match self.scan.peek_at(1) {
                Some(b'/') => self.read_end_tag()?,
                Some(b'!') => self.read_bang_markup()?,
                Some(b'?') => self.read_instruction()?,
                Some(b'[') => self.read_misspelt_cdata(8)?,
                _ => self.read_start_tag()?,
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
                .is_some_and(|byte| byte_class(byte) & class::NAME_START != 0)
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
    fn finish_tree(&mut self, stopped: bool) {
        if stopped {
            let end = self.scan.at as u32;
            while let Some(open) = self.scratch.open.pop() {
                self.mark_damaged(open.node);
                if let Some(raw) = self.raw_mut(open.node) {
                    raw.inner.end = end.max(raw.inner.start);
                    raw.end = raw.inner.end;
                }
            }
            return;
        }
        // An error here has no effect: it has been recorded already.
        let _ = self.close_unclosed(0, self.scan.bytes.len());
        if self.tree.root == NO_NODE {
            self.faults
                .retain(|fault| fault.kind != XmlFaultKind::TextOutsideRoot);
            if self.faults.is_empty() {
                let end = self.scan.text.trim_end().len();
                self.record_fault(XmlFaultKind::NoRoot, Span::empty_at(end as u32), None);
            }
        }
    }
}
