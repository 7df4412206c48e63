//! Jinja texts as a part of what a field says: their values, the fragments in them, and who says each stretch of what they become.

use super::fault::FaultKind;
use super::fill::{Fences, Filled, Unknown, Writer, fenced};
use crate::base::source::LineIndex;
use crate::jinja::parse::first_reads;
use crate::jinja::render::{ByteOrigin, Failed, MAX_STEPS, RenderInputs, Written, captures, certain, render, variables};
use crate::kernel::context::{Origin, Stability, Traced, Trust};
use crate::registry::body::Part;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A fragment in a Jinja text.
pub(super) struct Used {
    filled: Filled,
    /// Whether it still needs a fence: it has untrusted values, and none of them stands in one.
    is_bare: bool,
}

impl Writer<'_, '_> {
    /// A Jinja text with fragments in it is one text: each fragment is written where it stands, as the value of a name of its own.
    pub(super) fn jinja_parts(&mut self, parts: &[Part<'_>], origin: &Origin, depth: usize) {
        let words = |part: &Part<'_>| match part {
            Part::Text { text } => text.to_string(),
            Part::Use { .. } => String::new(),
        };
        let all: String = parts.iter().map(words).collect();
        // A filter would reach the fences inside of a fragment: it gets the bare text, and the fence is around what comes of it.
        let is_kept = captures(&all);
        let how = if is_kept { self.filler.bare() } else { self.filler };
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
            let Some(filled) = self.fragment(name, depth, how) else { continue };
            let mut variable = format!("fragment_{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
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

    /// A Jinja text, with what stands for the fragments in it.
    pub(super) fn jinja(&mut self, text: &str, origin: &Origin, fragments: &BTreeMap<String, Used>) {
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
            self.out.stability = self.out.stability.max(Some(bound.map_or(Stability::Call, |bound| bound.stability)));
            if bound.is_some_and(|bound| bound.trust_of(&[]) == Trust::Untrusted) {
                untrusted.insert(name.clone());
            }
            let Some(value) = bound.and_then(|bound| bound.value.as_ref()) else {
                is_known = false;
                if self.filler.unknown == Unknown::Placeholder {
                    self.out.unknown.insert(name.clone());
                } else {
                    let above = first_reads(text).get(&**name).and_then(|at| text.get(..*at)).unwrap_or("");
                    self.at = origin.clone().down(above.matches('\n').count() as u32);
                    self.missing(name, bound);
                }
                continue;
            };
            context.insert(name.clone(), value.as_ref().clone());
        }
        self.out.untrusted.extend(untrusted.iter().cloned());
        untrusted.extend(fragments.iter().filter(|(_, fragment)| fragment.is_bare).map(|(name, _)| name.clone()));
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

    /// A fault of a text that begins here, at its line.
    fn jinja_fault(&mut self, failed: Failed, origin: &Origin) {
        let (kind, above) = match failed {
            Failed::TooLarge { limit } => (FaultKind::TooLarge { limit }, 0),
            Failed::TooLong { limit } => (FaultKind::TooLong { limit }, 0),
            Failed::TooCostly { limit } => (FaultKind::TooCostly { limit }, 0),
            Failed::Jinja { detail, line, words } => (FaultKind::Jinja { detail, line, words }, line.saturating_sub(1)),
        };
        self.at = origin.clone().down(u32::try_from(above).unwrap_or(0));
        self.fault(kind);
    }

    /// A text that waits for a value.
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
            // What it will say depends on a value as a whole: a preview shows it as it is written.
            Unknown::Placeholder => self.as_written(text, origin, fragments),
        }
    }

    /// A text as it is written, with the fragments in it.
    fn as_written(&mut self, text: &str, origin: &Origin, fragments: &BTreeMap<String, Used>) {
        let tags: Vec<_> = fragments.iter().map(|(name, used)| (format!("{{{{ {name} }}}}"), name, used)).collect();
        let mut rest = text;
        let next = |rest: &str| tags.iter().filter_map(|tag| Some((rest.find(&tag.0)?, tag))).min_by_key(|(at, _)| *at);
        while let Some((at, (tag, name, used))) = next(rest) {
            self.push(rest.get(..at).unwrap_or(""), origin.clone());
            rest = rest.get(at + tag.len()..).unwrap_or("");
            let words = &used.filled.text;
            if used.is_bare && self.filler.fences == Fences::Around {
                self.out.text.append(&fenced(words, self.filler.marks, name));
            } else {
                self.out.text.append(words);
            }
        }
        self.push(rest, origin.clone());
    }

    /// A rendered text: each stretch is from whoever says it.
    fn rendered(&mut self, rendered: &Written, origin: &Origin, fragments: &BTreeMap<String, Used>) {
        // Where the fence begins that is open.
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
                // All of its lines come from the one that it is written on.
                ByteOrigin::Output(line) => {
                    words.split_inclusive('\n').for_each(|words| self.push(words, origin.clone().down(*line)));
                }
            }
        }
    }

    /// A fragment as often as it stands here: a loop writes it once more with nothing between.
    fn repeated(&mut self, fragment: &Traced, words: &str, origin: &Origin) {
        let mut rest = words;
        while let Some(behind) = rest.strip_prefix(fragment.text()).filter(|_| !fragment.is_empty()) {
            self.out.text.append(fragment);
            rest = behind;
        }
        self.push(rest, origin.clone());
    }

    /// Of a text that cannot be rendered yet, the words that it says whatever the values are. All of it is kept beside them: a
    /// change of the rest is a change of what an agent receives, too.
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
