//! Walks steps, choices, calls and references, and returns the answer of each.

use super::flow::{Made, Mark};
use super::rounds::{answer, answer_of_call, each};
use super::state::Walk;
use super::walk::result;
use crate::base::span::Span;
use crate::template::model::{Call, Cond, Step};
use crate::template::texts::Role;
use crate::template::trust::CONTEXT;
use std::borrow::Cow;

impl<'m, 'a> Walk<'m, 'a, '_> {
    /// Walks a reference to a task or function; returns its answer.
    pub(super) fn refer(&mut self, name: Span, args: Box<[u32]>, mark: Mark) -> u32 {
        // The context that reaches the root of a definition also reaches the definition that it
        // refers to.
        let context = match &*self.path {
            "" => self.around,
            path => self
                .flow
                .value([path, CONTEXT].concat(), Mark::None, self.before.take()),
        };
        let answer = self.flow.value(self.here(), mark, [context]);
        self.site(
            name.start,
            args,
            (mark != Mark::Checked).then_some(answer),
            Some((context, self.around)),
        );
        answer
    }

    /// Walks the calls in the texts of a body.
    pub(super) fn calls(&mut self, calls: &'m [Call<'a>]) {
        for (number, call) in calls.iter().enumerate() {
            let own = self.inside(&format!("/calls/{number}"), |walk| walk.call(call));
            if let Some(name) = &call.result {
                self.bind(
                    &name.value,
                    name.span,
                    Made {
                        of: each(&[own]),
                        part_of: each(&[own]),
                        ..answer_of_call(call)
                    },
                    None,
                );
            }
        }
    }

    pub(super) fn call(&mut self, call: &'m Call<'a>) -> u32 {
        let before = self.before.take();
        let mut args = Vec::with_capacity(call.args.len());
        for (number, arg) in call.args.iter().enumerate() {
            let mark = self.flow.mark();
            let at = format!("/args/{number}");
            let made = self.inside(&at, |walk| walk.input(Role::Arg, arg));
            let id = self.flow.name(Cow::Borrowed(""), made);
            self.flow.stands(
                id,
                [&self.path, &*at].concat(),
                arg.text.element.name_span(),
            );
            self.flow.holds(mark, arg);
            args.push(id);
        }
        self.before = before;
        match &call.template {
            Some(template) => self.refer(template.span, args.into(), call.trust.into()),
            None => self.flow.value(self.here(), Mark::None, args),
        }
    }

    /// Walks steps in order; returns the answer of the last one.
    pub(super) fn steps(&mut self, steps: &'m [Step<'a>], accumulates: bool) -> Option<u32> {
        let (mark, unknown, carries) = (self.env.mark(), self.unknown, self.carries);
        let mut last = None;
        let mut left = None;
        for (number, step) in steps.iter().enumerate() {
            self.before = left.filter(|_| accumulates);
            let own = self.inside(&format!("/steps/{number}"), |walk| walk.step(step));
            left = Some(
                self.flow
                    .value(String::new(), Mark::None, left.into_iter().chain([own])),
            );
            last = Some(own);
            if let Some(name) = result(step) {
                self.later.unbind(0);
                self.bind(
                    &name.value,
                    name.span,
                    Made {
                        of: each(&[own]),
                        part_of: each(&[own]),
                        ..answer_of_step(step)
                    },
                    None,
                );
            }
        }
        self.before = None;
        self.unread_in_steps(steps, carries, unknown);
        self.unbind(mark);
        last
    }

    fn step(&mut self, step: &'m Step<'a>) -> u32 {
        match step {
            Step::Task(task) => self.body(task),
            Step::Call(call) => self.call(call),
            Step::Cond(cond) => self.cond(cond),
        }
    }

    fn cond(&mut self, cond: &'m Cond<'a>) -> u32 {
        let before = self.before;
        let mut answers = Vec::with_capacity(cond.cases.len());
        for (number, case) in cond.cases.iter().enumerate() {
            if let Some(test) = &case.test {
                self.condition(test);
            }
            if let Some(step) = &case.step {
                self.before = before;
                answers.push(self.inside(&format!("/cases/{number}"), |walk| walk.step(step)));
            }
        }
        self.flow.value(self.here(), Mark::None, answers)
    }
}

fn answer_of_step<'m>(step: &'m Step<'_>) -> Made<'m> {
    match step {
        Step::Task(task) => answer(task),
        Step::Call(call) => answer_of_call(call),
        Step::Cond(cond) => {
            let mut kinds = cond
                .cases
                .iter()
                .map(|case| answer_of_step(case.step.as_ref()?).kind);
            let first = kinds.next().flatten();
            Made {
                kind: first.filter(|_| kinds.all(|kind| kind == first)),
                ..Made::default()
            }
        }
    }
}
