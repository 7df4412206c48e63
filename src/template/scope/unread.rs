//! Finds values of a round or a step that no request of their task contains.

use super::fault::{ScopeFault, ScopeFaultKind, UnreadValue};
use super::state::{ContextReach, ScopeWalk};
use crate::syntax::tree::Element;
use crate::template::model::{DirectorLoop, Reduce, Settings, TaskBody, TaskStep};
use crate::template::setting::SettingName;

impl<'m, 'a> ScopeWalk<'m, 'a, '_> {
    /// Reports values that the parts of a reduce never read. `unknown` is the number of invisible
    /// uses before them.
    pub(super) fn report_unread_in_reduce(
        &mut self,
        element: Element<'a>,
        reduce: &Reduce<'a>,
        inputs: usize,
        unknown: u32,
    ) {
        let (Some(inner), Some(reduction)) = (&reduce.inner, &reduce.reduction) else {
            return;
        };
        if self.is_hidden(element, unknown) {
            return;
        }
        let is_read = |walk: &mut Self, name: &str| {
            walk.env.find_binding(name).is_some_and(|own| own.is_read)
        };
        let misnames_input = self.misnames(inner.element, "current_input");
        let lacks_input = (inputs > 1 || misnames_input) && !is_read(self, "current_input");
        // A program may have effects besides its answer.
        let lacks_result = inner.script.is_none() && !is_read(self, "current_result");
        let lacks_accumulator =
            inputs > 1 && (reduce.initial.is_none() || !is_read(self, "accumulator"));
        if lacks_input && lacks_result && lacks_accumulator {
            return self.report_unread(UnreadValue::Reduce, element);
        }
        let found = [
            (lacks_input, UnreadValue::CurrentInput, inner),
            (lacks_result, UnreadValue::CurrentResult, reduction),
            (lacks_accumulator, UnreadValue::Accumulator, reduction),
        ];
        found
            .into_iter()
            .filter(|(lacks, ..)| *lacks)
            .for_each(|(_, what, part)| self.report_unread(what, part.element));
    }

    /// True if a part is the first to use an implicit parameter where the value of a round is
    /// probably meant: `input` where it can read `current_input`.
    fn misnames(&self, part: Element<'a>, value: &str) -> bool {
        let word = value.rsplit_once('_').map_or(value, |(_, word)| word);
        self.implicit
            .get(word)
            .and_then(|at| self.scopes.implicit.get(*at))
            .is_some_and(|found| part.span().contains(found.name.span.start))
    }

    /// Like [`Self::report_unread_in_reduce`] for a loop. If the loop `carries` results, its
    /// evaluator receives those of the same round.
    pub(super) fn report_unread_in_loop(
        &mut self,
        element: Element<'a>,
        cycle: &DirectorLoop<'a>,
        carries: bool,
        unknown: u32,
    ) {
        let (Some(director), Some(evaluator)) = (&cycle.director, &cycle.evaluator) else {
            return;
        };
        if self.is_hidden(element, unknown) {
            return;
        }
        let is_read = |walk: &mut Self, name: &str| {
            walk.env.find_binding(name).is_some_and(|own| own.is_read)
        };
        let is_once = cycle
            .max_iterations
            .as_ref()
            .is_some_and(|most| most.value == 1);
        let lacks_feedback = !is_once && !is_read(self, "evaluation_feedback");
        let lacks_result = director.script.is_none()
            && !(carries && receives_earlier_results(evaluator))
            && !is_read(self, "director_result");
        if lacks_feedback && lacks_result {
            return self.report_unread(UnreadValue::Loop, element);
        }
        if lacks_feedback {
            self.report_unread(UnreadValue::EvaluationFeedback, director.element);
        }
        if lacks_result {
            self.report_unread(UnreadValue::DirectorResult, evaluator.element);
        }
    }

    /// Reports agents among the steps whose answers no later step reads or receives.
    pub(super) fn report_unread_in_steps(
        &mut self,
        steps: &'m [TaskStep<'a>],
        carries: bool,
        unknown: u32,
    ) {
        for (number, step) in steps.iter().enumerate() {
            let TaskStep::Task(task) = step else { continue };
            let later = steps.get(number + 1..).unwrap_or_default();
            let is_read = step.result().0.is_some_and(|name| {
                self.env
                    .find_binding(&name.value)
                    .is_some_and(|own| own.is_read)
            });
            let is_shown = later.is_empty()
                || is_read
                || carries && later.iter().any(step_receives_earlier_results);
            if task.is_simple() && !is_shown && !self.is_hidden(task.element, unknown) {
                self.report_unread(UnreadValue::Step, task.element);
            }
        }
    }

    /// True if something invisible from here may read any name.
    fn is_hidden(&self, element: Element<'a>, unknown: u32) -> bool {
        self.unknown != unknown
            || self.damaged > 0
            || element.is_damaged()
            || !self.file.unread_elements_in(element).is_empty()
    }

    fn report_unread(&mut self, what: UnreadValue, at: Element<'a>) {
        self.scopes.record_fault(ScopeFault::new(
            ScopeFaultKind::Unread(what),
            at.name_span(),
        ));
    }
}

/// False if the parts of a body certainly do not receive the results of earlier parts. A setting
/// that cannot be parsed counts as unknown; it has been reported.
pub(super) fn can_carry_results(task: &TaskBody<'_>, reach: ContextReach) -> bool {
    let name = SettingName::AccumulateData;
    let is_unread = |own: &Settings<'_>| {
        own.setting_element(name).is_some() && own.written.span(name).is_none()
    };
    reach.accumulates != Some(false) || task.settings.as_ref().is_some_and(is_unread)
}

/// True if a part receives carried results: a program does not.
fn receives_earlier_results(task: &TaskBody<'_>) -> bool {
    task.script.is_none()
}

fn step_receives_earlier_results(step: &TaskStep<'_>) -> bool {
    match step {
        TaskStep::Task(task) => receives_earlier_results(task),
        TaskStep::Call(_) => true,
        TaskStep::Cond(cond) => cond
            .cases
            .iter()
            .filter_map(|case| case.step.as_ref())
            .any(step_receives_earlier_results),
    }
}
