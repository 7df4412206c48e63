//! Walks the texts, words and conditions of a body and checks each use of a variable against the
//! bindings.

use super::fault::{Fault, FaultKind, Inside, Origin, Place};
use super::flow::Made;
use super::state::{Implicit, Reader, Walk};
use super::used::{self, Found, Used};
use crate::base::source::LineIndex;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest;
use crate::jinja::parse::first_reads;
use crate::syntax::tree::{Attribute, Element};
use crate::template::condition::{self, Demand};
use crate::template::expression::{ExpressionFault, ExpressionFaultKind};
use crate::template::keywords::{TextSyntax, Trust};
use crate::template::model::Task;
use crate::template::names::{Reached, Unfenced};
use crate::template::parts::{Str, Substitution, Text};
use crate::template::texts::Role;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::Arc;

/// The size in bytes from which on a composed text is recorded.
const LARGE: u64 = 1 << 20;
/// The maximum number of such texts that are recorded.
const MOST_GROWN: usize = 64;

impl<'m, 'a: 'm> Walk<'m, 'a, '_> {
    pub(super) fn files(&mut self, task: &'m Task<'a>) {
        let Some(files) = &task.files else { return };
        for word in files.paths.iter().chain(&files.command) {
            used::in_word(files.element, word, &mut |found| {
                self.take(Role::Files, found);
            });
        }
    }

