//! What a result belongs to: the context hash covers everything that decides what the agent receives, the case key what is
//! frozen and what is expected, and which version of this program judged. Where neither moved, the verdict is the same.

use super::receiver::Receiver;
use crate::base::hash::{Hash, Hasher};
use crate::context::Forest;
use crate::context::render::profile::Profile;
use crate::context::request::Files;
use crate::scenario::model::{Case, Content, Frozen};

/// The keys of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What decides the context: the task and everything that it reaches, its files, its receiver.
    pub context: Hash,
    /// What the case says, and which version of this program judges it.
    pub case: Hash,
}

/// The hash of what decides the context, who counts for its budget among it. A file that is frozen in the case counts in the key of the case.
pub(super) fn context(
    forest: &Forest<'_>,
    receiver: &Receiver,
    node: &str,
    (profile, counter): (Profile, &str),
    live: &dyn Files,
    is_frozen: impl Fn(&str) -> bool,
) -> Hash {
    let mut hasher = Hasher::new();
    hasher
        .field("ctxc context 2")
        .field(counter)
        .field(&receiver.task)
        .field(node)
        .field(receiver.profile.unwrap_or(profile).word());
    hasher.field(forest.registry.find(&receiver.task).map_or([0; 32], |task| task.hash().0));
    let system = receiver.system.as_ref().map(|(text, _)| text.clone());
    for text in [&receiver.role, &system, &receiver.model] {
        hasher.number(u64::from(text.is_some())).field(text.as_deref().unwrap_or(""));
    }
    for list in [&receiver.tools, &receiver.protected_paths] {
        hasher.number(list.len() as u64);
        for entry in list {
            hasher.field(entry);
        }
    }
    hasher.number(receiver.order.len() as u64);
    for kind in &receiver.order {
        hasher.field(kind.word());
    }
    hasher.number(receiver.budget.map_or(u64::MAX, |budget| budget as u64));
    for path in forest.files().into_iter().filter(|path| !is_frozen(path)) {
        hasher.field(&path);
        match live.text(&path) {
            Ok(text) => hasher.field(text),
            Err(why) => hasher.field("\0").field(why),
        };
    }
    hasher.finish()
}

/// The hash of what a case says, with the texts of the files that it names, the request that is stored for it, and the path at
/// which the project keeps a plan.
pub(super) fn case(case: &Case, beside: &dyn Files, snapshot: Option<&str>, plan: &str) -> Hash {
    let mut hasher = Hasher::new();
    // Plain data with string keys: writing it cannot fail.
    hasher.field("ctxc case 3").field(env!("CARGO_PKG_VERSION")).field(serde_json::to_vec(case).unwrap_or_default());
    hasher.field(plan).number(u64::from(snapshot.is_some())).field(snapshot.unwrap_or(""));
    for path in named(case) {
        match beside.text(path) {
            Ok(text) => hasher.field(path).field(text),
            Err(why) => hasher.field(path).field("\0").field(why),
        };
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
fn named(case: &Case) -> Vec<&str> {
    let situation = &case.situation;
    let mut paths: Vec<&str> = Vec::new();
    paths.extend(situation.files.values().filter_map(|one| of_content(&one.value)));
    paths.extend(situation.matches.iter().filter_map(|one| of_content(&one.text.value)));
    paths.extend(situation.inputs.values().chain(situation.results.values()).filter_map(|one| of_frozen(&one.value)));
    for expectation in &case.expectations {
        let mut open = vec![&expectation.value.test];
        while let Some(test) = open.pop() {
            schema(test, &mut paths, &mut open);
        }
    }
    paths
}

/// The schema that an expectation names, and the expectations inside it.
#[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation names a file")]
fn schema<'c>(
    test: &'c crate::scenario::model::AnswerTest,
    paths: &mut Vec<&'c str>,
    open: &mut Vec<&'c crate::scenario::model::AnswerTest>,
) {
    use crate::scenario::model::AnswerTest;
    match test {
        AnswerTest::Schema(Frozen::File(path)) => paths.push(path),
        AnswerTest::Not(inner) => open.push(&inner.value),
        AnswerTest::AnyOf(inner) | AnswerTest::AllOf(inner) => open.extend(inner.iter().map(|inner| &inner.value)),
        _ => {}
    }
}
