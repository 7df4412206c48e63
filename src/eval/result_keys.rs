//! The identity of a result: the context hash covers the input of the agent; the case key covers
//! the frozen situation, the expectations and the version of this program. If neither changed, the
//! verdict is the same.

use super::answer_source::{AnswersFrom, CaseAnswers};
use super::case_result::ResultKeys;
use super::context::{find_passages, source_name, stored_request};
use super::judge::judge_settings;
use super::prepared_case::{AgentPreview, CaseInput, PreparedCase, SeenContext};
use crate::base::hash::{Hash, Hasher};
use crate::context::assemble::Assembly;
use crate::context::fault::Fault;
use crate::context::options::Options;
use crate::context::request::Files;
use crate::kernel::context::Trust;
use crate::scenario::expect::context::all_expectations;
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::expect::{answer, context as context_tests, own_check};
use crate::scenario::model::{
    CaseSubject, ContextExpectation, FrozenConversation, FrozenText, FrozenValue, ScenarioCase,
};
use crate::template::setting::{SettingName, Word};
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
        .chain(case.subject.value.compaction_program())
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
            open.extend(own_check::imported_files(&path, text));
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

/// Returns the hash of a case extended by the judge and its recorded judgements; unchanged if the
/// case needs none.
fn hash_with_judge(case: Hash, prepared: &PreparedCase<'_>) -> Hash {
    let CaseInput {
        case: of, answers, ..
    } = prepared.input;
    let judge = prepared.run.answers.judge;
    let Some(judge) = judge.filter(|judge| judge.agent.is_ok()) else {
        return case;
    };
    if !answer::all_tests(&of.expectations).any(|(test, _)| test.needs_judge()) {
        return case;
    }
    let mut hasher = Hasher::new();
    hasher.add_field("ctxc judged 1").add_field(case.0);
    judge.add_to_hash(judge_settings(prepared.run), &mut hasher);
    match answers.judged {
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
        answer::all_tests(&case.expectations)
            .filter_map(|(test, _)| Some(test.judge_test()?.rubric_file()?.value.as_str())),
    );
    paths.extend(
        context_tests::all_expectations(&case.expect_context)
            .flat_map(|test| test.value.schema_files()),
    );
    paths
}

/// The keys of a case, given the hash of its context.
pub(super) fn result_keys(prepared: &PreparedCase<'_>, context: Hash) -> ResultKeys {
    let CaseInput {
        case,
        beside,
        snapshot,
        ..
    } = *prepared.input;
    let snapshot = snapshot.filter(|_| case.uses_snapshot());
    let answers = (prepared.run.answers.from, prepared.input.answers);
    let case = hash_case(case, beside, snapshot, prepared.run.plan);
    let case = hash_with_checks(case, prepared.input.case, prepared.run.live);
    ResultKeys {
        context,
        case: hash_with_judge(hash_with_answers(case, answers.0, &answers.1), prepared),
    }
}

/// The hash of one agent's input and of everything else that expectations on it examine: the
/// receiver, the request, the disposition of each segment with its reason, the settings around it, the
/// model. An edit that changes none of these does not change the hash.
pub(super) fn hash_agent_context(
    case: &PreparedCase<'_>,
    assembled: Result<&Assembly, &[Fault]>,
) -> Hash {
    let PreparedCase {
        forest,
        receiver,
        node,
        routed,
        ..
    } = case;
    let Options {
        profile,
        budget,
        counter,
        ..
    } = routed.options;
    let mut hasher = Hasher::new();
    hasher
        .add_field("ctxc context 6")
        .add_field(receiver.task)
        .add_field(node)
        .add_field(profile.word())
        .add_field(counter.name());
    hasher.add_field(receiver.role_name().unwrap_or(""));
    hasher.add_number(budget.map_or(u64::MAX, |budget| budget as u64));
    hasher.add_field(routed.model().unwrap_or(""));
    for list in [receiver.tools(), receiver.protected_paths()] {
        hasher.add_number(list.len() as u64);
        for entry in list {
            hasher.add_field(entry);
        }
    }
    for place in forest.enclosing_nodes(receiver.task, node) {
        let Ok(Some(settings)) = forest.settings(receiver.task, &place) else {
            continue;
        };
        for name in SettingName::ALL.iter().copied() {
            let setting = settings.get(name);
            hasher
                .add_field(&place)
                .add_field(name.word())
                .add_field(setting.value.as_str())
                .add_number(u64::from(setting.applies));
        }
    }
    for one in all_expectations(&case.input.case.expect_context) {
        if let ContextExpectation::Lookup(test) = &one.value {
            let found = find_passages(case, test)
                .map(|found| found.into_iter().map(|one| one.id).collect::<Vec<_>>());
            for id in found.unwrap_or_else(|why| vec![why]) {
                hasher.add_field(id);
            }
        }
    }
    match assembled {
        Ok(assembly) => add_request(case, assembly, &mut hasher),
        Err(faults) => add_faults(faults, &mut hasher),
    }
    hasher.finish()
}

/// The hash of a whole run: the task's content hash, and each agent's input as far as it is known
/// before the run.
pub(super) fn hash_run_context(case: &PreparedCase<'_>, agents: &[AgentPreview<'_>]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.add_field("ctxc run 1").add_field(
        case.forest
            .registry
            .find(case.receiver.task)
            .map_or(String::new(), |task| task.hash().to_string()),
    );
    for agent in agents {
        match agent {
            Ok((case, assembly)) => {
                hasher.add_field(hash_agent_context(case, Ok(assembly)).to_string());
            }
            Err(faults) => add_faults(faults, &mut hasher),
        }
    }
    hasher.finish()
}

fn add_faults(faults: &[Fault], hasher: &mut Hasher) {
    for fault in faults {
        hasher.add_field("\0").add_field(fault.to_string());
    }
}

/// Adds the request and the disposition of each segment.
fn add_request(case: &PreparedCase<'_>, assembly: &Assembly, hasher: &mut Hasher) {
    hasher.add_field(stored_request(&SeenContext { case, assembly }));
    for account in &assembly.report.segments {
        let segment = &account.segment;
        hasher
            .add_field(&segment.id)
            .add_field(segment.kind.as_str())
            .add_field(&segment.why)
            .add_field(&account.reason);
        hasher.add_number(
            account
                .position
                .map_or(u64::MAX, |position| position as u64),
        );
        hasher.add_number(account.kept_tokens.map_or(u64::MAX, |tokens| tokens as u64));
        hasher.add_number(u64::from(segment.trust == Trust::Trusted));
        for stretch in segment.text.stretches() {
            hasher.add_field(source_name(&stretch.origin).unwrap_or(""));
        }
    }
}
