//! Fills a text of the registry: inserts its fragments and replaces its variables, stretch by
//! stretch.
//!
//! A missing value never becomes empty text or a marker: in a render a variable without a value is
//! a fault, and in a dry run it is recorded. Only a preview, which is never sent to an agent, shows
//! ⟨the description⟩ of the value. Untrusted values are fenced in place. Reads no file; bounded in
//! size and depth.

use super::answer_format::path_beside_template;
use super::fault::{Fault, FaultKind, FaultPlace, MissingFrom};
use super::fence_marker::FenceMarks;
use super::values::{self, BoundValue, NameScope, PathStep};
use crate::base::expansion::MAX_DEPTH;
use crate::kernel::context::{Origin, Stability, TracedText, Trust};
use crate::registry::Registry;
use crate::registry::body::{self, Text};
use crate::template::expression::{self, Expression, ScanItem, ValueStep};
use crate::template::keywords::{self, TextSyntax};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum size of a filled text in bytes.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// The treatment of a variable without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownHandling {
    /// A fault.
    Fault,
    /// The place stays variable, even if the value has a default or a value of a first round.
    Variable,
    /// The place stays variable, unless the value has a default or a value of a first round.
    Expected,
    /// The place stays variable and shows a description of the value.
    Placeholder,
}

/// The fences around untrusted values in a filled text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fences {
    /// Each untrusted value has a fence of its own.
    Around,
    /// No fences: the filled text is itself a value, and is untrusted if it contains an untrusted
    /// value.
    None,
}

/// Returns the text of a preview for a value that only a run knows.
pub(super) fn preview_placeholder(what: &str) -> String {
    format!("⟨{what}⟩")
}

/// The settings that all texts of a context share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filler<'a> {
    /// The registry that contains the fragments.
    pub(super) registry: &'a Registry,
    /// The file of the definition whose texts are filled, relative to the project root.
    pub(super) path: &'a str,
    /// The treatment of unknown values.
    pub(super) unknown: UnknownHandling,
    /// The marks of the fences around untrusted text.
    pub(super) marks: &'a FenceMarks,
    /// The fences around untrusted values.
    pub(super) fences: Fences,
}

/// A filled text.
#[derive(Clone, Debug, Default)]
pub(super) struct FilledText {
    /// The text.
    pub(super) text: TracedText,
    /// The source of texts that wait for a value, in a dry run.
    pub(super) latent: TracedText,
    /// Variables without a value, in a dry run.
    pub(super) unknown: BTreeSet<String>,
    /// Variables that it names, with or without a value.
    pub(super) used: BTreeSet<String>,
    /// The names of the untrusted values in it.
    pub(super) untrusted: BTreeSet<String>,
    /// The stability of the least stable value in it.
    pub(super) stability: Option<Stability>,
}

impl FilledText {
    /// Creates a text that contains no values.
    #[cfg(feature = "eval")]
    pub(super) fn from_words(text: &str) -> Self {
        Self {
            text: TracedText::new(text, Origin::Generated),
            ..Self::default()
        }
    }

    /// Marks the whole text as untrusted under a name, and puts a fence around it if the filler
    /// fences untrusted values.
    #[must_use]
    pub(super) fn fenced_as(mut self, name: &str, filler: Filler<'_>) -> Self {
        self.untrusted.insert(name.to_owned());
        let says_nothing = self.text.is_empty() && self.unknown.is_empty();
        if filler.fences == Fences::Around && !says_nothing {
            self.text = fence_text(&self.text, filler.marks, name);
        }
        self
    }
}

/// The faults found so far.
pub(super) type Faults = Vec<Fault>;

/// Puts a fence around a text.
pub(super) fn fence_text(text: &TracedText, marks: &FenceMarks, name: &str) -> TracedText {
    let (open, close) = marks.fence(name, text.text());
    let mut fenced = TracedText::new(open, Origin::Generated);
    fenced.append(text);
    fenced.push(&close, Origin::Generated);
    fenced.mark_untrusted(0);
    fenced
}

