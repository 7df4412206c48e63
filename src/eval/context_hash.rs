//! The context hash: the part of a result's identity that depends on the assembled context.

use super::case_keys;
use super::context::{found, source, stored_request};
use super::finished::Keys;
use super::prepared::{AgentBefore, CaseInput, PreparedCase, Seen};
use crate::base::hash::{Hash, Hasher};
use crate::context::assemble::Assembly;
use crate::context::fault::Fault;
use crate::context::options::Options;
use crate::kernel::context::Trust;
use crate::scenario::expect::context::each;
use crate::scenario::model::ContextExpectation;
use crate::template::setting::{SettingName, Word};

/// The keys of a case, given the hash of its context.
pub(super) fn keys(prepared: &PreparedCase<'_>, context: Hash) -> Keys {
    let CaseInput {
        case,
        beside,
        snapshot,
        ..
    } = *prepared.input;
    let snapshot = snapshot.filter(|_| case.wants_snapshot());
    let answers = (prepared.run.answers.from, prepared.input.answers);
    let case = case_keys::case(case, beside, snapshot, prepared.run.plan);
    let case = case_keys::checked(case, prepared.input.case, prepared.run.live);
    Keys {
        context,
        case: case_keys::answered(case, answers.0, &answers.1),
    }
}

/// The hash of one agent's input and of everything else that expectations on it examine: the
/// receiver, the request, the fate of each segment with its reason, the settings around it, the
/// model. An edit that changes none of these does not change the hash.
pub(super) fn of_agent(case: &PreparedCase<'_>, assembled: Result<&Assembly, &[Fault]>) -> Hash {
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
        .field("ctxc context 6")
        .field(receiver.task)
        .field(node)
        .field(profile.word())
        .field(counter.name());
    hasher.field(receiver.role_name().unwrap_or(""));
    hasher.number(budget.map_or(u64::MAX, |budget| budget as u64));
    hasher.field(routed.model().unwrap_or(""));
    for list in [receiver.tools(), receiver.protected_paths()] {
        hasher.number(list.len() as u64);
        for entry in list {
            hasher.field(entry);
        }
    }
    for place in forest.around(receiver.task, node) {
        let Ok(Some(settings)) = forest.settings(receiver.task, &place) else {
            continue;
        };
        for name in SettingName::ALL.iter().copied() {
            let setting = settings.get(name);
            hasher
                .field(&place)
                .field(name.word())
                .field(setting.value.word())
                .number(u64::from(setting.applies));
        }
    }
    for one in each(&case.input.case.expect_context) {
        if let ContextExpectation::Lookup(test) = &one.value {
            let found = found(case, test)
                .map(|found| found.into_iter().map(|one| one.id).collect::<Vec<_>>());
            for id in found.unwrap_or_else(|why| vec![why]) {
                hasher.field(id);
            }
        }
    }
    match assembled {
        Ok(assembly) => request(case, assembly, &mut hasher),
        Err(faults) => faulty(faults, &mut hasher),
    }
    hasher.finish()
}

/// The hash of a whole run: the task's content hash, and each agent's input as far as it is known
/// before the run.
pub(super) fn of_run(case: &PreparedCase<'_>, agents: &[AgentBefore<'_>]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.field("ctxc run 1").field(
        case.forest
            .registry
            .find(case.receiver.task)
            .map_or(String::new(), |task| task.hash().to_string()),
    );
    for agent in agents {
        match agent {
            Ok((case, assembly)) => drop(hasher.field(of_agent(case, Ok(assembly)).to_string())),
            Err(faults) => faulty(faults, &mut hasher),
        }
    }
    hasher.finish()
}

fn faulty(faults: &[Fault], hasher: &mut Hasher) {
    for fault in faults {
        hasher.field("\0").field(fault.to_string());
    }
}

/// Adds the request and the fate of each segment.
fn request(case: &PreparedCase<'_>, assembly: &Assembly, hasher: &mut Hasher) {
    hasher.field(stored_request(&Seen { case, assembly }));
    for account in &assembly.report.segments {
        let segment = &account.segment;
        hasher
            .field(&segment.id)
            .field(segment.kind.word())
            .field(&segment.why)
            .field(&account.reason);
        hasher.number(
            account
                .position
                .map_or(u64::MAX, |position| position as u64),
        );
        hasher.number(account.kept_tokens.map_or(u64::MAX, |tokens| tokens as u64));
        hasher.number(u64::from(segment.trust == Trust::Trusted));
        for stretch in segment.text.stretches() {
            hasher.field(source(&stretch.origin).unwrap_or(""));
        }
    }
}
