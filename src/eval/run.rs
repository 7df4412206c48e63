//! Runs many cases on several threads: each task's definitions are loaded once, each pattern is
//! compiled once. Results are in the order of the cases, the same on any number of threads.

use super::case_result::{CaseResult, ResultKeys};
use super::prepared_case::{self, CaseInput, PreparedCase, RunContext};
use super::receiver::{Receiver, resolve_receiver};
use super::{case, compaction, request, result_keys};
use crate::base::{parallel, suggest};
use crate::context::TaskGraph;
use crate::context::fault::Fault;
use crate::registry::Registry;
use crate::scenario::model::{CaseSubject, ScenarioCase};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// The definitions of the tasks that cases need, each loaded on first use.
#[derive(Debug)]
pub(super) struct TaskGraphs<'r> {
    registry: &'r Registry,
    tasks: BTreeMap<String, OnceLock<Result<Option<TaskGraph<'r>>, Fault>>>,
}

impl<'r> TaskGraphs<'r> {
    pub(super) fn for_tasks<'t>(
        registry: &'r Registry,
        tasks: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        Self {
            registry,
            tasks: tasks
                .into_iter()
                .map(|task| (task.to_owned(), OnceLock::new()))
                .collect(),
        }
    }

    /// The definitions of a task.
    pub(super) fn get(&self, task: &str) -> Result<&TaskGraph<'r>, String> {
        let unknown = || {
            let near = suggest::nearest_candidate(
                task,
                self.registry.tasks().map(crate::registry::Task::name),
            );
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("there is no task `{task}` in this project{near}")
        };
        let forest = self.tasks.get(task).ok_or_else(unknown)?;
        let forest = forest.get_or_init(|| TaskGraph::load(self.registry, task));
        forest
            .as_ref()
            .map_err(ToString::to_string)?
            .as_ref()
            .ok_or_else(unknown)
    }
}

/// Runs cases.
pub fn run_cases(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    threads: Option<NonZeroUsize>,
) -> Vec<CaseResult> {
    run_cases_with(context, inputs, threads, &|_| true, &|_, _, done| done)
        .into_iter()
        .flatten()
        .collect()
}

/// Runs the cases whose index `begins` accepts; passes each result to `then` as soon as it is
/// finished, and collects the returned values.
pub fn run_cases_with<T: Send>(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    threads: Option<NonZeroUsize>,
    begins: &(dyn Fn(usize) -> bool + Sync),
    then: &(dyn Fn(usize, &CaseInput<'_>, CaseResult) -> T + Sync),
) -> Vec<Option<T>> {
    map_cases(context, inputs, threads, |at, input, found| {
        if !begins(at) {
            return None;
        }
        let done = match found {
            _ if matches!(input.case.subject.value, CaseSubject::Request(_)) => {
                request::run_request_case(context, input)
            }
            _ if is_computed(input.case) => compaction::run_compaction_case(context, input),
            Ok(case) => case.run(),
            // An unknown subject is unknown to `check` too, whose message has more detail.
            Err(why) => input.rejection.map_or_else(
                || CaseResult::failed_case("/", why),
                CaseResult::rejected_case,
            ),
        };
        Some(then(at, input, done))
    })
}

/// Returns true for a case about a compaction that no role is asked for.
pub(super) fn is_computed(case: &ScenarioCase) -> bool {
    let compaction = case.subject.value.compaction();
    compaction.is_some_and(|compaction| compaction.role().is_none())
}

/// The keys of cases; `None` for a case that cannot be tried.
pub fn result_keys(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    threads: Option<NonZeroUsize>,
) -> Vec<Option<ResultKeys>> {
    map_cases(context, inputs, threads, |_, input, found| {
        if matches!(input.case.subject.value, CaseSubject::Request(_)) {
            return request::request_keys(context, input);
        }
        if is_computed(input.case) {
            return Some(compaction::compaction_keys(context, input));
        }
        let prepared = found.ok()?.prepare().ok()?;
        let context = if input.case.is_run {
            result_keys::hash_run_context(&prepared, &prepared.preview_agents())
        } else {
            result_keys::hash_agent_context(
                &prepared,
                prepared.assemble(&|_| {}).as_ref().map_err(Vec::as_slice),
            )
        };
        Some(result_keys::result_keys(&prepared, context))
    })
}

/// A case with the definitions of its task, and its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResolvedCase<'a> {
    context: &'a RunContext<'a>,
    pub(super) input: &'a CaseInput<'a>,
    forest: &'a TaskGraph<'a>,
    receiver: Receiver<'a>,
}

impl<'a> ResolvedCase<'a> {
    /// Runs the case.
    pub(super) fn run(self) -> CaseResult {
        case::run_case(self.context, self.input, self.forest, self.receiver)
    }

    /// Prepares the case, and runs nothing.
    pub(super) fn prepare(self) -> Result<PreparedCase<'a>, Box<CaseResult>> {
        prepared_case::prepare_case(self.context, self.input, self.forest, self.receiver)
    }
}

/// Calls `work` for each case with its index, and with its definitions and its receiver or the
/// reason why they are missing.
pub(super) fn map_cases<T: Send>(
    context: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    threads: Option<NonZeroUsize>,
    work: impl Fn(usize, &CaseInput<'_>, Result<ResolvedCase<'_>, String>) -> T + Sync,
) -> Vec<T> {
    let receivers: Vec<Result<Receiver<'_>, String>> = inputs
        .iter()
        .map(|input| resolve_receiver(input.case, context.roles))
        .collect();
    let forests = TaskGraphs::for_tasks(
        context.registry,
        receivers.iter().flatten().map(|receiver| receiver.task),
    );
    let both: Vec<_> = inputs.iter().zip(&receivers).enumerate().collect();
    parallel::map_items(&both, threads, |(at, (input, receiver))| {
        let resolved = Result::clone(receiver).and_then(|receiver| {
            Ok(ResolvedCase {
                context,
                input,
                forest: forests.get(receiver.task)?,
                receiver,
            })
        });
        work(*at, input, resolved)
    })
}
