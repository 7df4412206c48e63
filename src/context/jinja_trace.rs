//! Follows what a Jinja text writes: which bytes are the author's, and from which line; which are the value of which output; which are a fence.
//!
//! minijinja writes plain text as slices of the text that it was given, so the place of a slice is its place in the text. What is
//! captured first (`set`, `filter`, macros) is written as the value of an output, or of the statement that changes it.

use crate::base::source::LineIndex;
use minijinja::Error;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// What is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    /// Plain text of the author.
    Plain,
    /// A fence.
    Fence,
    /// A value without a number: what a statement has captured.
    Something,
    /// The value of the output with a number.
    Output(usize),
}

/// What is being written now, and below how many lines of the text: said by the formatter, heard by the sink.
#[derive(Clone, Debug, Default)]
pub(super) struct Now {
    what: Arc<AtomicUsize>,
    line: Arc<AtomicU32>,
}

impl Now {
    /// Does something while this is written.
    pub(super) fn during<E: Into<Error>>(&self, what: Writes, work: impl FnOnce() -> Result<(), E>) -> Result<(), Error> {
        let number = match what {
            Writes::Plain => 0,
            Writes::Fence => 1,
            Writes::Something => 2,
            Writes::Output(number) => number + 3,
        };
        self.what.store(number, Ordering::Relaxed);
        let done = work();
        self.what.store(0, Ordering::Relaxed);
        done.map_err(Into::into)
    }

    /// What comes next is written below so many lines.
    pub(super) fn below(&self, line: u32) {
        self.line.store(line, Ordering::Relaxed);
    }

    fn what(&self) -> Writes {
        match self.what.load(Ordering::Relaxed) {
            0 => Writes::Plain,
            1 => Writes::Fence,
            2 => Writes::Something,
            number => Writes::Output(number - 3),
        }
    }
}

/// A stretch of what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrote {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// What it is.
    pub(super) what: Writes,
    /// Lines above it in the text.
    pub(super) line: u32,
}

/// Gathers what is written, no more than it may be.
pub(super) struct Sink<'t> {
    pub(super) bytes: Vec<u8>,
    pub(super) wrote: Vec<Wrote>,
    pub(super) is_full: bool,
    most: usize,
    now: Now,
    /// The text that is rendered, and its lines.
    text: &'t str,
    lines: LineIndex,
}

impl<'t> Sink<'t> {
    /// For what this text writes.
    pub(super) fn new(text: &'t str, most: usize, now: Now) -> Self {
        Self { bytes: Vec::new(), wrote: Vec::new(), is_full: false, most, now, text, lines: LineIndex::new(text) }
    }

    /// The lines above a place of the text.
    fn above(&self, at: usize) -> u32 {
        self.lines.line(at as u32) - 1
    }
}

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let (start, what) = (self.bytes.len(), self.now.what());
        let mut line = self.now.line.load(Ordering::Relaxed);
        let place = (bytes.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        if let Some(at) = place.filter(|at| what == Writes::Plain && at + bytes.len() <= self.text.len()) {
            line = self.above(at);
            self.now.below(self.above(at + bytes.len()));
        }
        self.bytes.extend_from_slice(bytes);
        let range = start..self.bytes.len();
        match self.wrote.last_mut() {
            // A value may be written in many pieces.
            Some(last) if last.what == what && last.line == line && what != Writes::Plain => last.range.end = range.end,
            _ => self.wrote.push(Wrote { range, what, line }),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
