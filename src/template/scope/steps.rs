//! Walks steps, choices, calls and references, and returns the answer of each.

use super::flow::{TrustMark, ValueFacts};
use super::rounds::{call_answer, task_answer, whole_values};
use super::state::ScopeWalk;
use super::walk::step_result_name;
use crate::base::span::Span;
use crate::template::model::{Cond, TaskStep, TemplateCall};
use crate::template::texts::TextRole;
use crate::template::trust::CONTEXT;
use std::borrow::Cow;

impl<'m, 'a> ScopeWalk<'m, 'a, '_> {
    /// Walks a reference to a task or function; returns its answer.
    pub(super) fn walk_reference(&mut self, name: Span, args: Box<[u32]>, mark: TrustMark) -> u32 {
        // The context that reaches the root of a definition also reaches the definition that it
        // refers to.
        let context = match &*self.path {
            "" => self.around,
            path => self.flow.add_value(
                [path, CONTEXT].concat(),
                TrustMark::None,
                self.before.take(),
            ),
        };
        let answer = self.flow.add_value(self.current_path(), mark, [context]);
        self.record_site(
            name.start,
            args,
            (mark != TrustMark::Checked).then_some(answer),
            Some((context, self.around)),
        );
        answer
    }

    /// Walks the calls in the texts of a body.
    pub(super) fn walk_calls(&mut self, calls: &'m [TemplateCall<'a>]) {
        for (number, call) in calls.iter().enumerate() {
            let own = self.walk_inside(&format!("/calls/{number}"), |walk| walk.walk_call(call));
            if let Some(name) = &call.result {
                self.bind_name(
                    &name.value,
                    name.span,
                    ValueFacts {
                        of: whole_values(&[own]),
                        part_of: whole_values(&[own]),
                        ..call_answer(call)
                    },
                    None,
                );
            }
        }
    }

    pub(super) fn walk_call(&mut self, call: &'m TemplateCall<'a>) -> u32 {
        let before = self.before.take();
        let mut args = Vec::with_capacity(call.args.len());
        for (number, arg) in call.args.iter().enumerate() {
            let mark = self.flow.event_count();
            let at = format!("/args/{number}");
            let facts = self.walk_inside(&at, |walk| walk.walk_input(TextRole::Arg, arg));
            let id = self.flow.add_name(Cow::Borrowed(""), facts);
            self.flow.set_position(
                id,
                [&self.path, &*at].concat(),
                arg.text.element.name_span(),
            );
            self.flow.attach_input_references(mark, arg);
            args.push(id);
        }
        self.before = before;
        match &call.template {
            Some(template) => self.walk_reference(template.span, args.into(), call.trust.into()),
            None => self
                .flow
                .add_value(self.current_path(), TrustMark::None, args),
        }
    }

    /// Walks steps in order; returns the answer of the last one.
    pub(super) fn walk_steps(
        &mut self,
        steps: &'m [TaskStep<'a>],
        accumulates: bool,
    ) -> Option<u32> {
        let (mark, unknown, carries) = (self.env.binding_count(), self.unknown, self.carries);
        let mut last = None;
        let mut left = None;
        for (number, step) in steps.iter().enumerate() {
            self.before = left.filter(|_| accumulates);
            let own = self.walk_inside(&format!("/steps/{number}"), |walk| walk.walk_step(step));
            left = Some(self.flow.add_value(
                String::new(),
                TrustMark::None,
                left.into_iter().chain([own]),
            ));
            last = Some(own);
            if let Some(name) = step_result_name(step) {
                self.later.unbind_down_to(0);
                self.bind_name(
                    &name.value,
                    name.span,
                    ValueFacts {
                        of: whole_values(&[own]),
                        part_of: whole_values(&[own]),
                        ..step_answer(step)
                    },
                    None,
                );
            }
        }
        self.before = None;
        self.report_unread_in_steps(steps, carries, unknown);
        self.unbind_names(mark);
        last
    }

    /// Walks a step with everything inside it; returns its answer.
    fn walk_step(&mut self, step: &'m TaskStep<'a>) -> u32 {
        match step {
            TaskStep::Task(task) => self.walk_body(task),
            TaskStep::Call(call) => self.walk_call(call),
            TaskStep::Cond(cond) => self.walk_cond(cond),
        }
    }

    fn walk_cond(&mut self, cond: &'m Cond<'a>) -> u32 {
        let before = self.before;
        let mut answers = Vec::with_capacity(cond.cases.len());
        for (number, case) in cond.cases.iter().enumerate() {
            if let Some(test) = &case.test {
                self.check_condition(test);
            }
            if let Some(step) = &case.step {
                self.before = before;
                answers.push(
                    self.walk_inside(&format!("/cases/{number}"), |walk| walk.walk_step(step)),
                );
            }
        }
        self.flow
            .add_value(self.current_path(), TrustMark::None, answers)
    }
}

fn step_answer<'m>(step: &'m TaskStep<'_>) -> ValueFacts<'m> {
    match step {
        TaskStep::Task(task) => task_answer(task),
        TaskStep::Call(call) => call_answer(call),
        TaskStep::Cond(cond) => {
            let mut kinds = cond
                .cases
                .iter()
                .map(|case| step_answer(case.step.as_ref()?).kind);
            let first = kinds.next().flatten();
            ValueFacts {
                kind: first.filter(|_| kinds.all(|kind| kind == first)),
                ..ValueFacts::default()
            }
        }
    }
}
