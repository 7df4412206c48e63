//! The identity of a result: the context hash covers the input of the agent; the case key covers
//! the frozen situation, the expectations and the version of this program. If neither changed, the
//! verdict is the same.

use super::asked::{AnswersFrom, CaseAnswers};
use crate::base::hash::{Hash, Hasher};
use crate::context::request::Files;
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::expect::python_modules;
use crate::scenario::expect::{answer, context as context_tests};
use crate::scenario::model::{
    CaseSubject, FrozenConversation, FrozenText, FrozenValue, ScenarioCase,
};
use std::collections::BTreeMap;

/// The maximum number of files that the own checks of one case are searched for in.
const MAX_CHECK_FILES: usize = 10_000;

/// The hash of a case, of the files that it names, of its stored request, and of the configured
/// path of a plan.
pub(super) fn hash_case(
    case: &ScenarioCase,
    beside: &dyn Files,
    snapshot: Option<&str>,
    plan: &str,
) -> Hash {
    let mut hasher = Hasher::new();
    // Serialising plain data with string keys cannot fail.
    hasher
        .add_field("ctxc case 3")
        .add_field(env!("CARGO_PKG_VERSION"))
        .add_field(serde_json::to_vec(case).unwrap_or_default());
    hasher
        .add_field(plan)
        .add_number(u64::from(snapshot.is_some()))
        .add_field(snapshot.unwrap_or(""));
    for path in referenced_files(case) {
        match beside.text(path) {
            Ok(text) => hasher.add_field(path).add_field(text),
            Err(why) => hasher.add_field(path).add_field("\0").add_field(why),
        };
    }
    hasher.finish()
}

/// Returns the hash of a case extended by the files of the case's own checks, as far as they lie in
/// the project.
pub(super) fn hash_with_checks(case: Hash, of: &ScenarioCase, live: &dyn Files) -> Hash {
    let mut hasher = Hasher::new();
    hasher.add_field("ctxc checks 1").add_field(case.0);
    let files = check_files(of, live);
    let mut texts = files
        .iter()
        .filter_map(|(path, text)| Some((path, text.as_ref().ok()?)))
        .peekable();
    if texts.peek().is_none() {
        return case;
    }
    for (path, text) in texts {
        hasher.add_field(path).add_field(text);
    }
    hasher.finish()
}

/// The project files that the case's own checks consist of, by path, each with its text or the
/// reason why it cannot be read. Includes the project's modules that Python checks import.
fn check_files(case: &ScenarioCase, live: &dyn Files) -> BTreeMap<String, Result<String, String>> {
    let mut open: Vec<String> = answer::all_tests(&case.expectations)
        .filter_map(|(test, _)| test.own_check())
        .flat_map(OwnCheck::possible_files)
        .collect();
    let mut found = BTreeMap::new();
    while let Some(path) = open.pop().filter(|_| found.len() < MAX_CHECK_FILES) {
        if found.contains_key(&path) {
            continue;
        }
        let text = live.text(&path);
        if let Some(text) = text
            .as_ref()
            .ok()
            .filter(|_| path.strip_suffix(".py").is_some())
        {
            open.extend(python_modules::imported_files(&path, text));
        }
        found.insert(path, text);
    }
    found
}

/// Returns the hash of a case extended by its answers; unchanged in the default case of a script
/// without tools.
pub(super) fn hash_with_answers(case: Hash, from: AnswersFrom, answers: &CaseAnswers<'_>) -> Hash {
    if from == AnswersFrom::Known
        && answers.tools.is_empty()
        && answers.recorded.is_ok_and(<[_]>::is_empty)
    {
        return case;
    }
    let mut hasher = Hasher::new();
    hasher
        .add_field("ctxc answers 1")
        .add_field(case.0)
        .add_field(from.word());
    for (name, given) in answers.tools {
        hasher.add_field(name).add_field(given.to_string());
    }
    match answers.recorded {
        Ok(calls) => {
            for call in calls {
                hasher.add_field(call.to_line());
            }
        }
        Err(why) => {
            hasher.add_field("\0").add_field(why);
        }
    }
    hasher.finish()
}

fn content_file(content: &FrozenText) -> Option<&str> {
    match content {
        FrozenText::File(path) => Some(path),
        FrozenText::Text(_) => None,
    }
}

fn frozen_file(frozen: &FrozenValue) -> Option<&str> {
    match frozen {
        FrozenValue::File(path) => Some(path),
        FrozenValue::Value(_) => None,
    }
}

/// The files beside the scenario that a case names.
pub fn referenced_files(case: &ScenarioCase) -> Vec<&str> {
    let situation = &case.situation;
    let mut paths: Vec<&str> = Vec::new();
    if let CaseSubject::Request(source) = &case.subject.value {
        paths.extend(source.file());
    }
    paths.extend(
        situation
            .files
            .values()
            .filter_map(|one| content_file(&one.value)),
    );
    paths.extend(
        situation
            .matches
            .iter()
            .filter_map(|one| content_file(&one.text.value)),
    );
    paths.extend(
        situation
            .inputs
            .values()
            .chain(situation.results.values())
            .filter_map(|one| frozen_file(&one.value)),
    );
    if let Some(FrozenConversation::File(path)) =
        situation.history.as_ref().map(|history| &history.value)
    {
        paths.push(path);
    }
    paths.extend(answer::all_tests(&case.expectations).filter_map(|(test, _)| test.schema_file()));
    paths.extend(
        context_tests::all_expectations(&case.expect_context)
            .flat_map(|test| test.value.schema_files()),
    );
    paths
}
