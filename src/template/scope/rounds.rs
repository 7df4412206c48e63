//! The parts of a reduce and of a loop with the names that their rounds bind, and the known facts
//! of answers and defaults.

use super::flow::{Made, Mark};
use super::state::Walk;
use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::facts;
use crate::template::model::{Call, Cycle, Reduce, Task};
use crate::template::parts::Parameter;
use crate::template::round_names::ROUND_NAMES;
use crate::template::texts::Role;
use crate::template::value_type;
use serde_json::Value;
use std::borrow::Cow;

impl<'m, 'a> Walk<'m, 'a, '_> {
    /// Walks the parts of a reduce; returns the values that its result is made of. Each of the
    /// `inputs` is the current one in one round.
    pub(super) fn reduce(
        &mut self,
        element: Element<'a>,
        reduce: &'m Reduce<'a>,
        inputs: Vec<(u32, Box<str>)>,
    ) -> Vec<u32> {
        let mark = self.env.mark();
        let (unknown, number) = (self.unknown, inputs.len());
        let mut made_of = Vec::new();
        let initial = reduce.initial.as_ref().map(|initial| {
            let mark = self.flow.mark();
            let made = self.inside("/initial_value", |walk| {
                walk.input(Role::InitialValue, initial)
            });
            // A name of its own, so that fragments in the text lead to it.
            let id = self.flow.name(Cow::Borrowed(""), made);
            self.flow.stands(
                id,
                [&self.path, "/initial_value"].concat(),
                initial.text.element.name_span(),
            );
            self.flow.holds(mark, initial);
            id
        });
        made_of.extend(initial);
        self.round(
            "current_input",
            Made {
                part_of: inputs.clone(),
                of: inputs,
                ..Made::default()
            },
        );
        let part = |walk: &mut Self, slot: &str, task: &'m Option<Task<'a>>| {
            task.as_ref()
                .map(|task| walk.inside(slot, |walk| walk.body(task)))
        };
        let inner = part(self, "/inner_task", &reduce.inner);
        made_of.extend(inner);
        self.round("current_result", part_of(reduce.inner.as_ref(), inner));
        // The result of the previous round, in later rounds than the first.
        let merged = self.flow.name(
            Cow::Borrowed(""),
            reduce.reduction.as_ref().map_or_else(Made::default, answer),
        );
        let of: Vec<u32> = initial.into_iter().chain([merged]).collect();
        let absent = self.absent.len();
        if initial.is_some() || self.file.holds_unread(element) {
            let accumulator = self.round(
                "accumulator",
                Made {
                    part_of: each(&of),
                    of: each(&of),
                    ..Made::default()
                },
            );
            self.flow
                .stands(accumulator, String::new(), Span::default());
        } else {
            self.lacks("initial_value", element);
        }
        self.flow.stands(
            merged,
            [&self.path, "/accumulator"].concat(),
            Span::default(),
        );
        let reduction = part(self, "/reduction_task", &reduce.reduction);
        made_of.extend(reduction);
        self.flow
            .makes(merged, each(reduction.as_slice()), Mark::None);
        self.absent.truncate(absent);
        self.unread_in_reduce(element, reduce, number, unknown);
        self.unbind(mark);
        made_of
    }

    /// Walks the parts of a loop; returns the values that its result is made of.
    pub(super) fn cycle(
        &mut self,
        element: Element<'a>,
        cycle: &'m Cycle<'a>,
        accumulates: bool,
    ) -> Vec<u32> {
        let mark = self.env.mark();
        let (unknown, carries) = (self.unknown, self.carries);
        let mut made_of = Vec::new();
        self.round(
            "current_iteration",
            Made {
                kind: Some("integer"),
                ..Made::default()
            },
        );
        // Before the first round, it is a text that states this.
        let feedback = self.round(
            "evaluation_feedback",
            Made {
                kind: Some("text"),
                ..Made::default()
            },
        );
        let mut part = |walk: &mut Self, slot: &str, task: &'m Option<Task<'a>>| {
            let before = made_of.iter().copied().filter(|_| accumulates);
            walk.before = Some(walk.flow.value(String::new(), Mark::None, before));
            let own = task
                .as_ref()
                .map(|task| walk.inside(slot, |walk| walk.body(task)));
            walk.before = None;
            made_of.extend(own);
            own
        };
        let director = part(self, "/director", &cycle.director);
        self.round(
            "director_result",
            part_of(cycle.director.as_ref(), director),
        );
        let absent = self.absent.len();
        if cycle.script.is_some() {
            let script = part(self, "/script_execution", &cycle.script);
            self.round("script_result", part_of(cycle.script.as_ref(), script));
        } else if self.file.holds_unread(element) {
            self.round("script_result", Made::default());
        } else {
            self.lacks("script_execution", element);
        }
        let evaluator = part(self, "/evaluator", &cycle.evaluator);
        self.flow
            .makes(feedback, each(evaluator.as_slice()), Mark::None);
        self.round("evaluation", part_of(cycle.evaluator.as_ref(), evaluator));
        if let Some(condition) = &cycle.condition {
            self.condition(condition);
        }
        self.absent.truncate(absent);
        self.unread_in_loop(element, cycle, carries, unknown);
        self.unbind(mark);
        made_of
    }

    /// Marks the names that require a missing child as unbound in the parts of a task.
    fn lacks(&mut self, needed: &str, element: Element<'a>) {
        self.absent.extend(
            ROUND_NAMES
                .iter()
                .filter(|row| row.needs == Some(needed))
                .map(|row| (row, element)),
        );
    }

    /// Binds a variable of each round.
    fn round(&mut self, name: &'static str, made: Made<'m>) -> u32 {
        self.bind(name, Span::default(), made, Some(&["/", name].concat()))
    }
}

/// The known facts of a part's answer.
fn part_of<'m>(task: Option<&'m Task<'_>>, own: Option<u32>) -> Made<'m> {
    let own = own.as_slice();
    Made {
        of: each(own),
        part_of: each(own),
        ..task.map_or_else(Made::default, answer)
    }
}

/// Refers to each of the values as a whole.
pub(super) fn each(names: &[u32]) -> Vec<(u32, Box<str>)> {
    names.iter().map(|name| (*name, Box::default())).collect()
}

/// The value of a parameter's default; none if it is not of the declared type, which is reported.
pub(super) fn default(parameter: &Parameter<'_>) -> Option<Box<Value>> {
    let (kind, text) = (
        parameter.kind.as_ref().map(|kind| &*kind.value),
        &*parameter.default.as_ref()?.value,
    );
    kind.is_none_or(|kind| value_type::is_default_of(text, kind))
        .then(|| Box::new(value_type::written(text, kind)))
}

/// The known facts of a task's answer.
pub(super) fn answer<'m>(task: &'m Task<'_>) -> Made<'m> {
    let answer_of = task.reference.as_ref().map(|name| name.span.start);
    Made {
        kind: facts::answer(task).filter(|_| answer_of.is_none()),
        answer_of,
        ..Made::default()
    }
}

pub(super) fn answer_of_call<'m>(call: &Call<'_>) -> Made<'m> {
    Made {
        answer_of: call.template.as_ref().map(|name| name.span.start),
        ..Made::default()
    }
}
