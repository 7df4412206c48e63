//! `ctxc new scenario --best N`: chooses the stored runs that cover the most of the uncovered parts
//! of the project: tasks and roles first, then agents and scripts, the ways between them, whole
//! paths, and end states.
//!
//! Greedy: each run is chosen in addition to those before it; a run that adds nothing is never
//! chosen.

use super::as_scenario::{self, RUN_PREFIX, RunSource};
use super::traces;
use crate::cli::context::eval;
use crate::cli::context::project::CompiledProject;
use crate::kernel::agent_node::stage_node;
use crate::record::recording::Recording;
use crate::scenario::expect::trajectory::Matching;
use crate::scenario::model::{AnswerTest, CaseSubject, ScenarioCase};
use std::collections::BTreeSet;

/// The covered parts of runs and scenarios, each as a unique text.
type RunCoverage = BTreeSet<String>;

/// The chosen runs, and the refused ones.
#[derive(Debug)]
pub(in crate::cli::context) struct BestRuns {
    /// The best run first.
    pub(in crate::cli::context) runs: Vec<RunSource>,
    /// The number of runs that match the request.
    pub(in crate::cli::context) total: usize,
    /// The runs that a scenario cannot represent, each with the reason.
    pub(in crate::cli::context) refused: Vec<(String, String)>,
}

/// A run that could be chosen.
struct CandidateRun {
    run: RunSource,
    covers: RunCoverage,
    is_complete: bool,
}

/// Chooses runs whose names begin with `prefix`; if a subject is given, only runs of this task or
/// role.
pub(in crate::cli::context) fn choose_runs(
    project: &CompiledProject,
    prefix: &str,
    subject: Option<&str>,
    max: usize,
) -> BestRuns {
    let mut covered: RunCoverage = eval::load_scenarios(&project.root, &project.config)
        .iter()
        .flat_map(|file| &file.suite)
        .flat_map(|suite| &suite.cases)
        .flat_map(case_coverage)
        .collect();
    let (mut candidates, mut refused) = (Vec::new(), Vec::new());
    for name in traces::run_names(&project.root)
        .into_iter()
        .filter(|name| name.starts_with(prefix))
    {
        match as_scenario::read_source(project, &format!("{RUN_PREFIX}{name}")) {
            Ok(run) if subject.is_some_and(|subject| run.subject() != subject) => {}
            Ok(RunSource::Agent(agent)) if !agent.calls.iter().any(Recording::is_answered) => {
                refused.push((name, "none of its calls was answered".to_owned()));
            }
            Ok(run) => candidates.push(CandidateRun {
                covers: run_coverage(&run),
                is_complete: run.end_status() == "complete",
                run,
            }),
            Err(_) if subject.is_some_and(|subject| !has_subject(project, &name, subject)) => {}
            Err(why) => refused.push((name, why.message)),
        }
    }
    let of = candidates.len() + refused.len();
    let mut runs = Vec::new();
    while runs.len() < max {
        // Of equal runs, a complete one has priority, then the newest.
        let value = |one: &CandidateRun| {
            let new: Vec<&String> = one.covers.difference(&covered).collect();
            (
                new.iter().any(|what| what.starts_with(SUBJECT_PREFIX)),
                new.len(),
                one.is_complete,
            )
        };
        let found = candidates
            .iter()
            .enumerate()
            .map(|(at, one)| (value(one), at))
            .max();
        let Some(((_, 1.., _), at)) = found else {
            break;
        };
        let CandidateRun { run, covers, .. } = candidates.remove(at);
        covered.extend(covers);
        runs.push(run);
    }
    BestRuns {
        runs,
        total: of,
        refused,
    }
}

/// Returns true if a run that a scenario cannot represent is of a task or role.
fn has_subject(project: &CompiledProject, name: &str, subject: &str) -> bool {
    let begin = traces::read_run(&project.root, name)
        .ok()
        .and_then(|(_, journal)| journal.begin);
    begin.is_some_and(|begin| begin.role.unwrap_or(begin.task) == subject)
}

/// The prefix of covered tasks and roles.
const SUBJECT_PREFIX: &str = "subject";

/// The path of a run, or the path that a scenario expects.
struct NodePath<'p> {
    subject: &'p str,
    nodes: &'p [String],
    ends: &'p str,
    /// No other node lies between these.
    is_exact: bool,
}

/// Returns the coverage of a path of nodes.
fn path_coverage(path: &NodePath<'_>) -> RunCoverage {
    let NodePath {
        subject,
        nodes,
        ends,
        is_exact,
    } = *path;
    let mut covers = RunCoverage::from([
        format!("{SUBJECT_PREFIX} {subject}"),
        format!("end {subject} {ends}"),
    ]);
    covers.extend(
        nodes
            .iter()
            .map(|node| format!("node {subject} {}", stage_node(node))),
    );
    if is_exact {
        covers.extend(nodes.windows(2).map(|two| {
            format!(
                "way {subject} {}",
                two.iter()
                    .map(|node| stage_node(node))
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        }));
        covers.insert(format!("path {subject} {}", nodes.join(" ")));
    }
    covers
}

fn run_coverage(run: &RunSource) -> RunCoverage {
    let (nodes, ends) = match run {
        RunSource::Whole(whole) => (whole.path.as_slice(), whole.ends.as_str()),
        // The scenario of a single agent has no expectation on the end.
        RunSource::Agent(agent) => (std::slice::from_ref(&agent.node), "complete"),
    };
    path_coverage(&NodePath {
        subject: run.subject(),
        nodes,
        ends,
        is_exact: true,
    })
}

/// Returns the coverage of a scenario: the path of a run, or a single agent.
fn case_coverage(case: &ScenarioCase) -> RunCoverage {
    let (CaseSubject::Task(subject) | CaseSubject::Role(subject)) = &case.subject.value else {
        return RunCoverage::new();
    };
    if !case.is_run {
        let node = case.node.as_ref().map_or("/", |node| node.value.as_str());
        return path_coverage(&NodePath {
            subject,
            nodes: &[node.to_owned()],
            ends: "complete",
            is_exact: true,
        });
    }
    let tests = || case.expectations.iter().map(|one| &one.value.test);
    let ends = tests().find_map(|test| {
        if let AnswerTest::Ends(ends) = test {
            Some(ends.as_str())
        } else {
            None
        }
    });
    let path = tests().find_map(|test| {
        if let AnswerTest::Path(path) = test {
            Some(path)
        } else {
            None
        }
    });
    let names: Vec<String> = path
        .iter()
        .flat_map(|path| &path.calls)
        .map(|call| call.name.value.clone())
        .collect();
    path_coverage(&NodePath {
        subject,
        nodes: &names,
        ends: ends.unwrap_or("complete"),
        is_exact: path.is_some_and(|path| path.matching == Matching::Strict),
    })
}
