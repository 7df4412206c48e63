//! The parts of a reduce and of a loop, with the names that their rounds bind, and what is known of answers.

use super::flow::Made;
use super::state::Walk;
use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::facts;
use crate::template::model::{Call, Cycle, Reduce, Task};
use crate::template::texts::Role;
use std::borrow::Cow;

impl<'m, 'a> Walk<'m, 'a, '_> {
    /// The parts of a reduce. `untrusted`: whether any of its inputs is.
    pub(super) fn reduce(&mut self, reduce: &'m Reduce<'a>, untrusted: Made<'m>) {
        let mark = self.env.mark();
        let nowhere = Span::default();
        let initial = reduce.initial.as_ref().map_or_else(Made::default, |initial| {
            let mark = self.flow.mark();
            let made = self.input(Role::InitialValue, initial);
            // A name of its own, so that fragments in it lead there.
            let trust = made.trust;
            let of = vec![self.flow.name(Cow::Borrowed(""), made)];
            self.flow.holds(mark, initial);
            Made { trust, of, ..Made::default() }
        });
        self.bind("current_input", nowhere, untrusted);
        if let Some(inner) = &reduce.inner {
            self.body(inner);
        }
        self.bind("current_result", nowhere, reduce.inner.as_ref().map_or_else(Made::default, answer));
        self.bind("accumulator", nowhere, initial);
        if let Some(reduction) = &reduce.reduction {
            self.body(reduction);
        }
        self.unbind(mark);
    }

    pub(super) fn cycle(&mut self, element: Element<'a>, cycle: &'m Cycle<'a>) {
        let mark = self.env.mark();
        let bind = |walk: &mut Self, names: &[&'static str]| {
            for name in names {
                walk.bind(name, Span::default(), Made::default());
            }
        };
        let part = |task: &'m Option<Task<'a>>| task.as_ref().map_or_else(Made::default, answer);
        self.bind("current_iteration", Span::default(), Made { kind: Some("integer"), ..Made::default() });
        bind(self, &["evaluation_feedback"]);
        if let Some(director) = &cycle.director {
            self.body(director);
        }
        self.bind("director_result", Span::default(), part(&cycle.director));
        let around = self.no_script;
        if let Some(script) = &cycle.script {
            self.body(script);
            bind(self, &["script_result"]);
        } else if self.file.holds_unread(element) {
            bind(self, &["script_result"]);
        } else {
            self.no_script = Some(element);
        }
        if let Some(evaluator) = &cycle.evaluator {
            self.body(evaluator);
        }
        self.bind("evaluation", Span::default(), part(&cycle.evaluator));
        if let Some(condition) = &cycle.condition {
            self.condition(condition);
        }
        self.no_script = around;
        self.unbind(mark);
    }
}

/// What is known of what a task answers.
pub(super) fn answer<'m>(task: &'m Task<'_>) -> Made<'m> {
    let answer_of = task.reference.as_ref().map(|name| name.span.start);
    Made { kind: facts::answer(task).filter(|_| answer_of.is_none()), answer_of, ..Made::default() }
}

pub(super) fn answer_of_call<'m>(call: &Call<'_>) -> Made<'m> {
    Made { answer_of: call.template.as_ref().map(|name| name.span.start), ..Made::default() }
}
