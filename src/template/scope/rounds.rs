//! The parts of a reduce and of a loop with the names that their rounds bind, and the known facts
//! of answers and defaults.

use super::flow::{TrustMark, ValueFacts};
use super::state::ScopeWalk;
use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::model::{DirectorLoop, Reduce, TaskBody, TemplateCall};
use crate::template::parts::TaskParameter;
use crate::template::round_names::ROUND_NAMES;
use crate::template::texts::TextRole;
use crate::template::{facts, value_type};
use serde_json::Value;
use std::borrow::Cow;

impl<'m, 'a> ScopeWalk<'m, 'a, '_> {
    /// Walks the parts of a reduce; returns the values that its result is made of. Each of the
    /// `inputs` is the current one in one round.
    pub(super) fn walk_reduce(
        &mut self,
        element: Element<'a>,
        reduce: &'m Reduce<'a>,
        inputs: Vec<(u32, Box<str>)>,
    ) -> Vec<u32> {
        let mark = self.env.binding_count();
        let (unknown, number) = (self.unknown, inputs.len());
        let mut made_of = Vec::new();
        let initial = reduce.initial.as_ref().map(|initial| {
            let mark = self.flow.event_count();
            let facts = self.walk_inside("/initial_value", |walk| {
                walk.walk_input(TextRole::InitialValue, initial)
            });
            // A name of its own, so that fragments in the text lead to it.
            let id = self.flow.add_name(Cow::Borrowed(""), facts);
            self.flow.set_position(
                id,
                [&self.path, "/initial_value"].concat(),
                initial.text.element.name_span(),
            );
            self.flow.attach_input_references(mark, initial);
            id
        });
        made_of.extend(initial);
        self.bind_round_name(
            "current_input",
            ValueFacts {
                part_of: inputs.clone(),
                of: inputs,
                ..ValueFacts::default()
            },
        );
        let part = |walk: &mut Self, slot: &str, task: &'m Option<TaskBody<'a>>| {
            task.as_ref()
                .map(|task| walk.walk_inside(slot, |walk| walk.walk_body(task)))
        };
        let inner = part(self, "/inner_task", &reduce.inner);
        made_of.extend(inner);
        self.bind_round_name("current_result", part_answer(reduce.inner.as_ref(), inner));
        // The result of the previous round, in later rounds than the first.
        let merged = self.flow.add_name(
            Cow::Borrowed(""),
            reduce
                .reduction
                .as_ref()
                .map_or_else(ValueFacts::default, task_answer),
        );
        let of: Vec<u32> = initial.into_iter().chain([merged]).collect();
        let absent = self.absent.len();
        if initial.is_some() || self.file.has_unread_part(element) {
            let accumulator = self.bind_round_name(
                "accumulator",
                ValueFacts {
                    part_of: whole_values(&of),
                    of: whole_values(&of),
                    ..ValueFacts::default()
                },
            );
            self.flow
                .set_position(accumulator, String::new(), Span::default());
        } else {
            self.mark_absent("initial_value", element);
        }
        self.flow.set_position(
            merged,
            [&self.path, "/accumulator"].concat(),
            Span::default(),
        );
        let reduction = part(self, "/reduction_task", &reduce.reduction);
        made_of.extend(reduction);
        self.flow
            .add_sources(merged, whole_values(reduction.as_slice()), TrustMark::None);
        self.absent.truncate(absent);
        self.report_unread_in_reduce(element, reduce, number, unknown);
        self.unbind_names(mark);
        made_of
    }

    /// Walks the parts of a loop; returns the values that its result is made of.
    pub(super) fn walk_loop(
        &mut self,
        element: Element<'a>,
        cycle: &'m DirectorLoop<'a>,
        accumulates: bool,
    ) -> Vec<u32> {
        let mark = self.env.binding_count();
        let (unknown, carries) = (self.unknown, self.carries);
        let mut made_of = Vec::new();
        self.bind_round_name(
            "current_iteration",
            ValueFacts {
                kind: Some("integer"),
                ..ValueFacts::default()
            },
        );
        // Before the first round, it is a text that states this.
        let feedback = self.bind_round_name(
            "evaluation_feedback",
            ValueFacts {
                kind: Some("text"),
                ..ValueFacts::default()
            },
        );
        let mut part = |walk: &mut Self, slot: &str, task: &'m Option<TaskBody<'a>>| {
            let before = made_of.iter().copied().filter(|_| accumulates);
            walk.before = Some(walk.flow.add_value(String::new(), TrustMark::None, before));
            let own = task
                .as_ref()
                .map(|task| walk.walk_inside(slot, |walk| walk.walk_body(task)));
            walk.before = None;
            made_of.extend(own);
            own
        };
        let director = part(self, "/director", &cycle.director);
        self.bind_round_name(
            "director_result",
            part_answer(cycle.director.as_ref(), director),
        );
        let absent = self.absent.len();
        if cycle.script.is_some() {
            let script = part(self, "/script_execution", &cycle.script);
            self.bind_round_name("script_result", part_answer(cycle.script.as_ref(), script));
        } else if self.file.has_unread_part(element) {
            self.bind_round_name("script_result", ValueFacts::default());
        } else {
            self.mark_absent("script_execution", element);
        }
        let evaluator = part(self, "/evaluator", &cycle.evaluator);
        self.flow.add_sources(
            feedback,
            whole_values(evaluator.as_slice()),
            TrustMark::None,
        );
        self.bind_round_name(
            "evaluation",
            part_answer(cycle.evaluator.as_ref(), evaluator),
        );
        if let Some(condition) = &cycle.condition {
            self.check_condition(condition);
        }
        self.absent.truncate(absent);
        self.report_unread_in_loop(element, cycle, carries, unknown);
        self.unbind_names(mark);
        made_of
    }

    /// Marks the names that require a missing child as unbound in the parts of a task.
    fn mark_absent(&mut self, needed: &str, element: Element<'a>) {
        self.absent.extend(
            ROUND_NAMES
                .iter()
                .filter(|row| row.required_child == Some(needed))
                .map(|row| (row, element)),
        );
    }

    /// Binds a variable of each round.
    fn bind_round_name(&mut self, name: &'static str, facts: ValueFacts<'m>) -> u32 {
        self.bind_name(name, Span::default(), facts, Some(&["/", name].concat()))
    }
}

