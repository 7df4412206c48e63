//! Walks the texts, words and conditions of a body and checks each use of a variable against the
//! bindings.

use super::fault::{ParameterOrigin, ScopeFault, ScopeFaultKind, TextFileSpan, UsePlace};
use super::flow::ValueFacts;
use super::state::{ImplicitParameter, ScopeWalk, TextReader};
use super::used::{self, FoundUse, VariableUse};
use crate::base::source::LineIndex;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest_candidate;
use crate::jinja::parse::find_first_reads;
use crate::syntax::tree::{Attribute, Element};
use crate::template::condition::{self, ValueDemand};
use crate::template::expression::{ExpressionFault, ExpressionFaultKind};
use crate::template::keywords::{TextSyntax, Trust};
use crate::template::model::TaskBody;
use crate::template::names::{Unfenced, UseCertainty};
use crate::template::parts::{Str, Substitution, TextElement};
use crate::template::round_names::is_last_word_of;
use crate::template::texts::TextRole;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::Arc;

/// The size in bytes from which on a composed text is recorded.
const LARGE_TEXT_BYTES: u64 = 1 << 20;
/// The maximum number of such texts that are recorded.
const MAX_LARGE_TEXTS: usize = 64;

impl<'m, 'a: 'm> ScopeWalk<'m, 'a, '_> {
    pub(super) fn walk_files(&mut self, task: &'m TaskBody<'a>) {
        let Some(files) = &task.files else { return };
        for word in files.paths.iter().chain(&files.command) {
            used::find_in_word(files.element, word, &mut |found| {
                self.resolve_use(TextRole::Files, found);
            });
        }
    }

    pub(super) fn check_relevance(&mut self, task: &'m TaskBody<'a>) {
        if task.relevance.is_empty() {
            return;
        }
        let names = || {
            task.inputs
                .iter()
                .filter_map(|input| input.name.as_ref())
                .map(|name| &*name.value)
        };
        let known: HashSet<&str> = names().collect();
        self.trace_relevance(task);
        for entry in &task.relevance {
            let Some(name) = entry
                .name
                .as_ref()
                .filter(|name| !known.contains(&*name.value))
            else {
                continue;
            };
            if entry.element.is_damaged() {
                continue;
            }
            let near = self
                .spend_comparisons(known.len())
                .then(|| nearest_candidate(&name.value, names()).map(str::to_owned))
                .flatten();
            let kind = ScopeFaultKind::UnknownInput {
                name: name.value.clone(),
                near,
            };
            self.scopes.record_fault(ScopeFault::new(kind, name.span));
        }
    }

    /// True if searching that many names for a similar one is within the definition's limit, which
    /// the search reduces.
    fn spend_comparisons(&mut self, names: usize) -> bool {
        let may = names <= self.nearest;
        self.nearest = self.nearest.saturating_sub(names);
        may
    }

    pub(super) fn walk_from(&mut self, from: &Str<'a>) {
        used::find_in_from(from, &mut |found| self.resolve_use(TextRole::Input, found));
    }

    pub(super) fn check_condition(&mut self, test: &Str<'a>) {
        used::find_in_condition(test, &mut |found| self.resolve_use(TextRole::Input, found));
        let exact = test.span.len() as usize == test.value.len();
        let place = if exact {
            condition::ConditionPosition::Exact(test.span.start)
        } else {
            condition::ConditionPosition::Whole(test.span)
        };
        let Ok(parsed) = condition::parse(&test.value, place) else {
            return;
        };
        for (path, wanted) in condition::collect_demands(&parsed) {
            let Some(id) = self.env.find_binding(&path.root.value).map(|own| own.id) else {
                continue;
            };
            let written = path.to_string();
            let found = self
                .flow
                .part_type(id, written.get(path.root.value.len()..).unwrap_or_default());
            let meets = |word: &str| match wanted {
                ValueDemand::Truth => word == "boolean",
                ValueDemand::Number => matches!(word, "number" | "integer"),
                ValueDemand::Text => matches!(word, "string" | "text"),
                ValueDemand::Ordered => matches!(word, "number" | "integer" | "string" | "text"),
            };
            if let Some(found) = found.filter(|word| !meets(word)) {
                let kind = ScopeFaultKind::ConditionType {
                    name: written,
                    found,
                    wanted,
                };
                self.scopes
                    .record_fault(ScopeFault::new(kind, path.root.span));
            }
        }
    }

