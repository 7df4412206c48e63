//! What a result belongs to: the context hash covers everything that decides what the agent receives, the case key what is
//! frozen and what is expected, and which version of this program judged. Where neither moved, the verdict is the same.

use crate::base::hash::{Hash, Hasher};
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::{Files, Request};
use crate::context::role::Routed;
use crate::project::roles::Role;
use crate::scenario::expect::{answer, context as context_tests};
use crate::scenario::model::{Case, Content, Conversation, Frozen};

/// The keys of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// What decides the context: the task and everything that it reaches, its files, its receiver.
    pub context: Hash,
    /// What the case says, and which version of this program judges it.
    pub case: Hash,
}

/// The hash of what decides the context: who receives it, and what the model makes of profile, budget and counter. A file that is
/// frozen in the case counts in the key of the case.
pub(super) fn context(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    routed: &Routed<'_>,
    live: &dyn Files,
    is_frozen: impl Fn(&str) -> bool,
) -> Hash {
    let Options { profile, budget, counter, .. } = routed.options;
    let mut hasher = Hasher::new();
    hasher.field("ctxc context 4").field(request.task).field(request.node).field(profile.word()).field(counter.name());
    hasher.field(forest.registry.find(request.task).map_or([0; 32], |task| task.hash().0));
    hasher.number(budget.map_or(u64::MAX, |budget| budget as u64));
    let model = routed.choice.as_ref().map(|choice| choice.model);
    for text in [routed.model(), model.map(|model| model.id.as_str()), model.map(|model| model.provider.value.as_str())] {
        hasher.number(u64::from(text.is_some())).field(text.unwrap_or(""));
    }
    for one in &routed.sampling {
        hasher.field(one.name.word()).field(one.value.to_string());
    }
    role(request.role, &mut hasher);
    for path in forest.files().into_iter().filter(|path| !is_frozen(path)) {
        hasher.field(&path);
        match live.text(&path) {
            Ok(text) => hasher.field(text),
            Err(why) => hasher.field("\0").field(why),
        };
    }
    hasher.finish()
}

/// What a role is told, may use, and puts first.
fn role(role: Option<&Role>, hasher: &mut Hasher) {
    let Some(role) = role else {
        hasher.number(0);
        return;
    };
    let system = role.system.as_ref().map_or("", |system| system.text.as_str());
    hasher.number(1).field(&role.name.value).field(system).number(u64::from(role.tools.is_some()));
    let tools = role.tools.iter().flat_map(|tools| [&tools.allowed, &tools.blocked]);
    for tool in role.tools.iter().flat_map(|tools| tools.given()) {
        hasher.field(tool.text());
    }
    for list in tools.chain([&role.protected_paths]) {
        hasher.number(list.len() as u64);
        for entry in list {
            hasher.field(&entry.value);
        }
    }
    hasher.number(role.order.len() as u64);
    for kind in &role.order {
        hasher.field(kind.value);
    }
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
    if let Some(Conversation::File(path)) = situation.history.as_ref().map(|history| &history.value) {
        paths.push(path);
    }
    paths.extend(answer::each(&case.expectations).filter_map(|(test, _)| test.schema_file()));
    paths.extend(context_tests::each(&case.expect_context).flat_map(|test| test.value.schema_files()));
    paths
}
