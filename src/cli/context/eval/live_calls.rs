//! Calls the models of a project for its scenarios, and stores their answers.

use super::answer_recorder::{AnswerRecorder, ResumedAnswer};
use crate::cli::context::model_calls::{ModelCalls, redactor};
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::cli::secret_check::SecretCheck;
use crate::eval::answer_source::{ModelCall, ModelCaller};
use crate::kernel::provider::Response;
use crate::provider::read;
use crate::provider::spending::{Spend, SpendLimit};
use crate::provider::throttle::CallStats;
use crate::record::recording::{Recording, TrialNumber, TrialStage};
use crate::record::redact::Redactor;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The models of a project, with the recorder of their answers.
#[derive(Debug)]
pub(in crate::cli::context) struct LiveModels<'p> {
    models: ModelCalls<'p>,
    state: Mutex<LiveCallState>,
    recorder: Option<AnswerRecorder<'p>>,
    /// The mask of stored data; `None` if the user's masking secret cannot be stored.
    redactor: Option<Redactor>,
}

/// The storage of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerStorage {
    /// Answers are recorded beside the scenarios.
    Record,
    /// Answers are judged and not stored.
    Discard,
}

/// The usage and failures of the calls so far.
#[derive(Debug, Default)]
struct LiveCallState {
    /// The usage of each case, by path and name, since it was last taken.
    open: BTreeMap<(String, String), CallStats>,
    /// The calls of each case that were not answered.
    failed: BTreeMap<(String, String), BTreeMap<String, u64>>,
    /// The trials of an earlier part of the run whose calls are counted.
    counted: BTreeSet<TrialName>,
}

impl LiveCallState {
    fn add_calls(&mut self, path: &str, case: &str, calls: &CallStats) {
        self.open
            .entry((path.to_owned(), case.to_owned()))
            .or_default()
            .add_stats(calls);
        self.add_failures(path, case, calls);
    }

    fn add_failures(&mut self, path: &str, case: &str, calls: &CallStats) {
        for (word, count) in &calls.failed {
            let failed = self
                .failed
                .entry((path.to_owned(), case.to_owned()))
                .or_default();
            *failed.entry(word.clone()).or_default() += count;
        }
    }
}

impl<'p> LiveModels<'p> {
    /// Prepares the models without a call. Reads the keys of providers, so the project has to be
    /// trusted.
    pub(super) fn new(
        project: &'p CompiledProject,
        storage: AnswerStorage,
        limit: SpendLimit,
        jobs: Option<NonZeroUsize>,
    ) -> Result<Self> {
        let is_recorded = storage == AnswerStorage::Record;
        let (recorder, redactor) = match redactor(project) {
            Ok(redactor) => (
                is_recorded.then(|| {
                    AnswerRecorder::new(&project.root, redactor.clone(), project.comparison())
                }),
                Some(redactor),
            ),
            Err(error) if is_recorded => return Err(error),
            Err(_) => (None, None),
        };
        Ok(Self {
            models: ModelCalls::new(&project.config, limit, jobs),
            state: Mutex::default(),
            recorder,
            redactor,
        })
    }

    /// Adds a check that refuses to store calls with secrets.
    pub(super) fn with_secret_check(self, check: SecretCheck) -> Self {
        Self {
            recorder: self
                .recorder
                .map(|recorder| recorder.with_secret_check(check)),
            ..self
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, LiveCallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the run that recorded answers belong to.
    pub(super) fn begin_run(&self, run: &str) {
        if let Some(recorder) = &self.recorder {
            recorder.name_run(run);
        }
    }

    /// Counts calls that an earlier part of the run made, with their usage. `counted` are the
    /// trials of these calls.
    pub(super) fn resume(&self, calls: u64, spend: Spend, counted: BTreeSet<TrialName>) {
        self.lock_state().counted = counted;
        self.models.resume(calls, spend);
    }

    /// Returns the usage of a case since the last call of this function.
    pub(super) fn take_usage(&self, path: &str, case: &str) -> CallStats {
        self.lock_state()
            .open
            .remove(&(path.to_owned(), case.to_owned()))
            .unwrap_or_default()
    }

    /// Adds unanswered calls to those of a case; they are already counted for the run.
    pub(super) fn add_failed_calls(&self, path: &str, case: &str, calls: &CallStats) {
        self.lock_state().add_failures(path, case, calls);
    }

    /// Returns true if answers are recorded.
    pub(super) const fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// The mask of stored data; `None` if the masking secret cannot be stored.
    pub(super) const fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// Returns the number of calls, and their usage.
    pub(super) fn total_usage(&self) -> (u64, Spend) {
        self.models.total_usage()
    }

    /// Returns the number of answers that were taken from interrupted runs.
    pub(super) fn resumed_answers(&self) -> usize {
        self.recorder
            .as_ref()
            .map_or(0, AnswerRecorder::resumed_count)
    }
}

/// A trial of a case, or all trials of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrialName {
    pub(super) case: String,
    /// The label of the trial; empty for all trials of the case.
    pub(super) label: String,
}

impl TrialName {
    pub(super) fn new(case: &str, trial: TrialNumber) -> Self {
        Self {
            case: case.to_owned(),
            label: trial_label(trial),
        }
    }