    /// Walks a text. Its own trust mark is left to the value that the text is part of.
    pub(super) fn walk_text(&mut self, role: TextRole, text: &TextElement<'a>) {
        self.trace_text(text);
        self.trace_fragments(text);
        if let Some(unfenced) = self
            .unfenced_place(role)
            .filter(|_| text.trust == Trust::Untrusted)
        {
            let source = text
                .element
                .attribute("trust")
                .map_or(text.element.name_span(), Attribute::span);
            self.scopes.record_fault(ScopeFault::new(
                ScopeFaultKind::FromOutside(unfenced),
                source,
            ));
        }
        if text.element.is_damaged() {
            self.unknown += 1;
            return;
        }
        if text
            .element
            .elements()
            .any(|child| child.namespace().is_none())
        {
            self.unknown += 1;
            self.record_fragments(text, self.unfenced_place(role));
        }
        self.record_blank_source(role, text);
        let used = self.flow.used.len();
        if text.substitution == Substitution::On {
            #[cfg(feature = "assemble")]
            let faults = self.scopes.faults.len();
            self.find_uses(text, &mut |walk, found| walk.resolve_use(role, found));
            #[cfg(feature = "assemble")]
            if text.syntax == TextSyntax::Jinja && self.scopes.faults.len() == faults {
                self.try_defaults(text, used);
            }
        }
        let own = text.element.inner().len() as usize;
        self.size = self.flow.min_text_size(own, used);
        if self.size > LARGE_TEXT_BYTES
            && self.size > 2 * own as u64
            && self.scopes.grown.len() < MAX_LARGE_TEXTS
        {
            self.scopes
                .grown
                .push((text.element.name_span(), self.size));
        }
    }

    /// The kind of unfenced place that a text of this role is; `None` if its values are fenced.
    fn unfenced_place(&self, role: TextRole) -> Option<Unfenced> {
        let is_shown = !matches!(
            role,
            TextRole::Input | TextRole::Arg | TextRole::InitialValue | TextRole::Files
        );
        if role == TextRole::System {
            Some(Unfenced::System)
        } else if role == TextRole::Command && self.reader == TextReader::Shell {
            Some(Unfenced::Shell)
        } else {
            (self.is_bare && is_shown).then_some(Unfenced::Bare)
        }
    }

    /// Records a text file without content.
    pub(super) fn record_blank_source(&mut self, role: TextRole, text: &TextElement<'a>) {
        if let Some(src) = &text.src
            && (self.sources)(&src.value).is_some_and(|content| content.trim().is_empty())
        {
            self.scopes.blank.push((role, src.span));
        }
    }

    /// Finds the uses of variables in a text, in the template or in a separate file.
    pub(super) fn find_uses(
        &mut self,
        text: &TextElement<'a>,
        take: &mut dyn FnMut(&mut Self, FoundUse<'a>),
    ) {
        let Some(src) = &text.src else {
            match text.syntax {
                TextSyntax::Plain => {
                    used::find_in_text(text.element, &mut |found| take(self, found));
                }
                TextSyntax::Jinja => {
                    used::find_in_jinja(text.element, &mut |found| take(self, found));
                }
            }
            return;
        };
        let Some(content) = (self.sources)(&src.value) else {
            self.unknown += 1;
            return;
        };
        let (first, used) = (self.scopes.faults.len(), self.flow.uses.len());
        match text.syntax {
            TextSyntax::Plain => {
                used::find_in_source(text.element, src.span, &content, &mut |found| {
                    take(self, found);
                });
            }
            TextSyntax::Jinja => {
                used::find_in_jinja_source(src.span, &content, &mut |found| take(self, found));
            }
        }
        if let Some(faults) = self
            .scopes
            .faults
            .get_mut(first..)
            .filter(|faults| !faults.is_empty())
        {
            move_faults_to_source(faults, src, &content);
        }
        if self.flow.uses.len() > used {
            let lines = LineIndex::new(&content);
            // In a Jinja text, the position of the first occurrence of the name.
            let places = (text.syntax == TextSyntax::Jinja).then(|| find_first_reads(&content));
            self.flow.update_positions(used, |word, (span, start)| {
                if let Some(places) = &places {
                    *span = places
                        .get(word)
                        .map_or(*span, |at| Span::from_offsets(*at, at + word.len()));
                }
                *start = lines.position(&content, span.start);
            });
        }
    }

    /// Checks a use against the bindings.
    fn resolve_use(&mut self, role: TextRole, found: FoundUse<'a>) {
        let used = match found {
            FoundUse::JinjaFunction(used) if self.env.find_binding(&used.name).is_none() => return,
            FoundUse::Variable(used) | FoundUse::JinjaFunction(used) => {
                self.trace_variable(&used);
                used
            }
            FoundUse::Member(used, is_certain) => {
                let bound = self.env.find_binding(&used.name).map(|binding| binding.id);
                let implicit = || {
                    self.scopes
                        .implicit
                        .get(*self.implicit.get(&*used.name)?)
                        .map(|implicit| implicit.id)
                };
                if let Some(id) = bound.or_else(implicit) {
                    let src = (used.place == UsePlace::Source).then_some(used.span);
                    self.flow.record_use(id, &used.path, src, None);
                    self.flow.set_last_certainty(if is_certain {
                        UseCertainty::Always
                    } else {
                        UseCertainty::Unknown
                    });
                }
                return;
            }
            FoundUse::TemplateCall(call, element) => {
                let is_value = matches!(
                    role,
                    TextRole::Input | TextRole::Arg | TextRole::InitialValue | TextRole::Files
                );
                if is_value
                    || call.place != UsePlace::Text
                    || self.env.find_binding(&call.name).is_none()
                {
                    return self.report_misplaced_call(&call, element);
                }
                call
            }
            FoundUse::Fault(fault) => {
                // An unreadable expression may use any name.
                self.unknown += 1;
                self.scopes.record_fault(fault);
                return;
            }
        };
        let (path, src) = (
            used.path.clone(),
            (used.place == UsePlace::Source).then_some(used.span),
        );
        let id = match self.env.find_binding(&used.name) {
            Some(binding) => {
                binding.is_read = true;
                Some(binding.id)
            }
            None => self.resolve_unbound(used),
        };
        let Some(id) = id else { return };
        self.flow
            .record_use(id, &path, src, self.unfenced_place(role));
        self.flow.used.push((id, path.value));
    }

    /// Reports a call in a place where calls are not allowed; its variables are unknown.
    pub(super) fn report_misplaced_call(&mut self, call: &VariableUse<'a>, element: Element<'a>) {
        self.unknown += 1;
        let fault = ExpressionFault {
            kind: ExpressionFaultKind::MisplacedCall,
            span: call.span,
            expression: call.span,
        };
        self.scopes.record_fault(ScopeFault::new(
            ScopeFaultKind::Expression { fault, element },
            call.span,
        ));
    }

    /// Returns the innermost bound name of a round whose last word this is.
    fn round_name_of_word(&self, word: &str) -> Option<&'m str> {
        let mut names = self.env.round_names();
        names.rfind(|name| is_last_word_of(word, name))
    }

