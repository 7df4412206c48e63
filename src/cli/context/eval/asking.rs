//! Calls the models of a project for its scenarios, and stores their answers.

use super::keeper::{Keeper, TakenOver};
use crate::cli::context::model_calls::{ModelCalls, redactor};
use crate::cli::context::project::Compiled;
use crate::cli::error::Result;
use crate::cli::secret_check::SecretCheck;
use crate::eval::asked::{Ask, Asked};
use crate::kernel::provider::Response;
use crate::provider::read;
use crate::provider::spending::{Spend, SpendLimit};
use crate::provider::throttle::Calls;
use crate::record::recording::{Stage, TrialOf};
use crate::record::redact::Redactor;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The models of a project, with the recorder of their answers.
#[derive(Debug)]
pub(super) struct Asking<'p> {
    models: ModelCalls<'p>,
    state: Mutex<State>,
    kept: Option<Keeper<'p>>,
    /// The mask of stored data; `None` if the user's masking secret cannot be stored.
    redactor: Option<Redactor>,
}

/// The usage and failures of the calls so far.
#[derive(Debug, Default)]
struct State {
    /// The usage of each case, by path and name, since it was last taken.
    open: BTreeMap<(String, String), Calls>,
    /// The calls of each case that were not answered.
    failed: BTreeMap<(String, String), BTreeMap<String, u64>>,
    /// The trials of an earlier part of the run whose calls are counted, by case; an empty name
    /// stands for all trials of a case.
    counted: BTreeSet<(String, String)>,
}

impl State {
    fn add(&mut self, path: &str, case: &str, calls: &Calls) {
        self.open
            .entry((path.to_owned(), case.to_owned()))
            .or_default()
            .add(calls);
        self.fail(path, case, calls);
    }

    fn fail(&mut self, path: &str, case: &str, calls: &Calls) {
        for (word, count) in &calls.failed {
            let failed = self
                .failed
                .entry((path.to_owned(), case.to_owned()))
                .or_default();
            *failed.entry(word.clone()).or_default() += count;
        }
    }
}

impl<'p> Asking<'p> {
    /// Prepares the models without a call. Reads the keys of providers, so the project has to be
    /// trusted.
    pub(super) fn new(
        project: &'p Compiled,
        keeps: bool,
        most: SpendLimit,
        jobs: Option<NonZeroUsize>,
    ) -> Result<Self> {
        let (kept, redactor) = match redactor(project) {
            Ok(redactor) => (
                keeps.then(|| Keeper::new(&project.root, redactor.clone(), project.comparison())),
                Some(redactor),
            ),
            Err(error) if keeps => return Err(error),
            Err(_) => (None, None),
        };
        Ok(Self {
            models: ModelCalls::new(&project.config, most, jobs),
            state: Mutex::default(),
            kept,
            redactor,
        })
    }

    /// Adds a check that refuses to store calls with secrets.
    pub(super) fn checking(self, check: SecretCheck) -> Self {
        Self {
            kept: self.kept.map(|kept| kept.checking(check)),
            ..self
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the run that recorded answers belong to.
    pub(super) fn begin(&self, run: &str) {
        if let Some(keeper) = &self.kept {
            keeper.name_run(run);
        }
    }

    /// Counts calls that an earlier part of the run made, with their usage. `counted` are the
    /// trials of these calls.
    pub(super) fn resume(&self, calls: u64, spend: Spend, counted: BTreeSet<(String, String)>) {
        self.state().counted = counted;
        self.models.resume(calls, spend);
    }

    /// Returns the usage of a case since the last call of this function.
    pub(super) fn used(&self, path: &str, case: &str) -> Calls {
        self.state()
            .open
            .remove(&(path.to_owned(), case.to_owned()))
            .unwrap_or_default()
    }

    /// Adds unanswered calls to those of a case; they are already counted for the run.
    pub(super) fn failed_before(&self, path: &str, case: &str, calls: &Calls) {
        self.state().fail(path, case, calls);
    }

    /// Returns true if answers are recorded.
    pub(super) const fn records(&self) -> bool {
        self.kept.is_some()
    }

    /// The mask of stored data; `None` if the masking secret cannot be stored.
    pub(super) const fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// Returns the number of calls, and their usage.
    pub(super) fn spent(&self) -> (u64, Spend) {
        self.models.spent()
    }

    /// Returns the number of answers that were taken from interrupted runs.
    pub(super) fn taken_over(&self) -> usize {
        self.kept.as_ref().map_or(0, Keeper::taken_over)
    }
}

/// Returns the name of a trial, unique in its case.
pub(super) fn label(trial: TrialOf) -> String {
    let stage = match trial.stage {
        Stage::First => "first",
        Stage::Confirm => "confirm",
    };
    format!("{stage} {}", trial.number)
}

fn case_name(path: &str, case: &str) -> String {
    format!("{path}:{case}")
}

impl Ask for Asking<'_> {
    fn ask(&self, asked: &Asked<'_>) -> std::result::Result<Response, String> {
        if let Some(keeper) = &self.kept
            && let Some(TakenOver {
                response,
                is_of_run,
            }) = keeper.begin(asked)?
        {
            // The run was killed after it stored this answer and before it counted the call.
            let counted =
                [label(asked.trial), String::new()].map(|trial| (asked.case.to_owned(), trial));
            if is_of_run
                && !counted
                    .iter()
                    .any(|trial| self.state().counted.contains(trial))
            {
                let spent = self.models.used(asked.sent, asked.context, &response);
                self.models.resume(1, spent);
                self.state().add(
                    asked.path,
                    asked.case,
                    &Calls {
                        made: 1,
                        spent,
                        ..Calls::default()
                    },
                );
            }
            return Ok(response);
        }
        self.models.spending().begin_case(
            &case_name(asked.path, asked.case),
            u64::from(asked.trial.of),
        );
        let (calls, answered) = self.models.ask(asked.model, asked.sent, asked.context);
        self.state().add(asked.path, asked.case, &calls);
        let mut response = answered.map_err(|none| none.to_string())?;
        if let Some(keeper) = &self.kept {
            let kept = keeper.keep(asked, &response)?;
            // The stored answer is judged, so that the next run judges the same.
            let body = kept.response_text().unwrap_or_default();
            let dialect = read::dialect(&kept.dialect);
            response.answer = dialect
                .and_then(|dialect| read::answer(dialect, &body).ok())
                .unwrap_or(response.answer);
        }
        Ok(response)
    }

    fn finish(&self, path: &str, case: &str) -> std::result::Result<(), String> {
        self.models.spending().end_case(&case_name(path, case));
        self.kept
            .as_ref()
            .map_or(Ok(()), |keeper| keeper.finish(path, case))
    }

    fn failed(&self, path: &str, case: &str) -> BTreeMap<String, u64> {
        self.state()
            .failed
            .get(&(path.to_owned(), case.to_owned()))
            .cloned()
            .unwrap_or_default()
    }

    fn abandon(&self, path: &str, case: &str) -> Option<String> {
        self.models.spending().end_case(&case_name(path, case));
        self.kept.as_ref()?.abandon(path, case)
    }
}
