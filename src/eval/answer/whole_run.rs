//! Expectations on a whole run: its agents, its path, its end.

use super::given::{RunStage, TrialAnswer, WholeRun};
use crate::eval::verdict::{JudgedOutcome, fail, fail_blind, pass};
use crate::scenario::expect::trajectory::{Matching, Trajectory};

fn missing_run(expected: String) -> JudgedOutcome {
    fail_blind(expected, "no whole run")
}

/// The stages of a run that a name or a path denotes.
pub(super) fn find_agents<'a>(answer: &'a TrialAnswer, name: &str) -> Vec<&'a RunStage> {
    answer
        .run
        .as_deref()
        .map_or_else(Vec::new, |run| run.find_stages(name))
}

/// The outcome if no agent of a name was called; lists the called ones.
pub(in crate::eval) fn uncalled_agent(answer: &TrialAnswer, name: &str) -> JudgedOutcome {
    let expected = format!("`{name}` to be asked");
    match answer.run.as_deref() {
        None => missing_run(expected),
        Some(run) => fail_blind(expected, list_names(&run.path())),
    }
}

fn list_names(path: &[String]) -> String {
    let names: Vec<String> = path.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        "nobody".to_owned()
    } else {
        names.join(", ")
    }
}

/// Judges the end of a run.
pub(super) fn judge_end(answer: &TrialAnswer, end: &str) -> JudgedOutcome {
    let expected = format!("a run that is {end}");
    let Some(run) = answer.run.as_deref() else {
        return missing_run(expected);
    };
    let found = run
        .obstacle
        .as_ref()
        .map_or_else(|| run.ends.clone(), |why| format!("{}: {why}", run.ends));
    if run.ends == end {
        pass(expected, found)
    } else {
        fail(expected, found)
    }
}

/// Judges the path of a run.
pub(super) fn judge_path(answer: &TrialAnswer, expected: &Trajectory) -> JudgedOutcome {
    let names: Vec<&str> = expected
        .calls
        .iter()
        .map(|call| call.name.value.as_str())
        .collect();
    let words = names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    let Some(run) = answer.run.as_deref() else {
        return missing_run(words);
    };
    let holds = match expected.matching {
        Matching::Strict => {
            run.stages.len() == names.len()
                && run
                    .stages
                    .iter()
                    .zip(&names)
                    .all(|(stage, name)| stage.is_named(name))
        }
        Matching::Unordered => count_matches(run, &names) == (names.len(), run.stages.len()),
        Matching::Superset => count_matches(run, &names).0 == names.len(),
        Matching::Subset => count_matches(run, &names).1 == run.stages.len(),
    };
    let expected = match expected.matching {
        Matching::Strict => format!("the path {words}"),
        Matching::Unordered => format!("{words} in any order, and nobody else"),
        Matching::Superset => format!("{words} on the path"),
        Matching::Subset => format!("nobody but {words} on the path"),
    };
    let found = list_names(&run.path());
    if holds {
        pass(expected, found)
    } else {
        fail(expected, found)
    }
}

/// The number of names with a stage of their own, and so the number of stages with a name. Exact
/// paths are matched first.
fn count_matches(run: &WholeRun, names: &[&str]) -> (usize, usize) {
    let mut names = names.to_vec();
    names.sort_by_key(|name| !run.stages.iter().any(|stage| stage.stage == **name));
    let mut free: Vec<&RunStage> = run.stages.iter().collect();
    for name in names {
        if let Some(at) = free.iter().position(|stage| stage.is_named(name)) {
            free.remove(at);
        }
    }
    let found = run.stages.len() - free.len();
    (found, found)
}