    pub(super) fn relevance(&mut self, task: &'m Task<'a>) {
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
        self.chosen(task);
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
                .may_compare(known.len())
                .then(|| nearest(&name.value, names()).map(str::to_owned))
                .flatten();
            let kind = FaultKind::UnknownInput {
                name: name.value.clone(),
                near,
            };
            self.scopes.fault(Fault::new(kind, name.span));
        }
    }

    /// True if searching that many names for a similar one is within the definition's limit, which
    /// the search reduces.
    fn may_compare(&mut self, names: usize) -> bool {
        let may = names <= self.nearest;
        self.nearest = self.nearest.saturating_sub(names);
        may
    }

    pub(super) fn from(&mut self, from: &Str<'a>) {
        used::in_from(from, &mut |found| self.take(Role::Input, found));
    }

    pub(super) fn condition(&mut self, test: &Str<'a>) {
        used::in_condition(test, &mut |found| self.take(Role::Input, found));
        let exact = test.span.len() as usize == test.value.len();
        let place = if exact {
            condition::Place::Exact(test.span.start)
        } else {
            condition::Place::Whole(test.span)
        };
        let Ok(parsed) = condition::parse(&test.value, place) else {
            return;
        };
        for (path, wanted) in condition::demands(&parsed) {
            let Some(id) = self.env.find(&path.root.value).map(|own| own.id) else {
                continue;
            };
            let written = path.to_string();
            let found = self
                .flow
                .kind(id, written.get(path.root.value.len()..).unwrap_or_default());
            let meets = |word: &str| match wanted {
                Demand::Truth => word == "boolean",
                Demand::Number => matches!(word, "number" | "integer"),
                Demand::Text => matches!(word, "string" | "text"),
                Demand::Ordered => matches!(word, "number" | "integer" | "string" | "text"),
            };
            if let Some(found) = found.filter(|word| !meets(word)) {
                let kind = FaultKind::ConditionType {
                    name: written,
                    found,
                    wanted,
                };
                self.scopes.fault(Fault::new(kind, path.root.span));
            }
        }
    }

    /// Walks a text. Its own trust mark is left to the value that the text is part of.
    pub(super) fn text(&mut self, role: Role, text: &Text<'a>) {
        self.enter(text);
        self.taken_in(text);
        if let Some(unfenced) = self
            .unfenced(role)
            .filter(|_| text.trust == Trust::Untrusted)
        {
            let source = text
                .element
                .attribute("trust")
                .map_or(text.element.name_span(), Attribute::span);
            self.scopes
                .fault(Fault::new(FaultKind::FromOutside(unfenced), source));
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
            self.sites(text, self.unfenced(role));
        }
        self.blank(role, text);
        let used = self.flow.used.len();
        if text.substitution == Substitution::On {
            #[cfg(feature = "assemble")]
            let faults = self.scopes.faults.len();
            self.found(text, &mut |walk, found| walk.take(role, found));
            #[cfg(feature = "assemble")]
            if text.syntax == TextSyntax::Jinja && self.scopes.faults.len() == faults {
                self.by_default(text, used);
            }
        }
        let own = text.element.inner().len() as usize;
        self.size = self.flow.size(own, used);
        if self.size > LARGE && self.size > 2 * own as u64 && self.scopes.grown.len() < MOST_GROWN {
            self.scopes
                .grown
                .push((text.element.name_span(), self.size));
        }
    }

    /// The kind of unfenced place that a text of this role is; `None` if its values are fenced.
    fn unfenced(&self, role: Role) -> Option<Unfenced> {
        let is_shown = !matches!(
            role,
            Role::Input | Role::Arg | Role::InitialValue | Role::Files
        );
        if role == Role::System {
            Some(Unfenced::System)
        } else if role == Role::Command && self.reader == Reader::Shell {
            Some(Unfenced::Shell)
        } else {
            (self.is_bare && is_shown).then_some(Unfenced::Bare)
        }
    }

    /// Records a text file without content.
    pub(super) fn blank(&mut self, role: Role, text: &Text<'a>) {
        if let Some(src) = &text.src
            && (self.sources)(&src.value).is_some_and(|content| content.trim().is_empty())
        {
            self.scopes.blank.push((role, src.span));
        }
    }

    /// Finds the uses of variables in a text, in the template or in a separate file.
    pub(super) fn found(&mut self, text: &Text<'a>, take: &mut dyn FnMut(&mut Self, Found<'a>)) {
        let Some(src) = &text.src else {
            match text.syntax {
                TextSyntax::Plain => used::in_text(text.element, &mut |found| take(self, found)),
                TextSyntax::Jinja => used::in_jinja(text.element, &mut |found| take(self, found)),
            }
            return;
        };
        let Some(content) = (self.sources)(&src.value) else {
            self.unknown += 1;
            return;
        };
        let (first, used) = (self.scopes.faults.len(), self.flow.uses.len());
        match text.syntax {
            TextSyntax::Plain => used::in_source(text.element, src.span, &content, &mut |found| {
                take(self, found);
            }),
            TextSyntax::Jinja => {
                used::in_jinja_source(src.span, &content, &mut |found| take(self, found));
            }
        }
        if let Some(faults) = self
            .scopes
            .faults
            .get_mut(first..)
            .filter(|faults| !faults.is_empty())
        {
            settle(faults, src, &content);
        }
        if self.flow.uses.len() > used {
            let lines = LineIndex::new(&content);
            // In a Jinja text, the position of the first occurrence of the name.
            let places = (text.syntax == TextSyntax::Jinja).then(|| first_reads(&content));
            self.flow.placed(used, |word, (span, start)| {
                if let Some(places) = &places {
                    *span = places
                        .get(word)
                        .map_or(*span, |at| Span::of(*at, at + word.len()));
                }
                *start = lines.position(&content, span.start);
            });
        }
    }

    /// Checks a use against the bindings.
    fn take(&mut self, role: Role, found: Found<'a>) {
        let used = match found {
            Found::Called(used) if self.env.find(&used.name).is_none() => return,
            Found::Used(used) | Found::Called(used) => {
                self.used(&used);
                used
            }
            Found::Part(used, is_certain) => {
                let bound = self.env.find(&used.name).map(|binding| binding.id);
                let implicit = || {
                    self.scopes
                        .implicit
                        .get(*self.implicit.get(&*used.name)?)
                        .map(|implicit| implicit.id)
                };
                if let Some(id) = bound.or_else(implicit) {
                    let src = (used.place == Place::Source).then_some(used.span);
                    self.flow.part(id, &used.path, src, None);
                    self.flow.reaches(if is_certain {
                        Reached::Always
                    } else {
                        Reached::Unknown
                    });
                }
                return;
            }
            Found::Call(call, element) => {
                let is_value = matches!(
                    role,
                    Role::Input | Role::Arg | Role::InitialValue | Role::Files
                );
                if is_value || call.place != Place::Text || self.env.find(&call.name).is_none() {
                    return self.misplaced(&call, element);
                }
                call
            }
            Found::Fault(fault) => {
                // An unreadable expression may use any name.
                self.unknown += 1;
                self.scopes.fault(fault);
                return;
            }
        };
        let (path, src) = (
            used.path.clone(),
            (used.place == Place::Source).then_some(used.span),
        );
        let id = match self.env.find(&used.name) {
            Some(binding) => {
                binding.is_read = true;
                Some(binding.id)
            }
            None => self.free(used),
        };
        let Some(id) = id else { return };
        self.flow.part(id, &path, src, self.unfenced(role));
        self.flow.used.push((id, path.value));
    }

    /// Reports a call in a place where calls are not allowed; its variables are unknown.
    pub(super) fn misplaced(&mut self, call: &Used<'a>, element: Element<'a>) {
        self.unknown += 1;
        let fault = ExpressionFault {
            kind: ExpressionFaultKind::MisplacedCall,
            span: call.span,
            expression: call.span,
        };
        self.scopes.fault(Fault::new(
            FaultKind::Expression { fault, element },
            call.span,
        ));
    }

    /// Resolves an unbound variable; returns its number in the flow of names if a run passes it.
    pub(super) fn free(&mut self, used: Used<'a>) -> Option<u32> {
        let Used {
            name, span, inside, ..
        } = used;
        if let Some(step) = self.later.find(&name) {
            let kind = FaultKind::NotYet {
                name,
                result: step.span,
            };
            self.scopes.fault(Fault::new(kind, inside));
            return None;
        }
        let absent = self.absent.iter().rev().find(|(row, _)| row.name == name);
        let needs = absent.and_then(|(row, _)| row.needs);
        if let Some(origin) = absent
            .map(|(_, task)| Origin::Task(*task))
            .or_else(|| self.origins.last().copied())
        {
            if self.damaged > 0 || self.hidden.contains(&name) {
                return None;
            }
            let may = needs.is_none() && self.may_compare(self.env.mark());
            let near = may
                .then(|| nearest(&name, self.env.names()).map(str::to_owned))
                .flatten();
            let kind = FaultKind::Undeclared {
                name,
                near,
                origin,
                needs,
            };
            self.scopes.fault(Fault::new(kind, inside));
            return None;
        }
        // A misspelled name of the language is not an implicit parameter.
        let near = self
            .may_compare(self.env.mark())
            .then(|| nearest(&name, self.env.of_rounds()))
            .flatten();
        if let (Some(near), Some(owner)) = (near, self.file.definitions.get(self.owner as usize)) {
            let kind = FaultKind::Undeclared {
                name,
                near: Some(near.to_owned()),
                origin: Origin::Task(owner.element()),
                needs: None,
            };
            self.scopes.fault(Fault::new(kind, inside));
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
        let id = self.flow.name(name.clone(), Made::default());
        self.flow
            .stands(id, ["/parameters/", &*name].concat(), span);
        self.flow.takes(id, true);
        self.scopes.implicit.push(Implicit {
            owner: self.owner,
            name: Spanned::new(name, span),
            kind: None,
            id,
        });
        Some(id)
    }
}

/// Moves the faults of a separate text file to its `src`, with their positions in the text.
pub(super) fn settle(faults: &mut [Fault<'_>], src: &Str<'_>, text: &str) {
    let written = Arc::<str>::from(&*src.value);
    let lines = LineIndex::new(text);
    let places = LazyCell::new(|| first_reads(text));
    for fault in faults {
        let name = if let FaultKind::Undeclared { name, .. } | FaultKind::NotYet { name, .. } =
            &fault.kind
        {
            Some(name)
        } else {
            None
        };
        let unknown = name.filter(|_| fault.span.is_empty());
        let span = unknown.and_then(|name| places.get(&**name)).copied();
        let span = span
            .zip(name)
            .map_or(fault.span, |(at, name)| Span::of(at, at + name.len()));
        let start = lines.position(text, span.start);
        fault.inside = Some(Inside {
            written: Arc::clone(&written),
            span,
            start,
        });
        fault.span = src.span;
    }
}
