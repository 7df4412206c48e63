//! `--rescore`: judges the answers of an earlier run again by the current expectations. Calls no
//! model and adds nothing to the history.

use crate::cli::context::project::Compiled;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Result};
use crate::cli::history::{Place, find};
use crate::cli::render::summary::plural;
use crate::eval::answer::KeptAnswer;
use crate::eval::finished::{Answered, CaseVerdict};
use crate::eval::scorecard::{CaseRow, RecordedRow};
use crate::store::history::EvalHistory;
use std::collections::BTreeMap;

/// A run with its answers, by the names of scenarios.
#[derive(Debug)]
pub(super) struct Earlier {
    run: String,
    is_finished: bool,
    /// Each with the context hash of that run.
    cases: BTreeMap<String, (Option<String>, Vec<KeptAnswer>)>,
}

impl Earlier {
    /// Reads a run from the history.
    ///
    /// # Errors
    /// No such run exists, it cannot be read, or its answers were not stored.
    pub(super) fn read(project: &Compiled, name: &str) -> Result<Self> {
        let place = Place::of(&project.root, &project.config)?;
        let unusable = |error| place.unusable(&error);
        let history = place
            .open()?
            .ok_or_else(|| CliError::usage("no run is kept yet").hint("`ctxc eval` makes one"))?;
        let runs = history.runs().map_err(unusable)?;
        let run = find(&runs, name)?;
        let mut cases = BTreeMap::new();
        for case in history.cases(run.order).map_err(unusable)? {
            let given = case
                .answers
                .and_then(|given| serde_json::from_str::<Vec<KeptAnswer>>(given.get()).ok());
            if let Some(given) = given.filter(|given| !given.is_empty()) {
                cases.insert(case.id, (case.context_hash, given));
            }
        }
        if cases.is_empty() {
            return Err(CliError::usage(format!("the answers of run {} were not kept: there is nothing to judge again", run.id))
                .hint("they are kept of the last 50 runs, if `[record] content` in ctxc.toml is not \"shape\""));
        }
        Ok(Self {
            run: run.id.clone(),
            is_finished: run.finished,
            cases,
        })
    }

    /// Returns the answers of a scenario.
    pub(super) fn answers(&self, scenario: &str) -> &[KeptAnswer] {
        self.cases.get(scenario).map_or(&[], |(_, given)| given)
    }

    /// Prints notes on the rescored scenarios and those without answers, and sets the reason of
    /// each row that stays undecided.
    pub(super) fn note<'f>(&self, done: impl Iterator<Item = &'f mut CaseRow>, cx: &mut Cx) {
        let (mut again, mut without, mut moved) = (0, 0, 0);
        for row in done {
            let missing = match row.rule.recorded {
                Some(RecordedRow {
                    trials,
                    of,
                    cut: true,
                }) => Some(format!(
                    "{trials} of {of} trials of it, which decide nothing"
                )),
                None if row.answer == Answered::NotRecorded.word() => {
                    Some("no answer of it".to_owned())
                }
                _ => None,
            };
            if let Some(missing) = missing.filter(|_| row.verdict() == CaseVerdict::Inconclusive) {
                let ask = format!(
                    "`ctxc eval {}` asks again, with `--record` or `--answers live`",
                    row.id
                );
                row.trouble = Some(format!("run {} has {missing}: {ask}", self.run));
            }
            let Some((context, _)) = self.cases.get(&row.id) else {
                without += 1;
                continue;
            };
            again += 1;
            moved += usize::from(row.context_hash != *context);
        }
        cx.note(&format!(
            "judged the answers of run {} again for {}; no model was asked",
            self.run,
            plural(again, "scenario")
        ));
        if without > 0 {
            let ended = if self.is_finished {
                ""
            } else {
                ", since it was broken off: `ctxc eval --resume` goes on with it"
            };
            cx.note(&format!(
                "that run kept no answers of {}{ended}",
                plural(without, "scenario")
            ));
        }
        if moved > 0 {
            cx.note(&format!(
                "the context of {} changed since: the answers were given to the earlier one",
                plural(moved, "scenario")
            ));
        }
    }
}