    /// Resolves an unbound variable; returns its number in the flow of names if a run passes it.
    pub(super) fn resolve_unbound(&mut self, used: VariableUse<'a>) -> Option<u32> {
        let VariableUse {
            name, span, inside, ..
        } = used;
        if let Some(step) = self.later.find_binding(&name) {
            let kind = ScopeFaultKind::NotYet {
                name,
                result: step.span,
            };
            self.scopes.record_fault(ScopeFault::new(kind, inside));
            return None;
        }
        let absent = self.absent.iter().rev().find(|(row, _)| row.name == name);
        let needs = absent.and_then(|(row, _)| row.required_child);
        if let Some(origin) = absent
            .map(|(_, task)| ParameterOrigin::Task(*task))
            .or_else(|| self.origins.last().copied())
        {
            if self.damaged > 0 || self.hidden.contains(&name) {
                return None;
            }
            let may = needs.is_none() && self.spend_comparisons(self.env.binding_count());
            let near = may
                .then(|| {
                    nearest_candidate(&name, self.env.bound_names())
                        .or_else(|| self.round_name_of_word(&name))
                        .map(str::to_owned)
                })
                .flatten();
            let kind = ScopeFaultKind::Undeclared {
                name,
                near,
                origin,
                needs,
            };
            self.scopes.record_fault(ScopeFault::new(kind, inside));
            return None;
        }
        // A misspelled name of the language is not an implicit parameter.
        let near = self
            .spend_comparisons(self.env.binding_count())
            .then(|| nearest_candidate(&name, self.env.round_names()))
            .flatten();
        if let (Some(near), Some(owner)) = (near, self.file.definitions.get(self.owner as usize)) {
            let kind = ScopeFaultKind::Undeclared {
                name,
                near: Some(near.to_owned()),
                origin: ParameterOrigin::Task(owner.element()),
                needs: None,
            };
            self.scopes.record_fault(ScopeFault::new(kind, inside));
            return None;
        }
        if let Some(known) = self
            .implicit
            .get(&*name)
            .and_then(|at| self.scopes.implicit.get_mut(*at))
        {
            known.name.span = known.name.span.min(span);
            return Some(known.id);
        }
        self.implicit
            .insert(name.to_string(), self.scopes.implicit.len());
        let id = self.flow.add_name(name.clone(), ValueFacts::default());
        self.flow
            .set_position(id, ["/parameters/", &*name].concat(), span);
        self.flow.add_parameter(id, true);
        self.scopes.implicit.push(ImplicitParameter {
            owner: self.owner,
            name: Spanned::new(name, span),
            kind: None,
            id,
        });
        Some(id)
    }
}

/// Moves the faults of a separate text file to its `src`, with their positions in the text.
pub(super) fn move_faults_to_source(faults: &mut [ScopeFault<'_>], src: &Str<'_>, text: &str) {
    let written = Arc::<str>::from(&*src.value);
    let lines = LineIndex::new(text);
    let places = LazyCell::new(|| find_first_reads(text));
    for fault in faults {
        let name = if let ScopeFaultKind::Undeclared { name, .. }
        | ScopeFaultKind::NotYet { name, .. } = &fault.kind
        {
            Some(name)
        } else {
            None
        };
        let unknown = name.filter(|_| fault.span.is_empty());
        let span = unknown.and_then(|name| places.get(&**name)).copied();
        let span = span.zip(name).map_or(fault.span, |(at, name)| {
            Span::from_offsets(at, at + name.len())
        });
        let start = lines.position(text, span.start);
        fault.inside = Some(TextFileSpan {
            written: Arc::clone(&written),
            span,
            start,
        });
        fault.span = src.span;
    }
}