    pub(super) fn of_whole_case(case: &str) -> Self {
        Self {
            case: case.to_owned(),
            label: String::new(),
        }
    }
}

/// Returns the name of a trial, unique in its case.
pub(super) fn trial_label(trial: TrialNumber) -> String {
    let stage = match trial.stage {
        TrialStage::First => "first",
        TrialStage::Confirm => "confirm",
    };
    format!("{stage} {}", trial.number)
}

fn case_name(path: &str, case: &str) -> String {
    format!("{path}:{case}")
}

impl ModelCaller for LiveModels<'_> {
    fn call_model(&self, call: &ModelCall<'_>) -> std::result::Result<Response, String> {
        if let Some(recorder) = &self.recorder
            && let Some(ResumedAnswer {
                response,
                is_of_run,
            }) = recorder.begin_trial(call)?
        {
            // The run was killed after it stored this answer and before it counted the call.
            let counted = [
                TrialName::new(call.case, call.trial),
                TrialName::of_whole_case(call.case),
            ];
            if is_of_run
                && !counted
                    .iter()
                    .any(|trial| self.lock_state().counted.contains(trial))
            {
                let spent = self.models.call_usage(call.sent, call.context, &response);
                self.models.resume(1, spent);
                self.lock_state().add_calls(
                    call.path,
                    call.case,
                    &CallStats {
                        made: 1,
                        spent,
                        ..CallStats::default()
                    },
                );
            }
            return Ok(response);
        }
        self.models
            .spending()
            .begin_case(&case_name(call.path, call.case), u64::from(call.trial.of));
        let (calls, answered) = self.models.call_model(call.model, call.sent, call.context);
        self.lock_state().add_calls(call.path, call.case, &calls);
        let mut response = answered.map_err(|none| none.to_string())?;
        if let Some(recorder) = &self.recorder {
            let recorded = recorder.record_call(call, &response)?;
            // The stored answer is judged, so that the next run judges the same.
            let body = recorded.response_text().unwrap_or_default();
            let dialect = read::find_dialect(&recorded.dialect);
            response.answer = dialect
                .and_then(|dialect| read::answer(dialect, &body).ok())
                .unwrap_or(response.answer);
        }
        Ok(response)
    }

    fn copy_recorded_call(
        &self,
        asked: &ModelCall<'_>,
        call: &Recording,
    ) -> std::result::Result<(), String> {
        self.recorder
            .as_ref()
            .map_or(Ok(()), |recorder| recorder.copy_recorded_call(asked, call))
    }

    fn finish_recording(&self, path: &str, case: &str) -> std::result::Result<(), String> {
        self.models.spending().end_case(&case_name(path, case));
        self.recorder
            .as_ref()
            .map_or(Ok(()), |recorder| recorder.finish_recording(path, case))
    }

    fn failed_calls(&self, path: &str, case: &str) -> BTreeMap<String, u64> {
        self.lock_state()
            .failed
            .get(&(path.to_owned(), case.to_owned()))
            .cloned()
            .unwrap_or_default()
    }

    fn abandon_recording(&self, path: &str, case: &str) -> Option<String> {
        self.models.spending().end_case(&case_name(path, case));
        self.recorder.as_ref()?.abandon_recording(path, case)
    }
}
