//! The request of a case as it is sent, and the recorded call that answers it.

use super::conversation::Unanswered;
use super::moved::moved;
use crate::context::request::Request;
use crate::eval::prepared::PreparedCase;
use crate::eval::trials::{Rows, Tries};
use crate::record::comparison::{Comparison, Scope};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{Recording, Stage};
use crate::run::wire::{Sent, Wire};
use crate::scenario::model::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// The wire format for the requests of a case: that of its model, or a chat completion without one.
pub(in crate::eval) fn wire<'c>(case: &'c PreparedCase<'_>) -> Result<Wire<'c>, String> {
    let files = case.read.over(case.run.live);
    let request = Request {
        node: &case.node,
        role: case.receiver.role,
        files: &files,
        ..Request::new(case.receiver.task)
    };
    let mut wire = Wire::of(
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
pub(in crate::eval) struct Replay<'r> {
    calls: &'r [Recording],
    by_stage: BTreeMap<Stage, RecordedCalls<&'r Recording>>,
}

fn stage(call: &Recording) -> Stage {
    call.trial.map(|trial| trial.stage).unwrap_or_default()
}

impl<'r> Replay<'r> {
    pub(in crate::eval) fn new(calls: &'r [Recording], comparison: &Comparison) -> Self {
        let mut by_stage: BTreeMap<Stage, Vec<&Recording>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for call in calls.iter().filter(|call| call.is_answered()) {
            // A copied line is not another trial.
            if call
                .trial
                .is_some_and(|trial| !seen.insert((trial.stage, trial.number, &call.key)))
            {
                continue;
            }
            by_stage.entry(stage(call)).or_default().push(call);
        }
        let recorded = |(stage, calls)| {
            (
                stage,
                RecordedCalls::new(calls, comparison.clone(), Scope::Whole),
            )
        };
        Self {
            calls,
            by_stage: by_stage.into_iter().map(recorded).collect(),
        }
    }

    /// The trials of a stage, given its first request and its rule: as many as recorded, and no
    /// more have to pass. If more were recorded once, the rule applies unchanged.
    pub(super) fn tries(&self, of: Stage, first: &Sent, rule: Rule, rows: Rows) -> Tries {
        let there = self
            .by_stage
            .get(&of)
            .map_or(0, |calls| calls.count(&first.live()));
        let planned = self
            .calls
            .iter()
            .filter(|call| stage(call) == of)
            .filter_map(|call| Some(call.trial?.of))
            .max();
        Tries::known(of, rule, (there, planned.unwrap_or(0)), rows)
    }

    /// Returns true if a stage was recorded.
    pub(super) fn has(&self, of: Stage) -> bool {
        self.calls.iter().any(|call| stage(call) == of)
    }

    /// The error for a request without a recorded answer: its differences from the most similar
    /// recorded request.
    pub(super) fn stale(&self, stage: Stage, sent: &Sent) -> Unanswered {
        let calls = self
            .by_stage
            .get(&stage)
            .or_else(|| self.by_stage.values().next());
        let found = calls.and_then(|calls| Some((calls, *calls.most_like(&sent.live())?)));
        Unanswered::Stale(found.map_or_else(Vec::new, |(calls, call)| {
            moved(calls.comparison(), call, &sent.live())
        }))
    }

    /// The next recorded call for a request.
    pub(in crate::eval) fn next(&self, stage: Stage, sent: &Sent) -> Option<&'r Recording> {
        self.by_stage.get(&stage)?.next(&sent.live()).copied()
    }
}
