//! The context hash: the part of a result's identity that depends on the assembled context.

use super::case_keys;
use super::context::{find_passages, source_name, stored_request};
use super::finished::ResultKeys;
use super::prepared::{AgentPreview, CaseInput, PreparedCase, SeenContext};
use crate::base::hash::{Hash, Hasher};
use crate::context::assemble::Assembly;
use crate::context::fault::Fault;
use crate::context::options::Options;
use crate::kernel::context::Trust;
use crate::scenario::expect::context::all_expectations;
use crate::scenario::model::ContextExpectation;
use crate::template::setting::{SettingName, Word};

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
    let case = case_keys::hash_case(case, beside, snapshot, prepared.run.plan);
    let case = case_keys::hash_with_checks(case, prepared.input.case, prepared.run.live);
    ResultKeys {
        context,
        case: case_keys::hash_with_answers(case, answers.0, &answers.1),
    }
}

/// The hash of one agent's input and of everything else that expectations on it examine: the
/// receiver, the request, the fate of each segment with its reason, the settings around it, the
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

/// Adds the request and the fate of each segment.
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
