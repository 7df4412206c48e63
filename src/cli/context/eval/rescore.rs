//! `--rescore`: judges the answers of an earlier run again by the current expectations. Calls no
//! model and adds nothing to the history.

use crate::cli::context::project::CompiledProject;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Result};
use crate::cli::history::{HistoryPlace, find_run};
use crate::cli::render::summary::pluralize;
use crate::eval::answer::StoredAnswer;
use crate::eval::case_result::{AnswerOrigin, CaseVerdict};
use crate::eval::scorecard::{CaseRow, RecordedRow};
use crate::store::history::EvalHistory;
use crate::store::trust::quote_word;
use std::collections::BTreeMap;

/// A run with its answers, by the names of scenarios.
#[derive(Debug)]
pub(super) struct EarlierRun {
    run: String,
    is_finished: bool,
    /// Each with the context hash of that run.
    cases: BTreeMap<String, (Option<String>, Vec<StoredAnswer>)>,
}

impl EarlierRun {
    /// Reads a run from the history.
    ///
    /// # Errors
    /// No such run exists, it cannot be read, or its answers were not stored.
    pub(super) fn read(project: &CompiledProject, name: &str) -> Result<Self> {
        let place = HistoryPlace::for_project(&project.root, &project.config)?;
        let unusable = |error| place.unusable_error(&error);
        let history = place.open()?.ok_or_else(|| {
            CliError::usage("no run is kept yet").with_hint("`ctxc eval` makes one")
        })?;
        let runs = history.load_runs().map_err(unusable)?;
        let run = find_run(&runs, name)?;
        let mut cases = BTreeMap::new();
        for case in history.load_cases(run.order).map_err(unusable)? {
            let given = case
                .answers
                .and_then(|given| serde_json::from_str::<Vec<StoredAnswer>>(given.get()).ok());
            if let Some(given) = given.filter(|given| !given.is_empty()) {
                cases.insert(case.id, (case.context_hash, given));
            }
        }
        if cases.is_empty() {
            return Err(CliError::usage(format!("the answers of run {} were not kept: there is nothing to judge again", run.id))
                .with_hint("they are kept of the last 50 runs, if `[record] content` in ctxc.toml is not \"shape\""));
        }
        Ok(Self {
            run: run.id.clone(),
            is_finished: run.finished,
            cases,
        })
    }

    /// Returns the answers of a scenario.
    pub(super) fn scenario_answers(&self, scenario: &str) -> &[StoredAnswer] {
        self.cases.get(scenario).map_or(&[], |(_, given)| given)
    }

    /// Prints notes on the rescored scenarios and those without answers, and sets the reason of
    /// each row that stays undecided.
    pub(super) fn note_rescored<'f>(
        &self,
        done: impl Iterator<Item = &'f mut CaseRow>,
        cx: &mut Cx,
    ) {
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
                None if row.answer == AnswerOrigin::NotRecorded.word() => {
                    Some("no answer of it".to_owned())
                }
                _ => None,
            };
            if let Some(missing) = missing.filter(|_| row.verdict() == CaseVerdict::Inconclusive) {
                let ask = format!(
                    "`ctxc eval {}` asks again, with `--record` or `--answers live`",
                    quote_word(&row.id)
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
        cx.print_note(&format!(
            "judged the answers of run {} again for {}; no model was asked",
            self.run,
            pluralize(again, "scenario")
        ));
        if without > 0 {
            let ended = if self.is_finished {
                ""
            } else {
                ", since it was broken off: `ctxc eval --resume` goes on with it"
            };
            cx.print_note(&format!(
                "that run kept no answers of {}{ended}",
                pluralize(without, "scenario")
            ));
        }
        if moved > 0 {
            cx.print_note(&format!(
                "the context of {} changed since: the answers were given to the earlier one",
                pluralize(moved, "scenario")
            ));
        }
    }
}
