//! Tracks the origin of each byte that a Jinja text writes: the template and its line, a variable,
//! or a fence.
//!
//! Captured text (`set`, `filter`, macros) is tracked too: if it is written unchanged, or trimmed,
//! it keeps its own lines. The output of a filter has the line of the tag that writes it.

use super::flow::{JinjaFlow, NameBits, name_bit};
use crate::base::source::LineIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Builds the opening and closing fence from the names that reach the fenced text, and from the
/// text.
pub(crate) type FenceBuilder = Box<dyn Fn(&str, &str) -> (String, String) + Send + Sync>;

/// The origin of a stretch.
#[derive(Clone, Debug)]
pub(crate) enum ByteOrigin {
    /// The author, on this line below the first.
    Author(u32),
    /// The value of a name, and nothing else.
    Value(String),
    /// An output or a statement on this line below the first, with any source.
    Output(u32),
    /// A fence.
    Fence,
}

/// A stretch of a rendered text.
#[derive(Clone, Debug)]
pub(crate) struct OutputStretch {
    /// Its bytes.
    pub(crate) range: Range<usize>,
    /// Its origin.
    pub(crate) origin: ByteOrigin,
}

/// A text that is being written, with its stretches.
#[derive(Clone, Debug, Default)]
pub(crate) struct TracedOutput {
    pub(crate) text: String,
    pub(crate) stretches: Vec<OutputStretch>,
}

impl TracedOutput {
    fn push_stretch(&mut self, words: &str, origin: ByteOrigin) {
        if !words.is_empty() {
            let start = self.text.len();
            self.text.push_str(words);
            self.stretches.push(OutputStretch {
                range: start..self.text.len(),
                origin,
            });
        }
    }
}

/// The output so far.
#[derive(Debug, Default)]
pub(super) struct OutputTrace {
    /// The output text.
    pub(super) whole: TracedOutput,
    /// The open captures, innermost last.
    open: Vec<TracedOutput>,
    /// Finished captures, by their trimmed text.
    captured: BTreeMap<String, TracedOutput>,
    /// The index of the next output.
    pub(super) output: usize,
}

impl OutputTrace {
    fn current_output(&mut self) -> &mut TracedOutput {
        self.open.last_mut().unwrap_or(&mut self.whole)
    }

    /// Starts a capture.
    pub(super) fn begin_capture(&mut self) {
        self.open.push(TracedOutput::default());
    }

    /// Ends the innermost capture.
    pub(super) fn end_capture(&mut self) {
        if let Some(done) = self.open.pop().filter(|done| !done.text.trim().is_empty()) {
            self.captured.insert(done.text.trim().to_owned(), done);
        }
    }

    /// Writes plain text of the author.
    pub(super) fn write_plain(&mut self, words: &str, line: u32) {
        self.current_output()
            .push_stretch(words, ByteOrigin::Author(line));
    }

    /// Writes the value of the next output.
    pub(super) fn write_value(
        &mut self,
        words: &str,
        outputs: &[OutputInfo],
        says_nothing: bool,
        fence: &FenceBuilder,
    ) {
        let known = outputs.get(self.output);
        let is_kept = !self.open.is_empty();
        let fence = known
            .and_then(|known| known.fenced.as_deref())
            .filter(|_| !is_kept && !says_nothing)
            .map(|names| fence(names, words));
        let line = known.map_or(0, |known| known.line);
        if let Some((open, _)) = &fence {
            self.current_output().push_stretch(open, ByteOrigin::Fence);
        }
        let name = known
            .and_then(|known| known.name.clone())
            .filter(|_| !is_kept);
        match (name, self.captured.get(words.trim()).cloned()) {
            (Some(name), _) => self
                .current_output()
                .push_stretch(words, ByteOrigin::Value(name)),
            (None, Some(kept)) => self.write_captured(words, &kept),
            (None, None) => self
                .current_output()
                .push_stretch(words, ByteOrigin::Output(line)),
        }
        if let Some((_, close)) = &fence {
            self.current_output().push_stretch(close, ByteOrigin::Fence);
        }
    }

    /// Writes captured text again, with more or less white space around it.
    fn write_captured(&mut self, words: &str, kept: &TracedOutput) {
        let space = |text: &str| text.len() - text.trim_start().len();
        let (before, length, skipped) = if words == kept.text {
            (0, words.len(), 0)
        } else {
            (space(words), words.trim().len(), space(&kept.text))
        };
        for stretch in &kept.stretches {
            let part = |at: usize| (at.clamp(skipped, skipped + length) - skipped) + before;
            let from = part(stretch.range.start);
            let to = part(stretch.range.end);
            let cut = stretch.range.start.max(skipped) - stretch.range.start;
            let lost = kept
                .text
                .get(stretch.range.start..stretch.range.start + cut.min(stretch.range.len()));
            let below = lost.map_or(0, |lost| lost.matches('\n').count() as u32);
            let origin = match &stretch.origin {
                ByteOrigin::Author(line) => ByteOrigin::Author(line + below),
                other => other.clone(),
            };
            let first = if from == before { 0 } else { from };
            let end = if to == before + length {
                words.len()
            } else {
                to
            };
            if from < to {
                let piece = words.get(first..end).unwrap_or("").to_owned();
                self.current_output().push_stretch(&piece, origin);
            }
        }
    }
}

/// The analysis of one output.
#[derive(Debug)]
pub(super) struct OutputInfo {
    /// The untrusted names that reach it, if it needs a fence.
    pub(super) fenced: Option<String>,
    /// The name whose value, or a part of it, is written. `None` for text that the template
    /// composes itself.
    pub(super) name: Option<String>,
    /// The number of lines above it in the text.
    pub(super) line: u32,
}

/// All outputs of a text, in the order of compilation.
pub(super) fn analyze_outputs(
    text: &str,
    flow: &JinjaFlow<'_>,
    names: &BTreeSet<String>,
    untrusted: &BTreeSet<String>,
) -> Vec<OutputInfo> {
    // Names that need fences come first: names without a bit of their own share the last one, and
    // are fenced together.
    let others = names.iter().filter(|name| !untrusted.contains(*name));
    let names: Vec<&str> = untrusted.iter().chain(others).map(String::as_str).collect();
    let unsafe_names = (0..untrusted.len())
        .map(name_bit)
        .fold(0, |all, bit| all | bit);
    let reached = flow.reaching_names(&names);
    let lines = LineIndex::new(text);
    let output = |output: &super::flow::FlowOutput<'_>| {
        let by = reached.get(output.node).copied().unwrap_or(0);
        let fenced = by & unsafe_names;
        let is_one = by.is_power_of_two() && by != name_bit(NameBits::BITS as usize);
        let is_part = output
            .part_of
            .is_some_and(|root| names.contains(&root) || flow.items.contains(root));
        OutputInfo {
            fenced: (fenced != 0).then(|| list_names(&names, fenced)),
            name: (is_one && is_part).then(|| list_names(&names, by)),
            line: lines.line_number(output.start as u32) - 1,
        }
    };
    flow.outputs.iter().map(output).collect()
}

fn list_names(all: &[&str], chosen: NameBits) -> String {
    let named = all
        .iter()
        .enumerate()
        .filter(|(at, _)| chosen & name_bit(*at) != 0);
    named.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}
