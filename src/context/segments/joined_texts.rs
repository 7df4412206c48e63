//! Segments that join several texts of a node: constraints and examples. Texts with values that are
//! not available yet form a segment of their own.

use crate::context::fill::FilledText;
use crate::context::segments::task_segments::SegmentBuilder;
use crate::kernel::context::{CutPolicy, FIRST_EXPENDABLE, Kind, Origin, TracedText};
use crate::kernel::conversation::{Speaker, Turn};
use std::collections::BTreeSet;

/// Several texts that become one segment.
#[derive(Default)]
struct JoinedTexts {
    all: FilledText,
    borders: Vec<usize>,
    /// The inputs that the deferred texts need.
    late: BTreeSet<String>,
}

impl JoinedTexts {
    /// Starts the next text, with a separator before all but the first.
    fn start_text(&mut self, between: &str) {
        let is_first = self.borders.is_empty();
        self.borders.push(self.all.text.text().len());
        self.all
            .text
            .push(if is_first { "" } else { between }, Origin::Frame);
    }

    /// Adds the facts about a text to those of the segment.
    fn merge_facts(&mut self, filled: FilledText) {
        self.all.latent.append(&filled.latent);
        self.all.unknown.extend(filled.unknown);
        self.all.untrusted.extend(filled.untrusted);
        self.all.stability = self.all.stability.max(filled.stability);
    }
}

impl SegmentBuilder<'_> {
    pub(in crate::context) fn push_constraints(&mut self) {
        if self.link.node.body.constraints.is_empty() {
            return;
        }
        let mut several = JoinedTexts::default();
        for (number, text) in self.link.node.body.constraints.iter().enumerate() {
            let fill = |author: &mut Self| {
                author.fill_one(text, &format!("constraints/{number}"), "constraint")
            };
            let Some(filled) = self.fill_known(&mut several.late, fill) else {
                continue;
            };
            several.start_text("\n");
            several.all.text.push("- ", Origin::Frame);
            append_hanging(&mut several.all.text, &filled.text);
            several.merge_facts(filled);
        }
        // A constraint is never dropped, however long the untrusted text in another one is.
        let is_kept = !several.all.untrusted.is_empty();
        let before = self.out.len();
        self.push_joined(Kind::Constraints, several, "<constraints>");
        if let Some(drafted) = self.out.get_mut(before).filter(|_| is_kept) {
            drafted.segment.priority = Some(FIRST_EXPENDABLE - 1);
        }
    }

    pub(in crate::context) fn push_examples(&mut self) {
        if self.link.node.body.examples.is_empty() {
            return;
        }
        if self.link.node.body.examples_as_turns {
            return self.push_example_turns();
        }
        let mut several = JoinedTexts::default();
        for (number, example) in self.link.node.body.examples.iter().enumerate() {
            let fill = |author: &mut Self| {
                let texts = [("input", &example.input), ("output", &example.output)];
                texts.map(|(key, text)| {
                    Some(author.fill_one(text.as_ref()?, &format!("examples/{number}/{key}"), key))
                })
            };
            let Some(filled) = self.fill_known(&mut several.late, fill) else {
                continue;
            };
            let between = if filled[0].is_some() { "\n\n" } else { "" };
            several.start_text(between);
            for (filled, word) in filled.into_iter().zip(["Input:\n", "\nOutput:\n"]) {
                let Some(filled) = filled else { continue };
                several.all.text.push(word, Origin::Frame);
                several.all.text.append(&filled.text);
                several.merge_facts(filled);
            }
        }
        self.push_joined(Kind::Examples, several, "<examples>");
    }

    /// Adds each example as two messages: the user's question and the agent's answer.
    fn push_example_turns(&mut self) {
        for (number, example) in self.link.node.body.examples.iter().enumerate() {
            let mut all = FilledText::default();
            let mut turns = Vec::new();
            let mut is_blank = false;
            let asked = (Speaker::User, "input", &example.input);
            for (speaker, key, text) in [asked, (Speaker::Assistant, "output", &example.output)] {
                let Some(text) = text else { continue };
                let filled = self.fill_one(text, &format!("examples/{number}/{key}"), key);
                is_blank |= filled.unknown.is_empty()
                    && self.faults.is_empty()
                    && filled.text.text().trim().is_empty();
                turns.push(Turn::new(speaker, filled.text.text()));
                all.text.append(&filled.text);
                all.latent.append(&filled.latent);
                all.unknown.extend(filled.unknown);
                all.untrusted.extend(filled.untrusted);
                all.stability = all.stability.max(filled.stability);
            }
            // An example without a question or an answer is skipped.
            if (is_blank || turns.len() < 2) && self.late.is_empty() {
                continue;
            }
            let before = self.out.len();
            self.push_segment(
                Kind::Examples,
                all,
                CutPolicy::TailAt(Vec::new()),
                "<examples>",
            );
            if let Some(drafted) = self.out.get_mut(before) {
                drafted.segment.id = format!("examples:{}", number + 1);
                drafted.segment.turns = turns;
            }
        }
    }

    /// Returns a filled text; `None` if it cannot be known yet, and then `late` collects the inputs
    /// that it needs.
    fn fill_known<T>(
        &mut self,
        late: &mut BTreeSet<String>,
        fill: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let faults = self.faults.len();
        let filled = fill(self);
        let missing = std::mem::take(&mut self.late);
        if missing.is_empty() {
            return Some(filled);
        }
        self.faults.truncate(faults);
        late.extend(missing);
        None
    }

    fn push_joined(&mut self, kind: Kind, several: JoinedTexts, why: &str) {
        self.push_segment(kind, several.all, CutPolicy::TailAt(several.borders), why);
        if !several.late.is_empty() {
            self.late = several.late;
            self.push_segment(kind, FilledText::default(), CutPolicy::Tail, why);
        }
    }
}

/// Appends a text under the preceding bullet, with all further lines indented by two.
pub(in crate::context) fn append_hanging(out: &mut TracedText, text: &TracedText) {
    let mut start = 0;
    let whole = text.text();
    for at in memchr::memchr_iter(b'\n', whole.as_bytes()) {
        out.append(&text.slice(start..at + 1));
        // The indentation of an untrusted line counts as untrusted, because its author determines
        // the number of lines.
        let letter = text
            .untrusted()
            .iter()
            .any(|range| range.start <= at && at + 1 < range.end);
        let indentation = out.text().len();
        out.push("  ", Origin::Frame);
        if letter {
            out.mark_untrusted(indentation);
        }
        start = at + 1;
    }
    out.append(&text.slice(start..whole.len()));
}
