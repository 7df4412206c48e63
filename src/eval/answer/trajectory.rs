//! Expectations on the path of an answer: its tool calls, one or all compared with a list; and the
//! agents, the path and the end of a whole run.

use super::json_comparison::{equal_json, scalar_text};
use super::trial_answer::{RunStage, TrialAnswer, WholeRun};
use crate::eval::prepared_case::AnswerJudging;
use crate::eval::verdict::{JudgedOutcome, fail, fail_blind, pass};
use crate::scenario::expect::answer::one_line_excerpt;
use crate::scenario::expect::trajectory::{ExpectedCall, Matching, Trajectory};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// Returns true if a tool name matches a pattern; `*` stands for any part of a name. Each part
/// matches at its first occurrence, the last one at the end.
fn matches_name(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

pub(super) fn judge_call(answer: &TrialAnswer, name: &str) -> JudgedOutcome {
    let expected = format!("a call of `{name}`");
    let called = answer
        .tool_calls
        .iter()
        .position(|(called, _)| matches_name(name, called));
    if let Some(at) = called {
        let which = answer
            .tool_calls
            .get(at)
            .filter(|(called, _)| called != name);
        let which = which.map_or_else(String::new, |(called, _)| format!(", `{called}`"));
        return pass(
            expected,
            format!("one: call {} of {}{which}", at + 1, answer.tool_calls.len()),
        );
    }
    fail(expected, list_calls(answer))
}

/// Lists the tool calls of an answer by name.
fn list_calls(answer: &TrialAnswer) -> String {
    let names: Vec<String> = answer
        .tool_calls
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        "no call at all".to_owned()
    } else {
        format!("calls of {}", names.join(", "))
    }
}

/// Compares all tool calls with a list.
pub(super) fn judge_trajectory(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    expected: &Trajectory,
) -> JudgedOutcome {
    let Trajectory { matching, calls } = expected;
    let what = calls
        .iter()
        .map(ExpectedCall::describe)
        .collect::<Vec<_>>()
        .join(", ");
    let find = |pattern: &str, text: &str| case.run.patterns.find_pattern(pattern, text);
    for pattern in calls.iter().flat_map(|call| call.patterns.values()) {
        if let Err(why) = find(&pattern.value, "") {
            return fail_blind(what, why);
        }
    }
    let made = &answer.tool_calls;
    let fits = |call: &ExpectedCall, (name, arguments): &(String, Value)| {
        let occurs =
            |text: &str, pattern: &str| find(pattern, text).is_ok_and(|found| found.is_some());
        let equals = |(name, value): (&String, &Value)| {
            arguments
                .get(name)
                .is_some_and(|found| equal_json(value, found))
        };
        let mut patterns = call.patterns.iter();
        matches_name(&call.name.value, name)
            && call.arguments.iter().all(equals)
            && patterns.all(|(name, pattern)| {
                arguments
                    .get(name)
                    .is_some_and(|found| occurs(&scalar_text(found), &pattern.value))
            })
    };
    let shown = |at: usize| {
        let call = made.get(at).map(|(name, arguments)| {
            format!("`{name}` with {}", one_line_excerpt(&arguments.to_string()))
        });
        format!(
            "call {} of {}: {}",
            at + 1,
            made.len(),
            call.unwrap_or_default()
        )
    };
    if *matching == Matching::Strict {
        let differs = |at: &usize| {
            !calls
                .get(*at)
                .zip(made.get(*at))
                .is_some_and(|(call, made)| fits(call, made))
        };
        return match (0..calls.len().max(made.len())).find(differs) {
            None => pass(what, "these"),
            Some(at) => match calls.get(at) {
                None => fail(format!("no call after {what}"), shown(at)),
                Some(call) if at < made.len() => fail(
                    format!("call {} to be {}", at + 1, call.describe()),
                    shown(at),
                ),
                Some(call) => fail(
                    format!("call {} to be {}", at + 1, call.describe()),
                    format!("no more than {}", list_calls(answer)),
                ),
            },
        };
    }
    let fits_at = |call: usize, at: usize| {
        calls
            .get(call)
            .zip(made.get(at))
            .is_some_and(|(call, made)| fits(call, made))
    };
    let taken = assign_calls(calls.len(), made.len(), fits_at);
    let missing = (0..calls.len()).find(|call| !taken.values().any(|taken| taken == call));
    if let Some((number, call)) = missing
        .filter(|_| *matching != Matching::Subset)
        .and_then(|at| Some((at, calls.get(at)?)))
    {
        let found = match made
            .iter()
            .position(|(name, _)| matches_name(&call.name.value, name))
        {
            Some(at) if fits_at(number, at) => {
                format!("{}, and each call counts once", list_calls(answer))
            }
            Some(at) => shown(at),
            None => list_calls(answer),
        };
        return fail(format!("a call of {}", call.describe()), found);
    }
    match (0..made.len())
        .find(|at| !taken.contains_key(at))
        .filter(|_| *matching != Matching::Superset)
    {
        Some(at) => fail(format!("no call but {what}"), shown(at)),
        None => pass(what, list_calls(answer)),
    }
}

/// Assigns to as many expected calls as possible a matching call of their own (maximum matching).
/// Returns the index of the expected call by the index of the call.
fn assign_calls(
    expected: usize,
    made: usize,
    fits: impl Fn(usize, usize) -> bool,
) -> BTreeMap<usize, usize> {
    let mut taken = BTreeMap::new();
    for first in 0..expected {
        // If a matching call is already taken, its holder searches for another one.
        let mut wanted_by: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::from([first]);
        let mut free = None;
        while let Some(one) = open.pop_front().filter(|_| free.is_none()) {
            for call in (0..made).filter(|call| fits(one, *call)) {
                if wanted_by.contains_key(&call) {
                    continue;
                }
                wanted_by.insert(call, one);
                match taken.get(&call) {
                    Some(holder) => open.push_back(*holder),
                    None => free = free.or(Some(call)),
                }
            }
        }
        while let Some((call, one)) = free.and_then(|call| Some((call, *wanted_by.get(&call)?))) {
            free = taken
                .iter()
                .find(|(_, holder)| **holder == one)
                .map(|(before, _)| *before);
            taken.insert(call, one);
        }
    }
    taken
}

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
        Matching::Unordered => {
            names.len() == run.stages.len() && count_matches(run, &names) == names.len()
        }
        Matching::Superset => count_matches(run, &names) == names.len(),
        Matching::Subset => count_matches(run, &names) == run.stages.len(),
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

/// The number of names with a stage of their own, which is the number of stages with a name. Exact
/// paths are matched first.
fn count_matches(run: &WholeRun, names: &[&str]) -> usize {
    let mut names = names.to_vec();
    names.sort_by_key(|name| !run.stages.iter().any(|stage| stage.stage == **name));
    let mut free: Vec<&RunStage> = run.stages.iter().collect();
    for name in names {
        if let Some(at) = free.iter().position(|stage| stage.is_named(name)) {
            free.remove(at);
        }
    }
    run.stages.len() - free.len()
}
