//! The request of a case as it is sent, and the recorded call that answers it.

use crate::context::request::Request;
use crate::eval::prepared::PreparedCase;
use crate::eval::trials::{Rows, Tries};
use crate::record::recording::{Recording, Stage};
use crate::record::volatile::Volatile;
use crate::run::wire::{Sent, Wire};
use crate::scenario::model::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// How the requests of a case are written: for its model; without one, as a chat completion.
pub(in crate::eval) fn wire<'c>(case: &'c PreparedCase<'_>) -> Result<Wire<'c>, String> {
    let files = case.read.over(case.run.live);
    let request = Request { node: &case.node, role: case.receiver.role, files: &files, ..Request::new(case.receiver.task) };
    let mut wire =
        Wire::of(case.forest, &request, &case.routed, case.run.answers.providers).map_err(|fault| fault.to_string())?;
    if wire.model.is_none() {
        wire.call.model = case.model().map(str::to_owned);
    }
    Ok(wire)
}

/// The recorded answers of a case, each given in its turn: in each stage the nth equal request gets the nth, then the last.
#[derive(Debug)]
pub(in crate::eval) struct Replay<'r> {
    calls: &'r [Recording],
    volatile: &'r Volatile,
    by_key: BTreeMap<(Stage, String), Vec<&'r Recording>>,
    given: BTreeMap<(Stage, String), usize>,
}

fn stage(call: &Recording) -> Stage {
    call.trial.map(|trial| trial.stage).unwrap_or_default()
}

impl<'r> Replay<'r> {
    pub(in crate::eval) fn new(calls: &'r [Recording], volatile: &'r Volatile) -> Self {
        let mut by_key: BTreeMap<(Stage, String), Vec<&Recording>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for call in calls.iter().filter(|call| call.is_answered()) {
            // A line that was copied is no trial more.
            if call.trial.is_some_and(|trial| !seen.insert((trial.stage, trial.number, &call.key))) {
                continue;
            }
            by_key.entry((stage(call), volatile.key_of(call))).or_default().push(call);
        }
        Self { calls, volatile, by_key, given: BTreeMap::new() }
    }

    /// The answers to a request, and what finds them: those to an equal one before those to one that is equal less what is volatile.
    fn answers(&self, stage: Stage, sent: &Sent) -> ((Stage, String), Vec<&'r Recording>) {
        let own = (stage, sent.key.clone());
        let rest = self.volatile.key(&sent.endpoint, &sent.body).map(|rest| (stage, rest.to_string()));
        let place = rest.filter(|place| self.by_key.contains_key(place)).unwrap_or_else(|| own.clone());
        let calls = self.by_key.get(&place).cloned().unwrap_or_default();
        let equal: Vec<&Recording> = calls.iter().copied().filter(|call| call.key == sent.key).collect();
        if equal.is_empty() { (place, calls) } else { (own, equal) }
    }

    /// The trials of a stage, by its first request and its rule: as many as are recorded, and no more have to pass. Where more were recorded once,
    /// the rule holds as it is.
    pub(super) fn tries(&self, of: Stage, first: &Sent, rule: Rule, rows: Rows) -> Tries {
        let there = self.answers(of, first).1.len();
        let planned = self.calls.iter().filter(|call| stage(call) == of).filter_map(|call| Some(call.trial?.of)).max();
        Tries::known(of, rule, (there, planned.unwrap_or(0)), rows)
    }

    /// Whether a stage was recorded.
    pub(super) fn has(&self, of: Stage) -> bool {
        self.calls.iter().any(|call| stage(call) == of)
    }

    /// The next answer to a request.
    pub(in crate::eval) fn next(&mut self, stage: Stage, sent: &Sent) -> Option<&'r Recording> {
        let (place, calls) = self.answers(stage, sent);
        let number = self.given.entry(place).or_default();
        let call = calls.get(*number).or(calls.last()).copied();
        *number += 1;
        call
    }
}