/// The known facts of a part's answer.
fn part_answer<'m>(task: Option<&'m TaskBody<'_>>, own: Option<u32>) -> ValueFacts<'m> {
    let own = own.as_slice();
    ValueFacts {
        of: whole_values(own),
        part_of: whole_values(own),
        ..task.map_or_else(ValueFacts::default, task_answer)
    }
}

/// Refers to each of the values as a whole.
pub(super) fn whole_values(names: &[u32]) -> Vec<(u32, Box<str>)> {
    names.iter().map(|name| (*name, Box::default())).collect()
}

/// The value of a parameter's default; none if it is not of the declared type, which is reported.
pub(super) fn default_value(parameter: &TaskParameter<'_>) -> Option<Box<Value>> {
    let (kind, text) = (
        parameter.kind.as_ref().map(|kind| &*kind.value),
        &*parameter.default.as_ref()?.value,
    );
    kind.is_none_or(|kind| value_type::is_valid_default(text, kind))
        .then(|| Box::new(value_type::parse_default(text, kind)))
}

/// The known facts of a task's answer.
pub(super) fn task_answer<'m>(task: &'m TaskBody<'_>) -> ValueFacts<'m> {
    let answer_of = task.reference.as_ref().map(|name| name.span.start);
    ValueFacts {
        kind: facts::declared_answer(task).filter(|_| answer_of.is_none()),
        answer_of,
        ..ValueFacts::default()
    }
}

pub(super) fn call_answer<'m>(call: &TemplateCall<'_>) -> ValueFacts<'m> {
    ValueFacts {
        answer_of: call.template.as_ref().map(|name| name.span.start),
        ..ValueFacts::default()
    }
}
