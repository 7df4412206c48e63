//! Adds a run to the history while it is under way: each case when it is finished. If no model is
//! called and no program is run, a case takes less time than its commit, so several are committed
//! together: a kill loses only cases that are judged again within milliseconds.

use super::args::PassRule;
use super::live_calls::{LiveModels, TrialName, trial_label};
use super::load::ChosenCase;
use crate::base::fs;
use crate::base::hash::{Hash, Hasher};
use crate::cli::context::project::CompiledProject;
use crate::cli::error::{CliError, Result};
use crate::cli::history::{HistoryPlace, find_run};
use crate::cli::render::summary::pluralize;
use crate::eval::affected::RunChoice;
use crate::eval::answer::{StoredAnswer, TrialAnswer};
use crate::eval::answer_source::{AnswersFrom, TrialRecorder, TrialUnderWay};
use crate::eval::case_result::{AnswerOrigin, CaseResult, CaseVerdict, JudgedTrial, ResultKeys};
use crate::eval::scorecard::{CaseRow, TrialRow};
use crate::eval::trials::TrialPolicy;
use crate::project::config::RecordedContent;
use crate::provider::spending::Spend;
use crate::provider::throttle::CallStats;
use crate::record::fixed_mask::FixedMask;
use crate::record::recording::{Recording, TrialStage};
use crate::scenario::date;
use crate::store::SqliteHistory;
use crate::store::history::{CaseRecord, EvalHistory, OpenTrial, RunRecord, RunUsage, TrialRecord};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The history of a run that is under way.
pub(super) struct EvalJournal<'j> {
    project: &'j CompiledProject,
    asking: Option<&'j LiveModels<'j>>,
    /// The resumed run, with its finished cases.
    resumed: Option<ResumedRun>,
    /// The names of cases whose words are not kept.
    withheld: BTreeSet<String>,
    /// The number of cases in one commit.
    at_once: usize,
    state: Mutex<JournalState>,
}

/// The number of cases in one commit if all of them are fast.
const MAX_BATCH: usize = 64;

/// A run that was interrupted.
struct ResumedRun {
    run: RunRecord,
    /// Its finished cases.
    cases: Vec<CaseRecord>,
    /// The answered trials of the other cases.
    trials: BTreeMap<TrialName, OpenTrial>,
}

/// The history that a run is written to.
struct OpenHistory {
    place: HistoryPlace,
    history: SqliteHistory,
    /// The id of the run in it.
    run: i64,
}

/// A run to begin, or to resume.
pub(super) struct RunStart<'r> {
    /// The record of the run if it begins now.
    pub(super) record: RunRecord,
    /// The run to resume, by name; empty for the last unfinished one, `None` for a new run.
    pub(super) resumed_name: Option<&'r str>,
    /// True if cases run commands, which take time.
    pub(super) has_commands: bool,
    /// The names of cases about sessions that are not in the project: none of their words comes into
    /// a history in the project.
    pub(super) private: BTreeSet<String>,
}

/// The options of a run that an interrupted one must have had, too, if it is to be resumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct SelectionOptions {
    pub(super) from: AnswersFrom,
    pub(super) trials: TrialPolicy,
    /// The trials of each case, if the command line gives them.
    pub(super) rule: Option<PassRule>,
}

/// The state that is written, one case at a time.
struct JournalState {
    /// The history of the run; `None` after a write failed.
    open: Option<OpenHistory>,
    /// Cases that are not committed yet.
    waiting: Vec<CaseRecord>,
    /// The usage of the run that is already written.
    used: RunUsage,
    /// The error that ended the writes.
    failure: Option<CliError>,
}

/// A [`StoredAnswer`] whose answer is borrowed: the JSON tree of a large one is much larger.
#[derive(Serialize)]
struct StoredAnswerRef<'a> {
    stage: TrialStage,
    by: &'a str,
    answer: &'a TrialAnswer,
}

impl std::fmt::Debug for EvalJournal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

