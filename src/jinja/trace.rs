//! Tracks where each byte that a Jinja text writes comes from: the template and its line, a variable, or a fence.
//!
//! What is captured (`set`, `filter`, macros) is tracked too: written as it is, or trimmed, it has its own lines.
//! The output of a filter has the line of the tag that writes it.

use super::outputs::Output;
use std::collections::BTreeMap;
use std::ops::Range;

/// Makes the two sides of a fence of the names that reach what stands in it, and of what stands in it.
pub(crate) type Fence = Box<dyn Fn(&str, &str) -> (String, String) + Send + Sync>;

/// Who says a stretch.
#[derive(Clone, Debug)]
pub(crate) enum ByteOrigin {
    /// The author, so many lines below the first.
    Author(u32),
    /// The value of a name, and nothing else.
    Value(String),
    /// An output or a statement so many lines below the first line, whatever it took it from.
    Output(u32),
    /// A fence.
    Fence,
}

/// A stretch of what a text became.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// Its bytes.
    pub(crate) range: Range<usize>,
    /// Who says it.
    pub(crate) says: ByteOrigin,
}

/// A text that is being written, and its stretches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) stretches: Vec<Stretch>,
}

impl Written {
    fn push(&mut self, words: &str, says: ByteOrigin) {
        if !words.is_empty() {
            let start = self.text.len();
            self.text.push_str(words);
            self.stretches.push(Stretch { range: start..self.text.len(), says });
        }
    }
}

/// What has been written so far.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// The text itself.
    pub(super) whole: Written,
    /// What is being captured, the innermost last.
    open: Vec<Written>,
    /// What was captured, by its words without the space around them.
    captured: BTreeMap<String, Written>,
    /// The output that comes next.
    pub(super) output: usize,
}

impl Trace {
    fn here(&mut self) -> &mut Written {
        self.open.last_mut().unwrap_or(&mut self.whole)
    }

    /// What follows is kept as a value.
    pub(super) fn begin(&mut self) {
        self.open.push(Written::default());
    }

    /// Ends what was kept last.
    pub(super) fn end(&mut self) {
        if let Some(done) = self.open.pop().filter(|done| !done.text.trim().is_empty()) {
            self.captured.insert(done.text.trim().to_owned(), done);
        }
    }

    /// Plain text of the author.
    pub(super) fn plain(&mut self, words: &str, line: u32) {
        self.here().push(words, ByteOrigin::Author(line));
    }

    /// What the next output writes.
    pub(super) fn value(&mut self, words: &str, outputs: &[Output], says_nothing: bool, fence: &Fence) {
        let known = outputs.get(self.output);
        let is_kept = !self.open.is_empty();
        let fence = known
            .and_then(|known| known.fenced.as_deref())
            .filter(|_| !is_kept && !says_nothing)
            .map(|names| fence(names, words));
        let line = known.map_or(0, |known| known.line);
        if let Some((open, _)) = &fence {
            self.here().push(open, ByteOrigin::Fence);
        }
        let name = known.and_then(|known| known.name.clone()).filter(|_| !is_kept);
        match (name, self.captured.get(words.trim()).cloned()) {
            (Some(name), _) => self.here().push(words, ByteOrigin::Value(name)),
            (None, Some(kept)) => self.again(words, &kept),
            (None, None) => self.here().push(words, ByteOrigin::Output(line)),
        }
        if let Some((_, close)) = &fence {
            self.here().push(close, ByteOrigin::Fence);
        }
    }

    /// Words that were captured before, with more or less space around them.
    fn again(&mut self, words: &str, kept: &Written) {
        let space = |text: &str| text.len() - text.trim_start().len();
        let (before, length, skipped) =
            if words == kept.text { (0, words.len(), 0) } else { (space(words), words.trim().len(), space(&kept.text)) };
        for stretch in &kept.stretches {
            let part = |at: usize| (at.clamp(skipped, skipped + length) - skipped) + before;
            let from = part(stretch.range.start);
            let to = part(stretch.range.end);
            let cut = stretch.range.start.max(skipped) - stretch.range.start;
            let lost = kept.text.get(stretch.range.start..stretch.range.start + cut.min(stretch.range.len()));
            let below = lost.map_or(0, |lost| lost.matches('\n').count() as u32);
            let says = match &stretch.says {
                ByteOrigin::Author(line) => ByteOrigin::Author(line + below),
                other => other.clone(),
            };
            let first = if from == before { 0 } else { from };
            let end = if to == before + length { words.len() } else { to };
            if from < to {
                let piece = words.get(first..end).unwrap_or("").to_owned();
                self.here().push(&piece, says);
            }
        }
    }
}
