//! CTX617: tasks that no scenario tests.

use super::cx::{Reach, SuitesCx};
use super::words::some;
use crate::project::config::Config;
use crate::rules::prelude::*;
use crate::scenario::model::{Case, Subject};
use std::collections::BTreeSet;

/// What no case looks at changes unseen.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(617, "untested-task", "tasks that no scenario tests", case!("untested-task")),
    check: Check::Suites(check),
};

/// The tasks that cases are about: of themselves, or of a role that plays them.
pub(crate) fn tested<'c>(cases: impl Iterator<Item = &'c Case>, config: &'c Config) -> BTreeSet<&'c str> {
    let task = |case: &'c Case| match &case.subject.value {
        Subject::Task(task) => Some(task.as_str()),
        Subject::Role(role) => config.roles.get(role).map(|role| role.task.value.as_str()),
    };
    cases.filter_map(task).collect()
}

fn check(cx: &SuitesCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(tasks), Some(section)) = (cx.world.tasks, cx.world.config.eval.section) else { return };
    if cx.reach == Reach::Some {
        return;
    }
    let tested = tested(cx.cases().map(|(_, case)| case), cx.world.config);
    // A script is shown nothing that a scenario could look at, and what has errors can be tested once it has none.
    let calls_agent = |task: &str| tasks.signature(task).is_some_and(|takes| takes.calls_agent);
    let all: Vec<&str> = tasks.names().into_iter().filter(|task| calls_agent(task)).collect();
    let missing: Vec<&str> = all.iter().copied().filter(|task| !tested.contains(task)).collect();
    let Some(first) = missing.first() else { return };
    let message = match missing.len() {
        1 => format!("the task `{first}` has no scenario"),
        count => format!("{count} of {} tasks have no scenario: {}", all.len(), some(&missing)),
    };
    let Some(file) = cx.world.config.files.first() else { return };
    let finding = Diagnostic::new(&RULE.meta, &file.path, section, message);
    out.push(finding.help("write one under `scenarios/`: with `nothing_cut: true` it is a test already"));
}
