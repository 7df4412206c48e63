//! What a round or a step hands on and no request of its task ever holds.

use super::fault::{Fault, FaultKind, Unread};
use super::state::{Reach, Walk};
use crate::syntax::tree::Element;
use crate::template::model::{Cycle, Reduce, Settings, Step, Task};
use crate::template::setting::SettingName;

impl<'m, 'a> Walk<'m, 'a, '_> {
    /// Finds what the parts of a reduce never read. `unknown`: how much could not be seen before them.
    pub(super) fn unread_in_reduce(&mut self, element: Element<'a>, reduce: &Reduce<'a>, inputs: usize, unknown: u32) {
        let (Some(inner), Some(reduction)) = (&reduce.inner, &reduce.reduction) else { return };
        if self.is_hidden(element, unknown) {
            return;
        }
        let is_read = |walk: &mut Self, name: &str| walk.env.find(name).is_some_and(|own| own.is_read);
        let lacks_input = inputs > 1 && !is_read(self, "current_input");
        // A program may do its work beside its answer.
        let lacks_result = inner.script.is_none() && !is_read(self, "current_result");
        let lacks_accumulator = inputs > 1 && (reduce.initial.is_none() || !is_read(self, "accumulator"));
        if lacks_input && lacks_result && lacks_accumulator {
            return self.unread(Unread::Reduce, element);
        }
        let found = [
            (lacks_input, Unread::CurrentInput, inner),
            (lacks_result, Unread::CurrentResult, reduction),
            (lacks_accumulator, Unread::Accumulator, reduction),
        ];
        found.into_iter().filter(|(lacks, ..)| *lacks).for_each(|(_, what, part)| self.unread(what, part.element));
    }

    /// The same of a loop, whose evaluator sees what was made before it in the round if the loop `carries` that.
    pub(super) fn unread_in_loop(&mut self, element: Element<'a>, cycle: &Cycle<'a>, carries: bool, unknown: u32) {
        let (Some(director), Some(evaluator)) = (&cycle.director, &cycle.evaluator) else { return };
        if self.is_hidden(element, unknown) {
            return;
        }
        let is_read = |walk: &mut Self, name: &str| walk.env.find(name).is_some_and(|own| own.is_read);
        let is_once = cycle.max_iterations.as_ref().is_some_and(|most| most.value == 1);
        let lacks_feedback = !is_once && !is_read(self, "evaluation_feedback");
        let lacks_result =
            director.script.is_none() && !(carries && sees_earlier(evaluator)) && !is_read(self, "director_result");
        if lacks_feedback && lacks_result {
            return self.unread(Unread::Loop, element);
        }
        if lacks_feedback {
            self.unread(Unread::EvaluationFeedback, director.element);
        }
        if lacks_result {
            self.unread(Unread::DirectorResult, evaluator.element);
        }
    }

    /// Finds the agents among steps whose answers no later step reads or is shown.
    pub(super) fn unread_in_steps(&mut self, steps: &'m [Step<'a>], carries: bool, unknown: u32) {
        for (number, step) in steps.iter().enumerate() {
            let Step::Task(task) = step else { continue };
            let later = steps.get(number + 1..).unwrap_or_default();
            let is_read = step.result().0.is_some_and(|name| self.env.find(&name.value).is_some_and(|own| own.is_read));
            let is_shown = later.is_empty() || is_read || carries && later.iter().any(takes_earlier);
            if task.is_simple() && !is_shown && !self.is_hidden(task.element, unknown) {
                self.unread(Unread::Step, task.element);
            }
        }
    }

    /// True where something that is not to be seen from here may read anything.
    fn is_hidden(&self, element: Element<'a>, unknown: u32) -> bool {
        self.unknown != unknown || self.damaged > 0 || element.is_damaged() || !self.file.unread_in(element).is_empty()
    }

    fn unread(&mut self, what: Unread, at: Element<'a>) {
        self.scopes.fault(Fault::new(FaultKind::Unread(what), at.name_span()));
    }
}

/// False where it is certain that the parts of a body are not shown what those before them left. A setting that cannot be read has been reported.
pub(super) fn may_carry(task: &Task<'_>, reach: Reach) -> bool {
    let name = SettingName::AccumulateData;
    let is_unread = |own: &Settings<'_>| own.element(name).is_some() && own.written.span(name).is_none();
    reach.accumulates != Some(false) || task.settings.as_ref().is_some_and(is_unread)
}

/// True of a part that is shown what earlier ones left, where that is carried along: a program is not.
fn sees_earlier(task: &Task<'_>) -> bool {
    task.script.is_none()
}

fn takes_earlier(step: &Step<'_>) -> bool {
    match step {
        Step::Task(task) => sees_earlier(task),
        Step::Call(_) => true,
        Step::Cond(cond) => cond.cases.iter().filter_map(|case| case.step.as_ref()).any(takes_earlier),
    }
}
