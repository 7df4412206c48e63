//! The parts of a reduce and of a loop, with the names that their rounds bind, and what is known of answers and defaults.

use super::flow::Made;
use super::state::Walk;
use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::facts;
use crate::template::model::{Call, Cycle, Reduce, Task};
use crate::template::parts::Parameter;
use crate::template::shape::Shape;
use crate::template::texts::Role;
use crate::template::value_type;
use std::borrow::Cow;

impl<'m, 'a> Walk<'m, 'a, '_> {
    /// The parts of a reduce. `inputs`: what is known of all its inputs, each of which is the one at hand once.
    pub(super) fn reduce(&mut self, reduce: &'m Reduce<'a>, inputs: Made<'m>) {
        let mark = self.env.mark();
        let nowhere = Span::default();
        let initial = reduce.initial.as_ref().map_or_else(Made::default, |initial| {
            let mark = self.flow.mark();
            let made = self.input(Role::InitialValue, initial);
            // A name of its own, so that fragments in it lead there.
            let trust = made.trust;
            let of = vec![self.flow.name(Cow::Borrowed(""), made)];
            self.flow.holds(mark, initial);
            Made { trust, part_of: each(&of), of, ..Made::default() }
        });
        let part_of = each(&inputs.of);
        self.bind("current_input", nowhere, Made { part_of, ..inputs });
        if let Some(inner) = &reduce.inner {
            self.body(inner);
        }
        self.bind("current_result", nowhere, reduce.inner.as_ref().map_or_else(Made::default, answer));
        let merged = reduce.reduction.as_ref().map_or_else(Made::default, answer);
        self.bind("accumulator", nowhere, Made { kind: merged.kind, answer_of: merged.answer_of, ..initial });
        if let Some(reduction) = &reduce.reduction {
            self.body(reduction);
        }
        self.unbind(mark);
    }

    pub(super) fn cycle(&mut self, element: Element<'a>, cycle: &'m Cycle<'a>) {
        let mark = self.env.mark();
        let part = |task: &'m Option<Task<'a>>| task.as_ref().map_or_else(Made::default, answer);
        self.bind("current_iteration", Span::default(), Made { kind: Some("integer"), ..Made::default() });
        // Before the first round it is a text that says so.
        self.bind("evaluation_feedback", Span::default(), Made { kind: Some("text"), ..Made::default() });
        if let Some(director) = &cycle.director {
            self.body(director);
        }
        self.bind("director_result", Span::default(), part(&cycle.director));
        let around = self.no_script;
        if let Some(script) = &cycle.script {
            self.body(script);
            self.bind("script_result", Span::default(), answer(script));
        } else if self.file.holds_unread(element) {
            self.bind("script_result", Span::default(), Made::default());
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

/// Other names for the same value, or for each of several.
fn each(names: &[u32]) -> Vec<(u32, Box<str>)> {
    names.iter().map(|name| (*name, Box::default())).collect()
}

/// What the default of a parameter has; nothing where it is none of its type, which is reported.
pub(super) fn default(parameter: &Parameter<'_>) -> Option<Box<Shape>> {
    let (kind, text) = (&*parameter.kind.as_ref()?.value, &*parameter.default.as_ref()?.value);
    let has_parts = !matches!(Shape::declared(kind), Shape::Scalar(_)) && value_type::is_default_of(text, kind);
    has_parts.then(|| Box::new(Shape::of_value(&value_type::written(text, Some(kind)))))
}

/// What is known of what a task answers.
pub(super) fn answer<'m>(task: &'m Task<'_>) -> Made<'m> {
    let answer_of = task.reference.as_ref().map(|name| name.span.start);
    Made { kind: facts::answer(task).filter(|_| answer_of.is_none()), answer_of, ..Made::default() }
}

pub(super) fn answer_of_call<'m>(call: &Call<'_>) -> Made<'m> {
    Made { answer_of: call.template.as_ref().map(|name| name.span.start), ..Made::default() }
}