impl<'j> EvalJournal<'j> {
    /// Begins a run, or resumes one. If the history cannot be used, a new run continues without it.
    ///
    /// # Errors
    /// A run cannot be resumed.
    pub(super) fn begin(
        project: &'j CompiledProject,
        asking: Option<&'j LiveModels<'j>>,
        start: RunStart<'_>,
    ) -> Result<Self> {
        let RunStart {
            record,
            resumed_name,
            has_commands,
            private,
        } = start;
        let begun = HistoryPlace::for_project(&project.root, &project.config).and_then(|place| {
            let mut history = place.open_or_create()?;
            let resumed = resumed_name.map_or(Ok(None), |name| {
                find_resumed(&place, &history, name, &record)
            })?;
            let run = match &resumed {
                Some(resumed) => resumed.run.order,
                None => history
                    .begin_run(&record)
                    .map_err(|error| place.unusable_error(&error))?,
            };
            let open = OpenHistory {
                place,
                history,
                run,
            };
            Ok((open, resumed))
        });
        let (open, failure, resumed) = match begun {
            Ok((open, resumed)) => (Some(open), None, resumed),
            Err(error) if resumed_name.is_some() => return Err(error),
            Err(error) => (None, Some(error), None),
        };
        let mut used = RunUsage::default();
        if let Some(asking) = asking.filter(|_| open.is_some()) {
            let run = resumed.as_ref().map_or(&record, |resumed| &resumed.run);
            asking.begin_run(&run.id);
            if let Some(ResumedRun { run, cases, trials }) = &resumed {
                used = RunUsage {
                    calls: run.calls,
                    tokens: run.tokens,
                    usd: run.cost_usd,
                };
                asking.resume(
                    run.calls,
                    Spend {
                        tokens: run.tokens,
                        usd: run.cost_usd,
                    },
                    cases
                        .iter()
                        .map(|case| TrialName::of_whole_case(&case.id))
                        .chain(trials.keys().cloned())
                        .collect(),
                );
            }
        }
        let state = Mutex::new(JournalState {
            open,
            waiting: Vec::new(),
            used,
            failure,
        });
        let at_once = if asking.is_none() && !has_commands {
            MAX_BATCH
        } else {
            1
        };
        Ok(Self {
            project,
            asking,
            resumed,
            withheld: if project.config.history.is_some() {
                private
            } else {
                BTreeSet::new()
            },
            at_once,
            state,
        })
    }

    /// Returns true if a recorded call belongs to the interrupted part of this run.
    pub(super) fn is_resumed_call(&self, call: &Recording) -> bool {
        self.resumed
            .as_ref()
            .is_some_and(|resumed| call.run.as_ref() == Some(&resumed.run.id))
    }

    /// Takes the results of the resumed run whose cases are unchanged, and returns a note with
    /// their number.
    pub(super) fn carry_finished(
        &self,
        choices: &mut [RunChoice],
        keys: impl FnOnce() -> Vec<(String, Option<ResultKeys>)>,
    ) -> Option<String> {
        let ResumedRun { run, cases, .. } = self.resumed.as_ref()?;
        let cases: BTreeMap<&str, &CaseRecord> =
            cases.iter().map(|case| (case.id.as_str(), case)).collect();
        let mut taken = 0;
        for (choice, (name, keys)) in choices.iter_mut().zip(keys()) {
            let is_same = |case: &&&CaseRecord| {
                let same = keys.map(|keys| (keys.case.to_string(), Some(keys.context.to_string())));
                same.is_some_and(|(key, context)| {
                    (&case.key, &case.context_hash) == (&key, &context)
                })
            };
            let case = cases
                .get(name.as_str())
                .filter(is_same)
                .filter(|case| case.verdict != CaseVerdict::Error.word());
            let row = case
                .and_then(|case| serde_json::from_str::<CaseRow>(case.result.as_ref()?.get()).ok());
            if let Some(row) = row.filter(|_| *choice == RunChoice::Run) {
                *choice = RunChoice::Carry(Box::new(row));
                taken += 1;
            }
        }
        Some(format!(
            "resuming run {}: {} finished before, not run again",
            run.id,
            pluralize(taken, "scenario")
        ))
    }

