//! The identity of a result: the context hash covers the input of the agent; the case key covers
//! the frozen situation, the expectations and the version of this program. If neither changed, the
//! verdict is the same.

use super::asked::{AnswersFrom, CaseAnswers};
use crate::base::hash::{Hash, Hasher};
use crate::context::request::Files;
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::expect::python_modules;
use crate::scenario::expect::{answer, context as context_tests};
use crate::scenario::model::{Case, Content, Conversation, Frozen, Subject};
use std::collections::BTreeMap;

/// The maximum number of files that the own checks of one case are searched for in.
const OWN_FILES: usize = 10_000;

/// The hash of a case, of the files that it names, of its stored request, and of the configured
/// path of a plan.
pub(super) fn case(case: &Case, beside: &dyn Files, snapshot: Option<&str>, plan: &str) -> Hash {
    let mut hasher = Hasher::new();
    // Serialising plain data with string keys cannot fail.
    hasher
        .field("ctxc case 3")
        .field(env!("CARGO_PKG_VERSION"))
        .field(serde_json::to_vec(case).unwrap_or_default());
    hasher
        .field(plan)
        .number(u64::from(snapshot.is_some()))
        .field(snapshot.unwrap_or(""));
    for path in files(case) {
        match beside.text(path) {
            Ok(text) => hasher.field(path).field(text),
            Err(why) => hasher.field(path).field("\0").field(why),
        };
    }
    hasher.finish()
}

/// The same hash extended by the files of its own checks, as far as they lie in the project.
pub(super) fn checked(case: Hash, of: &Case, live: &dyn Files) -> Hash {
    let mut hasher = Hasher::new();
    hasher.field("ctxc checks 1").field(case.0);
    let files = own_files(of, live);
    let mut texts = files
        .iter()
        .filter_map(|(path, text)| Some((path, text.as_ref().ok()?)))
        .peekable();
    if texts.peek().is_none() {
        return case;
    }
    for (path, text) in texts {
        hasher.field(path).field(text);
    }
    hasher.finish()
}

/// The project files that the case's own checks consist of, by path, each with its text or the
/// reason why it cannot be read. Includes the project's modules that Python checks import.
fn own_files(case: &Case, live: &dyn Files) -> BTreeMap<String, Result<String, String>> {
    let mut open: Vec<String> = answer::each(&case.expectations)
        .filter_map(|(test, _)| test.own())
        .flat_map(OwnCheck::files)
        .collect();
    let mut found = BTreeMap::new();
    while let Some(path) = open.pop().filter(|_| found.len() < OWN_FILES) {
        if found.contains_key(&path) {
            continue;
        }
        let text = live.text(&path);
        if let Some(text) = text
            .as_ref()
            .ok()
            .filter(|_| path.strip_suffix(".py").is_some())
        {
            open.extend(python_modules::imported(&path, text));
        }
        found.insert(path, text);
    }
    found
}

/// The same hash extended by the answers of the case; unchanged in the default case of a script
/// without tools.
pub(super) fn answered(case: Hash, from: AnswersFrom, answers: &CaseAnswers<'_>) -> Hash {
    if from == AnswersFrom::Known
        && answers.tools.is_empty()
        && answers.recorded.is_ok_and(<[_]>::is_empty)
    {
        return case;
    }
    let mut hasher = Hasher::new();
    hasher
        .field("ctxc answers 1")
        .field(case.0)
        .field(from.word());
    for (name, given) in answers.tools {
        hasher.field(name).field(given.to_string());
    }
    match answers.recorded {
        Ok(calls) => {
            for call in calls {
                hasher.field(call.line());
            }
        }
        Err(why) => {
            hasher.field("\0").field(why);
        }
    }
    hasher.finish()
}

fn of_content(content: &Content) -> Option<&str> {
    match content {
        Content::File(path) => Some(path),
        Content::Text(_) => None,
    }
}

fn of_frozen(frozen: &Frozen) -> Option<&str> {
    match frozen {
        Frozen::File(path) => Some(path),
        Frozen::Value(_) => None,
    }
}

/// The files beside the scenario that a case names.
pub fn files(case: &Case) -> Vec<&str> {
    let situation = &case.situation;
    let mut paths: Vec<&str> = Vec::new();
    if let Subject::Request(source) = &case.subject.value {
        paths.extend(source.file());
    }
    paths.extend(
        situation
            .files
            .values()
            .filter_map(|one| of_content(&one.value)),
    );
    paths.extend(
        situation
            .matches
            .iter()
            .filter_map(|one| of_content(&one.text.value)),
    );
    paths.extend(
        situation
            .inputs
            .values()
            .chain(situation.results.values())
            .filter_map(|one| of_frozen(&one.value)),
    );
    if let Some(Conversation::File(path)) = situation.history.as_ref().map(|history| &history.value)
    {
        paths.push(path);
    }
    paths.extend(answer::each(&case.expectations).filter_map(|(test, _)| test.schema_file()));
    paths.extend(
        context_tests::each(&case.expect_context).flat_map(|test| test.value.schema_files()),
    );
    paths
}