/// Returns true if a text of the registry is marked as untrusted.
pub(super) fn is_from_outside(text: &Text<'_>) -> bool {
    text.trust == keywords::Trust::Untrusted
}

/// Fills the text of one field.
pub(super) struct FieldWriter<'a, 'o> {
    pub(super) filler: Filler<'a>,
    pub(super) scope: &'a NameScope,
    place: &'a FaultPlace,
    /// The origin of the line that is being written.
    pub(super) at: Origin,
    pub(super) out: FilledText,
    faults: &'o mut Faults,
}

impl<'a> Filler<'a> {
    /// Returns a filler for the texts of another file.
    #[must_use]
    pub(super) const fn for_file<'b>(self, path: &'b str) -> Filler<'b>
    where
        'a: 'b,
    {
        Filler { path, ..self }
    }

    /// Returns a filler for a text that becomes a value.
    #[must_use]
    pub(super) const fn without_fences(self) -> Self {
        Self {
            fences: Fences::None,
            ..self
        }
    }

    /// Fills a text of the registry.
    pub(super) fn fill(
        self,
        text: &'a Text<'_>,
        place: &'a FaultPlace,
        scope: &'a NameScope,
        faults: &mut Faults,
    ) -> FilledText {
        let origin = match text.src.as_deref() {
            Some(src) => Origin::File {
                path: path_beside_template(self.path, src),
                line: 0,
            },
            None => Origin::Template {
                task: place.definition.clone(),
                node: place.node.clone(),
                field: place.field.clone(),
                line: 0,
            },
        };
        let mut writer = FieldWriter {
            filler: self,
            scope,
            place,
            at: origin.clone(),
            out: FilledText::default(),
            faults,
        };
        writer.write_text(text, &origin, 0);
        writer.out
    }
}

