//! The request of a case as it is sent, and the recorded call that answers it.

use super::conversation::NoAnswerReason;
use super::moved::describe_changes;
use crate::context::request::Request;
use crate::eval::prepared::PreparedCase;
use crate::eval::trials::{StageTrials, TrialPolicy};
use crate::record::comparison::{ComparisonScope, RequestComparison};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{Recording, TrialStage};
use crate::run::wire::{OutgoingRequest, WireFormat};
use crate::scenario::model::TrialRule;
use std::collections::{BTreeMap, BTreeSet};

/// The wire format for the requests of a case: that of its model, or a chat completion without one.
pub(in crate::eval) fn case_wire<'c>(case: &'c PreparedCase<'_>) -> Result<WireFormat<'c>, String> {
    let files = case.read.overlay_files(case.run.live);
    let request = Request {
        node: &case.node,
        role: case.receiver.role,
        files: &files,
        ..Request::new(case.receiver.task)
    };
    let mut wire = WireFormat::for_choice(
        case.forest,
        &request,
        &case.routed,
        case.run.answers.providers,
    )
    .map_err(|fault| fault.to_string())?;
    if wire.model.is_none() {
        wire.call.model = case.model().map(str::to_owned);
    }
    Ok(wire)
}

/// The recorded answers of a case, used in turn: in each stage the nth equal request gets the nth
/// answer, later ones the last.
#[derive(Debug)]
pub(in crate::eval) struct ReplayedCalls<'r> {
    calls: &'r [Recording],
    by_stage: BTreeMap<TrialStage, RecordedCalls<&'r Recording>>,
}

fn call_stage(call: &Recording) -> TrialStage {
    call.trial.map(|trial| trial.stage).unwrap_or_default()
}

impl<'r> ReplayedCalls<'r> {
    pub(in crate::eval) fn new(calls: &'r [Recording], comparison: &RequestComparison) -> Self {
        let mut by_stage: BTreeMap<TrialStage, Vec<&Recording>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for call in calls.iter().filter(|call| call.is_answered()) {
            // A copied line is not another trial.
            if call
                .trial
                .is_some_and(|trial| !seen.insert((trial.stage, trial.number, &call.key)))
            {
                continue;
            }
            by_stage.entry(call_stage(call)).or_default().push(call);
        }
        let recorded = |(stage, calls)| {
            (
                stage,
                RecordedCalls::new(calls, comparison.clone(), ComparisonScope::Whole),
            )
        };
        Self {
            calls,
            by_stage: by_stage.into_iter().map(recorded).collect(),
        }
    }

    /// The trials of a stage, given its first request and its rule: as many as recorded, and no
    /// more have to pass. If more were recorded once, the rule applies unchanged.
    pub(super) fn plan_stage(
        &self,
        of: TrialStage,
        first: &OutgoingRequest,
        rule: TrialRule,
        rows: TrialPolicy,
    ) -> StageTrials {
        let there = self
            .by_stage
            .get(&of)
            .map_or(0, |calls| calls.count_same(&first.to_live()));
        let planned = self
            .calls
            .iter()
            .filter(|call| call_stage(call) == of)
            .filter_map(|call| Some(call.trial?.of))
            .max();
        StageTrials::with_answers(of, rule, (there, planned.unwrap_or(0)), rows)
    }

    /// Returns true if a stage was recorded.
    pub(super) fn has_stage(&self, of: TrialStage) -> bool {
        self.calls.iter().any(|call| call_stage(call) == of)
    }

    /// The error for a request without a recorded answer: its differences from the most similar
    /// recorded request.
    pub(super) fn stale_reason(&self, stage: TrialStage, sent: &OutgoingRequest) -> NoAnswerReason {
        let calls = self
            .by_stage
            .get(&stage)
            .or_else(|| self.by_stage.values().next());
        let found = calls.and_then(|calls| Some((calls, *calls.most_similar(&sent.to_live())?)));
        NoAnswerReason::Stale(found.map_or_else(Vec::new, |(calls, call)| {
            describe_changes(calls.comparison(), call, &sent.to_live())
        }))
    }

    /// The next recorded call for a request.
    pub(in crate::eval) fn next_call(
        &self,
        stage: TrialStage,
        sent: &OutgoingRequest,
    ) -> Option<&'r Recording> {
        self.by_stage
            .get(&stage)?
            .next_call(&sent.to_live())
            .copied()
    }
}