    /// Adds a finished case, masked by `mask`; answers of models are masked by the masks that know
    /// the secrets of their calls.
    pub(super) fn add_case(&self, row: &CaseRow, done: &CaseResult, mask: &FixedMask) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let JournalState {
            open,
            waiting,
            used,
            ..
        } = &mut *state;
        if open.is_none() {
            return;
        }
        add_usage(
            used,
            &self
                .asking
                .map(|asking| asking.take_usage(&row.path, &row.id))
                .unwrap_or_default(),
        );
        let row = row.clone().with_masks(mask);
        waiting.push(if self.withheld.contains(&row.id) {
            case_record(&row.without_words(), done)
        } else {
            CaseRecord {
                answers: self.stored_answers(done, mask),
                ..case_record(&row, done)
            }
        });
        if waiting.len() >= self.at_once {
            commit_cases(&mut state);
        }
    }

    /// Returns the answers in their stored form, masked.
    fn stored_answers(&self, done: &CaseResult, mask: &FixedMask) -> Option<Box<RawValue>> {
        if self.project.config.record.content == RecordedContent::Shape || done.trials.is_empty() {
            return None;
        }
        let kept = |trial: &JudgedTrial| StoredAnswer {
            stage: trial.stage,
            by: trial.answered_by.clone(),
            answer: Arc::clone(&trial.answer),
        };
        let json = serde_json::to_string(&done.trials.iter().map(kept).collect::<Vec<_>>()).ok()?;
        match self.asking {
            None => RawValue::from_string(mask.mask_json(&json, |_| true)).ok(),
            Some(asking) => masked_answers(asking, &json),
        }
    }

    /// Ends the run.
    ///
    /// # Errors
    /// The run is not stored, or not completely.
    pub(super) fn end_run(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.waiting.is_empty() {
            commit_cases(&mut state);
        }
        if let Some(failure) = state.failure.take() {
            return Err(failure);
        }
        let Some(open) = &mut state.open else {
            return Ok(());
        };
        open.history
            .end_run(open.run)
            .map_err(|error| open.place.unusable_error(&error))
    }
}

/// Returns the stored form of the JSON of answers from models.
fn masked_answers(asking: &LiveModels<'_>, json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(asking.redactor()?.mask_json(json, "", &mut Vec::new())).ok()
}

/// Commits the waiting cases.
fn commit_cases(state: &mut JournalState) {
    let Some(open) = &mut state.open else {
        return;
    };
    let added = open.history.add_cases(open.run, &state.waiting, state.used);
    if let Err(error) = added {
        state.failure = Some(open.place.unusable_error(&error));
        state.open = None;
    }
    state.waiting.clear();
}

impl TrialRecorder for EvalJournal<'_> {
    fn earlier_answer(&self, trial: &TrialUnderWay<'_>) -> Option<TrialAnswer> {
        let kept = self
            .resumed
            .as_ref()?
            .trials
            .get(&TrialName::new(trial.case, trial.trial))?;
        let answer = kept.answer.as_ref()?;
        if (&kept.key, &kept.context_hash)
            != (
                &trial.keys.case.to_string(),
                &trial.keys.context.to_string(),
            )
        {
            return None;
        }
        let answer = serde_json::from_str::<StoredAnswer>(answer.get())
            .ok()?
            .restore();
        if let (Some(asking), Ok(used)) = (
            self.asking,
            serde_json::from_str::<CallStats>(kept.used.get()),
        ) {
            asking.add_failed_calls(trial.path, trial.case, &used);
        }
        Some(answer)
    }

    fn record_answer(&self, trial: &TrialUnderWay<'_>, answer: &TrialAnswer, by: &str) {
        let Some(asking) = self.asking else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let JournalState {
            open,
            used,
            failure,
            ..
        } = &mut *state;
        let Some(OpenHistory {
            place,
            history,
            run,
        }) = open
        else {
            return;
        };
        let calls = asking.take_usage(trial.path, trial.case);
        add_usage(used, &calls);
        // Recorded answers are stored in the recording only.
        let is_kept = !asking.is_recording()
            && self.project.config.record.content != RecordedContent::Shape
            && !self.withheld.contains(trial.case);
        let kept = || StoredAnswerRef {
            stage: trial.trial.stage,
            by,
            answer,
        };
        let answer = is_kept
            .then(|| serde_json::to_string(&kept()).ok())
            .flatten()
            .and_then(|json| masked_answers(asking, &json));
        let record = OpenTrial {
            id: trial.case.to_owned(),
            trial: trial_label(trial.trial),
            key: trial.keys.case.to_string(),
            context_hash: trial.keys.context.to_string(),
            answer,
            used: serde_json::value::to_raw_value(&calls).unwrap_or_default(),
        };
        if let Err(error) = history.add_trial(*run, &record, *used) {
            *failure = Some(place.unusable_error(&error));
            *open = None;
        }
    }
}

/// Adds calls to the usage of the run.
fn add_usage(used: &mut RunUsage, more: &CallStats) {
    used.calls += more.made;
    used.tokens = used.tokens.saturating_add(more.spent.tokens);
    used.usd += more.spent.usd;
}

