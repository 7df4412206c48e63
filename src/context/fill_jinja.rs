//! Writes Jinja texts of a field: their values, the fragments in them, and the origin of each
//! stretch of the rendered text.

use super::fault::FaultKind;
use super::fill::{Fences, FieldWriter, FilledText, UnknownHandling, fence_text};
use crate::base::source::LineIndex;
use crate::jinja::parse::find_first_reads;
use crate::jinja::render::{
    ByteOrigin, MAX_STEPS, RenderFailure, RenderInputs, TracedOutput, certain_ranges, has_captures,
    read_variables, render_text,
};
use crate::kernel::context::{Origin, Stability, TracedText, Trust};
use crate::registry::body::TextPart;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A fragment that a Jinja text uses.
pub(super) struct JinjaFragment {
    filled: FilledText,
    /// True if it still needs a fence: it contains untrusted values without fences of their own.
    is_bare: bool,
}

impl FieldWriter<'_, '_> {
    /// Writes a Jinja text with fragments as one template, in which each fragment is the value of a
    /// generated variable.
    pub(super) fn write_jinja_parts(
        &mut self,
        parts: &[TextPart<'_>],
        origin: &Origin,
        depth: usize,
    ) {
        let words = |part: &TextPart<'_>| match part {
            TextPart::Text { text } => text.to_string(),
            TextPart::Use { .. } => String::new(),
        };
        let all: String = parts.iter().map(words).collect();
        // A filter would alter the fences inside a fragment: it receives the text without fences,
        // and the fence goes around the result.
        let is_kept = has_captures(&all);
        let how = if is_kept {
            self.filler.without_fences()
        } else {
            self.filler
        };
        let mut text = String::with_capacity(all.len());
        let mut fragments = BTreeMap::new();
        for part in parts {
            let name = match part {
                TextPart::Text { text: words } => {
                    text.push_str(words);
                    continue;
                }
                TextPart::Use { name } => name,
            };
            let Some(filled) = self.fill_fragment(name, depth, how) else {
                continue;
            };
            let mut variable = format!(
                "fragment_{}",
                name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
            );
            while all.contains(&variable) || fragments.contains_key(&variable) {
                variable.push('_');
            }
            text.extend(["{{ ", &variable, " }}"]);
            let is_bare = is_kept && !filled.untrusted.is_empty();
            fragments.insert(variable, JinjaFragment { filled, is_bare });
        }
        self.write_jinja(&text, origin, &fragments);
        for fragment in fragments.into_values() {
            self.merge_facts(fragment.filled);
        }
    }

    /// Writes a Jinja text, with the fragments that its generated variables stand for.
    pub(super) fn write_jinja(
        &mut self,
        text: &str,
        origin: &Origin,
        fragments: &BTreeMap<String, JinjaFragment>,
    ) {
        let names = match read_variables(text, |name| self.scope.get(name).is_some()) {
            Ok(names) => names,
            Err(failed) => return self.report_jinja_fault(failed, origin),
        };
        let mut context = serde_json::Map::new();
        let mut is_known = true;
        let mut untrusted = BTreeSet::new();
        for name in &names {
            if let Some(JinjaFragment { filled, .. }) = fragments.get(name) {
                is_known &= filled.unknown.is_empty();
                context.insert(name.clone(), Value::String(filled.text.text().to_owned()));
                continue;
            }
            self.out.used.insert(name.clone());
            let bound = self.scope.get(name);
            self.out.stability = self
                .out
                .stability
                .max(Some(bound.map_or(Stability::Call, |bound| bound.stability)));
            if bound.is_some_and(|bound| bound.trust_of(&[]) == Trust::Untrusted) {
                untrusted.insert(name.clone());
            }
            let Some(value) = bound.and_then(|bound| bound.value.as_ref()) else {
                is_known = false;
                if self.filler.unknown == UnknownHandling::Placeholder {
                    self.out.unknown.insert(name.clone());
                } else {
                    let above = find_first_reads(text)
                        .get(&**name)
                        .and_then(|at| text.get(..*at))
                        .unwrap_or("");
                    self.at = origin
                        .clone()
                        .shifted_by_lines(above.matches('\n').count() as u32);
                    self.report_missing(name, bound);
                }
                continue;
            };
            context.insert(name.clone(), value.as_ref().clone());
        }
        self.out.untrusted.extend(untrusted.iter().cloned());
        untrusted.extend(
            fragments
                .iter()
                .filter(|(_, fragment)| fragment.is_bare)
                .map(|(name, _)| name.clone()),
        );
        if self.filler.fences == Fences::None {
            untrusted.clear();
        }
        if !is_known {
            self.write_waiting(text, origin, fragments);
            return;
        }
        let marks = self.filler.marks.clone();
        let with = RenderInputs {
            values: &Value::Object(context),
            names: &names,
            untrusted: &untrusted,
            fence: Box::new(move |names, words| marks.fence(names, words)),
            steps: MAX_STEPS,
        };
        match render_text(text, with) {
            Ok(done) => self.write_rendered(&done, origin, fragments),
            Err(failed) => self.report_jinja_fault(failed, origin),
        }
    }

