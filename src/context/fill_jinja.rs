//! Writes Jinja texts of a field: their values, the fragments in them, and the origin of each
//! stretch of the rendered text.

use super::fault::FaultKind;
use super::fill::{Fences, Filled, Unknown, Writer, fenced};
use crate::base::source::LineIndex;
use crate::jinja::parse::first_reads;
use crate::jinja::render::{
    ByteOrigin, Failed, MAX_STEPS, RenderInputs, Written, captures, certain, render, variables,
};
use crate::kernel::context::{Origin, Stability, Traced, Trust};
use crate::registry::body::Part;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A fragment that a Jinja text uses.
pub(super) struct Used {
    filled: Filled,
    /// True if it still needs a fence: it contains untrusted values without fences of their own.
    is_bare: bool,
}

impl Writer<'_, '_> {
    /// Writes a Jinja text with fragments as one template, in which each fragment is the value of a
    /// generated variable.
    pub(super) fn jinja_parts(&mut self, parts: &[Part<'_>], origin: &Origin, depth: usize) {
        let words = |part: &Part<'_>| match part {
            Part::Text { text } => text.to_string(),
            Part::Use { .. } => String::new(),
        };
        let all: String = parts.iter().map(words).collect();
        // A filter would alter the fences inside a fragment: it receives the text without fences,
        // and the fence goes around the result.
        let is_kept = captures(&all);
        let how = if is_kept {
            self.filler.bare()
        } else {
            self.filler
        };
        let mut text = String::with_capacity(all.len());
        let mut fragments = BTreeMap::new();
        for part in parts {
            let name = match part {
                Part::Text { text: words } => {
                    text.push_str(words);
                    continue;
                }
                Part::Use { name } => name,
            };
            let Some(filled) = self.fragment(name, depth, how) else {
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
            fragments.insert(variable, Used { filled, is_bare });
        }
        self.jinja(&text, origin, &fragments);
        for fragment in fragments.into_values() {
            self.take(fragment.filled);
        }
    }

    /// Writes a Jinja text, with the fragments that its generated variables stand for.
    pub(super) fn jinja(
        &mut self,
        text: &str,
        origin: &Origin,
        fragments: &BTreeMap<String, Used>,
    ) {
        let names = match variables(text, |name| self.scope.get(name).is_some()) {
            Ok(names) => names,
            Err(failed) => return self.jinja_fault(failed, origin),
        };
        let mut context = serde_json::Map::new();
        let mut is_known = true;
        let mut untrusted = BTreeSet::new();
        for name in &names {
            if let Some(Used { filled, .. }) = fragments.get(name) {
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
                if self.filler.unknown == Unknown::Placeholder {
                    self.out.unknown.insert(name.clone());
                } else {
                    let above = first_reads(text)
                        .get(&**name)
                        .and_then(|at| text.get(..*at))
                        .unwrap_or("");
                    self.at = origin.clone().down(above.matches('\n').count() as u32);
                    self.missing(name, bound);
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
            self.waiting(text, origin, fragments);
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
        match render(text, with) {
            Ok(done) => self.rendered(&done, origin, fragments),
            Err(failed) => self.jinja_fault(failed, origin),
        }
    }

    /// Reports a fault at its line, for a text that begins at `origin`.
    fn jinja_fault(&mut self, failed: Failed, origin: &Origin) {
        let (kind, above) = match failed {
            Failed::TooLarge { limit } => (FaultKind::TooLarge { limit }, 0),
            Failed::TooLong { limit } => (FaultKind::TooLong { limit }, 0),
            Failed::TooCostly { limit } => (FaultKind::TooCostly { limit }, 0),
            Failed::Jinja {
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
        self.at = origin.clone().down(u32::try_from(above).unwrap_or(0));
        self.fault(kind);
    }

    /// Writes a text that waits for a value.
    fn waiting(&mut self, text: &str, origin: &Origin, fragments: &BTreeMap<String, Used>) {
        match self.filler.unknown {
            Unknown::Fault => {}
            Unknown::Variable | Unknown::Expected => {
                self.unrendered(text, origin);
                for Used { filled, .. } in fragments.values() {
                    self.out.latent.append(&filled.text);
                    self.out.latent.append(&filled.latent);
                }
            }
            // The rendered text depends on the value as a whole, so a preview shows the source.
            Unknown::Placeholder => self.as_written(text, origin, fragments),
        }
    }

    /// Writes the source of a text, with its fragments filled.
    fn as_written(&mut self, text: &str, origin: &Origin, fragments: &BTreeMap<String, Used>) {
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
                    .append(&fenced(words, self.filler.marks, name));
            } else {
                self.out.text.append(words);
            }
        }
        self.push(rest, origin.clone());
    }

    /// Writes a rendered text, with the origin of each stretch.
    fn rendered(
        &mut self,
        rendered: &Written,
        origin: &Origin,
        fragments: &BTreeMap<String, Used>,
    ) {
        // The start of the fence that is open.
        let mut opening = None;
        for stretch in &rendered.stretches {
            let words = rendered.text.get(stretch.range.clone()).unwrap_or("");
            match &stretch.says {
                ByteOrigin::Author(line) => self.push(words, origin.clone().down(*line)),
                ByteOrigin::Fence => {
                    let start = self.out.text.text().len();
                    self.push(words, Origin::Frame);
                    match opening.take() {
                        None => opening = Some(start),
                        Some(start) => self.out.text.mark_untrusted(start),
                    }
                }
                ByteOrigin::Value(name) => match (fragments.get(name), self.scope.get(name)) {
                    (Some(fragment), _) => self.repeated(&fragment.filled.text, words, origin),
                    (None, Some(bound)) => self.push(words, bound.origin.clone()),
                    _ => self.push(words, origin.clone()),
                },
                // All lines of the output come from the line that the expression stands on.
                ByteOrigin::Output(line) => {
                    words
                        .split_inclusive('\n')
                        .for_each(|words| self.push(words, origin.clone().down(*line)));
                }
            }
        }
    }

    /// Writes a fragment as often as it occurs in `words`: a loop may repeat it with nothing in
    /// between.
    fn repeated(&mut self, fragment: &Traced, words: &str, origin: &Origin) {
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
    fn unrendered(&mut self, text: &str, origin: &Origin) {
        self.out.latent.push(text, origin.clone());
        let lines = LineIndex::new(text);
        let mut said = 0;
        for words in certain(text) {
            if words.start > said {
                self.out.text.leave_open();
            }
            said = words.end;
            let line = lines.line(words.start as u32) - 1;
            self.push(text.get(words).unwrap_or(""), origin.clone().down(line));
        }
        if said < text.trim_end_matches(['\r', '\n']).len() {
            self.out.text.leave_open();
        }
    }
}