/// Returns the run to resume: the named one, or the last unfinished run with the same selection.
fn find_resumed(
    place: &HistoryPlace,
    history: &SqliteHistory,
    name: &str,
    now: &RunRecord,
) -> Result<Option<ResumedRun>> {
    let runs = history
        .load_runs()
        .map_err(|error| place.unusable_error(&error))?;
    let is_same = |run: &RunRecord| run.selection == now.selection;
    let found = if name.is_empty() {
        runs.iter().rev().find(|run| !run.finished && is_same(run))
    } else {
        let run = find_run(&runs, name)?;
        if run.finished {
            return Err(CliError::usage(format!(
                "run {} is complete: nothing is left to run",
                run.id
            )));
        }
        if !is_same(run) {
            return Err(CliError::usage(format!(
                "run {} had other scenarios, another registry or other options",
                run.id
            ))
            .with_hint(
                "`ctxc eval --resume` without a name takes the last unfinished run that fits",
            ));
        }
        Some(run)
    };
    let Some(run) = found else { return Ok(None) };
    let cases = history
        .load_cases(run.order)
        .map_err(|error| place.unusable_error(&error))?;
    let trials = history
        .open_trials(run.order)
        .map_err(|error| place.unusable_error(&error))?;
    let trials = trials
        .into_iter()
        .map(|trial| {
            let name = TrialName {
                case: trial.id.clone(),
                label: trial.trial.clone(),
            };
            (name, trial)
        })
        .collect();
    Ok(Some(ResumedRun {
        run: run.clone(),
        cases,
        trials,
    }))
}

/// Returns the record of a run that begins now. Runs with equal `selection` have the same
/// scenarios, tasks and options.
pub(super) fn new_record(
    project: &CompiledProject,
    chosen: &[ChosenCase<'_>],
    options: SelectionOptions,
    planned: usize,
) -> RunRecord {
    let SelectionOptions { from, trials, rule } = options;
    // The hash of earlier versions is that of a pair.
    let rule = rule.map(|PassRule { runs, pass }| (runs, pass));
    let mut hasher = Hasher::new();
    hasher
        .add_field("ctxc selection 1")
        .add_field(env!("CARGO_PKG_VERSION"))
        .add_field(project.registry.hash().0);
    hasher
        .add_field(from.word())
        .add_number(u64::from(trials == TrialPolicy::RunAll));
    hasher.add_field(format!("{rule:?}"));
    for ChosenCase { path, case, .. } in chosen {
        hasher.add_field(path).add_field(&case.name.value);
    }
    let seconds = fs::timestamp_seconds();
    let at = date::format_time(seconds);
    let random = Hash(fs::random_bytes()).to_string();
    // `20261121-084509-1f0a9c`
    let digits: String = at
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == 'T')
        .map(|c| if c == 'T' { '-' } else { c })
        .collect();
    RunRecord {
        id: format!("{digits}-{}", random.get(3..9).unwrap_or_default()),
        order: seconds.saturating_mul(1_000_000),
        at,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        mode: if from.calls_models() {
            "real"
        } else {
            "deterministic"
        }
        .to_owned(),
        registry_hash: project.registry.hash().to_string(),
        selection: hasher.finish().to_string(),
        planned: planned as u64,
        ..RunRecord::default()
    }
}

/// Returns the record of a case for the history.
fn case_record(row: &CaseRow, done: &CaseResult) -> CaseRecord {
    let placed = || {
        let mut hasher = Hasher::new();
        hasher
            .add_field("ctxc case without a key")
            .add_field(&row.path)
            .add_field(&row.id);
        hasher.finish().to_string()
    };
    let trial = |trial: &TrialRow| TrialRecord {
        index: trial.index as u32,
        verdict: trial.verdict.clone(),
        tokens_in: trial.tokens.input,
        tokens_out: trial.tokens.output,
        cost_usd: trial.cost_usd,
        latency_ms: trial.latency_ms,
        decomposes: trial.features.decomposes,
    };
    CaseRecord {
        id: row.id.clone(),
        key: row.key.clone().unwrap_or_else(placed),
        context_hash: row.context_hash.clone(),
        provider: row.trials.first().map(|trial| trial.provider.clone()),
        model: row.model.clone(),
        live: done.answered == AnswerOrigin::Asked,
        verdict: row.verdict.clone(),
        trials: row.trials.iter().map(trial).collect(),
        result: serde_json::value::to_raw_value(row).ok(),
        answers: None,
    }
}