    /// Reports a fault at its line, for a text that begins at `origin`.
    fn report_jinja_fault(&mut self, failed: RenderFailure, origin: &Origin) {
        let (kind, above) = match failed {
            RenderFailure::TooLarge { limit } => (FaultKind::TooLarge { limit }, 0),
            RenderFailure::TooLong { limit } => (FaultKind::TooLong { limit }, 0),
            RenderFailure::TooCostly { limit } => (FaultKind::TooCostly { limit }, 0),
            RenderFailure::Jinja {
                detail,
                line,
                words,
            } => (
                FaultKind::Jinja {
                    detail,
                    line,
                    words,
                },
                line.saturating_sub(1),
            ),
        };
        self.at = origin
            .clone()
            .shifted_by_lines(u32::try_from(above).unwrap_or(0));
        self.report_fault(kind);
    }

    /// Writes a text that waits for a value.
    fn write_waiting(
        &mut self,
        text: &str,
        origin: &Origin,
        fragments: &BTreeMap<String, JinjaFragment>,
    ) {
        match self.filler.unknown {
            UnknownHandling::Fault => {}
            UnknownHandling::Variable | UnknownHandling::Expected => {
                self.write_certain_words(text, origin);
                for JinjaFragment { filled, .. } in fragments.values() {
                    self.out.latent.append(&filled.text);
                    self.out.latent.append(&filled.latent);
                }
            }
            // The rendered text depends on the value as a whole, so a preview shows the source.
            UnknownHandling::Placeholder => self.write_source(text, origin, fragments),
        }
    }

    /// Writes the source of a text, with its fragments filled.
    fn write_source(
        &mut self,
        text: &str,
        origin: &Origin,
        fragments: &BTreeMap<String, JinjaFragment>,
    ) {
        let tags: Vec<_> = fragments
            .iter()
            .map(|(name, used)| (format!("{{{{ {name} }}}}"), name, used))
            .collect();
        let mut rest = text;
        let next = |rest: &str| {
            tags.iter()
                .filter_map(|tag| Some((rest.find(&tag.0)?, tag)))
                .min_by_key(|(at, _)| *at)
        };
        while let Some((at, (tag, name, used))) = next(rest) {
            self.push(rest.get(..at).unwrap_or(""), origin.clone());
            rest = rest.get(at + tag.len()..).unwrap_or("");
            let words = &used.filled.text;
            if used.is_bare && self.filler.fences == Fences::Around {
                self.out
                    .text
                    .append(&fence_text(words, self.filler.marks, name));
            } else {
                self.out.text.append(words);
            }
        }
        self.push(rest, origin.clone());
    }

    /// Writes a rendered text, with the origin of each stretch.
    fn write_rendered(
        &mut self,
        rendered: &TracedOutput,
        origin: &Origin,
        fragments: &BTreeMap<String, JinjaFragment>,
    ) {
        // The start of the fence that is open.
        let mut opening = None;
        for stretch in &rendered.stretches {
            let words = rendered.text.get(stretch.range.clone()).unwrap_or("");
            match &stretch.origin {
                ByteOrigin::Author(line) => {
                    self.push(words, origin.clone().shifted_by_lines(*line));
                }
                ByteOrigin::Fence => {
                    let start = self.out.text.text().len();
                    self.push(words, Origin::Generated);
                    match opening.take() {
                        None => opening = Some(start),
                        Some(start) => self.out.text.mark_untrusted(start),
                    }
                }
                ByteOrigin::Value(name) => match (fragments.get(name), self.scope.get(name)) {
                    (Some(fragment), _) => {
                        self.write_repeated(&fragment.filled.text, words, origin);
                    }
                    (None, Some(bound)) => self.push(words, bound.origin.clone()),
                    _ => self.push(words, origin.clone()),
                },
                // All lines of the output come from the line that the expression stands on.
                ByteOrigin::Output(line) => {
                    words
                        .split_inclusive('\n')
                        .for_each(|words| self.push(words, origin.clone().shifted_by_lines(*line)));
                }
            }
        }
    }

    /// Writes a fragment as often as it occurs in `words`: a loop may repeat it with nothing in
    /// between.
    fn write_repeated(&mut self, fragment: &TracedText, words: &str, origin: &Origin) {
        let mut rest = words;
        while let Some(behind) = rest
            .strip_prefix(fragment.text())
            .filter(|_| !fragment.is_empty())
        {
            self.out.text.append(fragment);
            rest = behind;
        }
        self.push(rest, origin.clone());
    }

    /// Writes those words of an unrendered text that appear for all values. The whole source is
    /// recorded beside them, because a change of the rest also changes the agent's context.
    fn write_certain_words(&mut self, text: &str, origin: &Origin) {
        self.out.latent.push(text, origin.clone());
        let lines = LineIndex::new(text);
        let mut end = 0;
        for words in certain_ranges(text) {
            if words.start > end {
                self.out.text.mark_open();
            }
            end = words.end;
            let line = lines.line_number(words.start as u32) - 1;
            self.push(
                text.get(words).unwrap_or(""),
                origin.clone().shifted_by_lines(line),
            );
        }
        if end < text.trim_end_matches(['\r', '\n']).len() {
            self.out.text.mark_open();
        }
    }
}