impl<'a> FieldWriter<'a, '_> {
    pub(super) fn report_fault(&mut self, kind: FaultKind) {
        self.faults.push(Fault {
            at: Some(Box::new(self.at.clone())),
            ..Fault::at_place(self.place.clone(), kind)
        });
    }

    /// Writes a text by its own syntax, parts and trust.
    fn write_text(&mut self, text: &'a Text<'_>, origin: &Origin, depth: usize) {
        let verbatim = text.verbatim;
        let is_jinja = text.syntax == TextSyntax::Jinja;
        let mut line = 0;
        let mut words = |writer: &mut Self, words: &'a str| {
            let above = origin.clone().shifted_by_lines(line);
            line += memchr::memchr_iter(b'\n', words.as_bytes()).count() as u32;
            match () {
                () if verbatim => writer.push(words, above),
                () if is_jinja => writer.write_jinja(words, &above, &BTreeMap::new()),
                () => writer.write_plain(words, &above),
            }
            writer.at = origin.clone().shifted_by_lines(line);
        };
        if let Some(text) = &text.text {
            words(self, text);
        }
        if is_jinja && !verbatim && text.used_fragments().next().is_some() {
            return self.write_jinja_parts(text.parts(), origin, depth);
        }
        for part in text.parts() {
            match part {
                body::TextPart::Text { text } => words(self, text),
                body::TextPart::Use { name } => {
                    let Some(inner) = self.fill_fragment(name, depth, self.filler) else {
                        continue;
                    };
                    if self.out.text.text().len() + inner.text.text().len() <= MAX_BYTES {
                        self.out.text.append(&inner.text);
                        self.out.latent.append(&inner.latent);
                    } else {
                        self.report_too_large();
                    }
                    self.merge_facts(inner);
                }
            }
        }
    }

    /// Adds the facts about a fragment's values to those of the whole text.
    pub(super) fn merge_facts(&mut self, inner: FilledText) {
        self.out.unknown.extend(inner.unknown);
        self.out.used.extend(inner.used);
        self.out.untrusted.extend(inner.untrusted);
        self.out.stability = self.out.stability.max(inner.stability);
    }

    /// Returns a filled fragment.
    pub(super) fn fill_fragment(
        &mut self,
        name: &str,
        depth: usize,
        filler: Filler<'a>,
    ) -> Option<FilledText> {
        if depth >= MAX_DEPTH {
            self.report_fault(FaultKind::TooDeep {
                name: name.to_owned(),
                limit: MAX_DEPTH,
            });
            return None;
        }
        // Fragments that each use two others double their text at each level, so nothing is added
        // to a text that is already too large.
        if self.is_too_large() {
            return None;
        }
        let registry = self.filler.registry;
        let Some(fragment) = registry.fragment(name) else {
            self.report_fault(FaultKind::NoFragment {
                name: name.to_owned(),
            });
            return None;
        };
        let text = match registry.fragment_text(fragment) {
            Ok(text) => text,
            Err(error) => {
                self.report_fault(FaultKind::Registry(error.to_string()));
                return None;
            }
        };
        let origin = match text.src.as_deref() {
            Some(src) => Origin::File {
                path: path_beside_template(&fragment.source().path, src),
                line: 0,
            },
            None => Origin::Fragment {
                name: name.to_owned(),
                line: 0,
            },
        };
        let is_untrusted = is_from_outside(&text);
        // A text that is untrusted as a whole gets one fence around it and none inside.
        let inside = if is_untrusted {
            filler.without_fences()
        } else {
            filler
        };
        // The text of the fragment lives only in this function, so it is written by a separate
        // writer.
        let scope = self.scope;
        let place = self.place;
        let at = origin.clone();
        let out = FilledText::default();
        let mut inner = FieldWriter {
            filler: inside,
            scope,
            place,
            at,
            out,
            faults: self.faults,
        };
        inner.write_text(&text, &origin, depth + 1);
        let text = inner.out;
        Some(if is_untrusted {
            text.fenced_as(name, filler)
        } else {
            text
        })
    }

    pub(super) fn push(&mut self, text: &str, origin: Origin) {
        if self.out.text.text().len() + text.len() > MAX_BYTES {
            self.report_too_large();
        } else if !self.is_too_large() {
            self.out.text.push(text, origin);
        }
    }

    fn report_too_large(&mut self) {
        if !self.is_too_large() {
            self.report_fault(FaultKind::TooLarge { limit: MAX_BYTES });
        }
    }

    /// Returns true if the same fault of this field is already reported, for any line.
    fn is_reported(&self, kind: &FaultKind) -> bool {
        self.faults
            .iter()
            .any(|fault| *fault.kind == *kind && fault.place.as_ref() == Some(self.place))
    }

    /// Returns true if a text of this context is already reported as too large; texts made of it
    /// need no report of their own.
    fn is_too_large(&self) -> bool {
        self.faults
            .iter()
            .any(|fault| matches!(*fault.kind, FaultKind::TooLarge { .. }))
    }

    fn write_plain(&mut self, text: &str, origin: &Origin) {
        let mut line = 0;
        let known = self.out.latent.text().len();
        for piece in expression::scan_plain(text, 0) {
            let span = match &piece {
                ScanItem::Text(span) | ScanItem::Escaped(span) => *span,
                ScanItem::Expression(found) => found.span,
                // A compiled text contains none; unreadable source is kept as written.
                ScanItem::Fault(fault) => fault.expression,
            };
            let written = span.slice(text);
            let here = || origin.clone().shifted_by_lines(line);
            match piece {
                ScanItem::Text(_) | ScanItem::Fault(_) => self.push(written, here()),
                ScanItem::Escaped(_) => self.push("{{", here()),
                ScanItem::Expression(found) => {
                    self.at = here();
                    self.write_expression(&found.value);
                }
            }
            line += memchr::memchr_iter(b'\n', written.as_bytes()).count() as u32;
        }
        // The place of an unknown value and the source around it are part of the future text.
        if self.out.latent.text().len() > known {
            self.out.latent.push(text, origin.clone());
        }
    }

    fn write_expression(&mut self, found: &Expression<'_>) {
        match found {
            Expression::Path(path) => {
                let part = |step: &ValueStep<'_>| match step {
                    ValueStep::Field(name) => PathStep::Field(Cow::Owned(name.value.to_string())),
                    ValueStep::Index(index) => PathStep::Index(index.value),
                };
                let rest: Vec<PathStep<'_>> = path.rest.iter().map(part).collect();
                self.write_variable(&path.root.value, &rest);
            }
            // The result of a call is bound under the source of the call.
            Expression::Call(call) => self.write_variable(&call.to_string(), &[]),
            Expression::Text(text) => self.push(&text.value, Origin::Generated),
            Expression::Number(number) => self.push(&number.value, Origin::Generated),
            Expression::Boolean(value) => {
                self.push(
                    if value.value { "true" } else { "false" },
                    Origin::Generated,
                );
            }
        }
    }

    fn write_variable(&mut self, root: &str, rest: &[PathStep<'_>]) {
        self.out.used.insert(root.to_owned());
        let bound = self.scope.get(root);
        self.out.stability = self
            .out
            .stability
            .max(Some(bound.map_or(Stability::Call, |bound| bound.stability)));
        let Some((bound, value)) = bound.and_then(|bound| Some((bound, bound.value.as_ref()?)))
        else {
            let origin = bound.map(|bound| &bound.origin);
            let is_untrusted = bound.is_some_and(|bound| bound.trust_of(rest) == Trust::Untrusted);
            if is_untrusted {
                self.out.untrusted.insert(root.to_owned());
            }
            self.report_missing(root, bound);
            let start = self.out.text.text().len();
            self.write_stand_in(|| {
                let (origin, named) = missing_source(origin);
                let what = if origin == MissingFrom::Input {
                    "input"
                } else {
                    "result of"
                };
                format!("{what} {}", named.unwrap_or(root))
            });
            if is_untrusted {
                self.out.text.mark_untrusted(start);
            }
            return;
        };
        let Some(value) = values::find_part(value, rest) else {
            let whole: &Value = value;
            let fault = FaultKind::NoPart {
                name: root.to_owned(),
                path: values::path_text(root, rest),
                found: values::describe_kind(whole),
            };
            return self.report_fault(fault);
        };
        let words = values::to_text(value);
        let trust = bound.trust_of(rest);
        if trust == Trust::Untrusted {
            self.out.untrusted.insert(root.to_owned());
        }
        if trust == Trust::Trusted || self.filler.fences == Fences::None {
            return self.push(&words, bound.origin.clone());
        }
        let (open, close) = self.filler.marks.fence(root, &words);
        let start = self.out.text.text().len();
        self.push(&open, Origin::Generated);
        self.push(&words, bound.origin.clone());
        self.push(&close, Origin::Generated);
        self.out.text.mark_untrusted(start);
    }

    /// Writes the stand-in for an unknown value: its description in a preview, an open position in
    /// a dry run.
    fn write_stand_in(&mut self, what: impl FnOnce() -> String) {
        match self.filler.unknown {
            UnknownHandling::Fault => {}
            UnknownHandling::Variable | UnknownHandling::Expected => self.out.text.mark_open(),
            UnknownHandling::Placeholder => {
                self.push(&preview_placeholder(&what()), Origin::Generated);
            }
        }
    }

    pub(super) fn report_missing(&mut self, name: &str, bound: Option<&BoundValue>) {
        let (origin, named) = missing_source(bound.map(|bound| &bound.origin));
        if self.filler.unknown != UnknownHandling::Fault {
            self.out.unknown.insert(name.to_owned());
            // The name of the source is recorded: the local name does not reveal the origin of the
            // value.
            self.out
                .latent
                .push(named.unwrap_or(name), Origin::Generated);
            return;
        }
        if let Some(bound) = bound.filter(|bound| !bound.argument_faults.is_empty()) {
            return self.faults.extend(bound.argument_faults.iter().cloned());
        }
        let fault = FaultKind::Missing {
            name: named.unwrap_or(name).to_owned(),
            origin,
        };
        // Once for each field, however often the variable occurs.
        if !self.is_reported(&fault) {
            self.report_fault(fault);
        }
    }
}

/// Returns the source that would supply a value, and its name there. An unbound name would come
/// from the input.
fn missing_source(origin: Option<&Origin>) -> (MissingFrom, Option<&str>) {
    origin.map_or((MissingFrom::Input, None), MissingFrom::from_origin)
}
