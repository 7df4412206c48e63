//! Asks the models of a project on behalf of its scenarios, and keeps what they answer.

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

/// The models of a project, each with who is asked for it.
#[derive(Debug)]
pub(super) struct Asking<'p> {
    models: ModelCalls<'p>,
    state: Mutex<State>,
    kept: Option<Keeper<'p>>,
    /// What replaces secrets and personal data; `None` where its own secret cannot be kept.
    redactor: Option<Redactor>,
}

/// What was asked.
#[derive(Debug, Default)]
struct State {
    /// What each case has used, by path and name, since it was last written down.
    open: BTreeMap<(String, String), Calls>,
    /// The calls for each case that were not answered.
    failed: BTreeMap<(String, String), BTreeMap<String, u64>>,
    /// The trials of an earlier part of the run whose calls are counted, by case; all those of a case that has one without a name.
    counted: BTreeSet<(String, String)>,
}

impl State {
    fn add(&mut self, path: &str, case: &str, calls: &Calls) {
        self.open.entry((path.to_owned(), case.to_owned())).or_default().add(calls);
        self.fail(path, case, calls);
    }

    fn fail(&mut self, path: &str, case: &str, calls: &Calls) {
        for (word, count) in &calls.failed {
            let failed = self.failed.entry((path.to_owned(), case.to_owned())).or_default();
            *failed.entry(word.clone()).or_default() += count;
        }
    }
}

impl<'p> Asking<'p> {
    /// Nobody is asked yet. The keys of providers are read, so the project has to be trusted.
    pub(super) fn new(project: &'p Compiled, keeps: bool, most: SpendLimit, jobs: Option<NonZeroUsize>) -> Result<Self> {
        let (kept, redactor) = match redactor(project) {
            Ok(redactor) => (keeps.then(|| Keeper::new(&project.root, redactor.clone(), project.comparison())), Some(redactor)),
            Err(error) if keeps => return Err(error),
            Err(_) => (None, None),
        };
        Ok(Self { models: ModelCalls::new(&project.config, most, jobs), state: Mutex::default(), kept, redactor })
    }

    /// The same, which refuses to keep calls that hold secrets.
    pub(super) fn checking(self, check: SecretCheck) -> Self {
        Self { kept: self.kept.map(|kept| kept.checking(check)), ..self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says which run this is, so that answers are known as its own.
    pub(super) fn begin(&self, run: &str) {
        if let Some(keeper) = &self.kept {
            keeper.name_run(run);
        }
    }

    /// Counts calls that an earlier part of the run made, and what they used. `counted` are the trials that they are of.
    pub(super) fn resume(&self, calls: u64, spend: Spend, counted: BTreeSet<(String, String)>) {
        self.state().counted = counted;
        self.models.resume(calls, spend);
    }

    /// What a case has used since that was last asked.
    pub(super) fn used(&self, path: &str, case: &str) -> Calls {
        self.state().open.remove(&(path.to_owned(), case.to_owned())).unwrap_or_default()
    }

    /// Counts calls that were not answered among those of a case; they were counted for the run before.
    pub(super) fn failed_before(&self, path: &str, case: &str, calls: &Calls) {
        self.state().fail(path, case, calls);
    }

    /// Whether what is answered is recorded.
    pub(super) const fn records(&self) -> bool {
        self.kept.is_some()
    }

    /// What replaces secrets and personal data in what is kept; `None` where that is not possible.
    pub(super) const fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// The calls that were made, and what they used.
    pub(super) fn spent(&self) -> (u64, Spend) {
        self.models.spent()
    }

    /// The answers of interrupted runs that nobody had to be asked for again.
    pub(super) fn taken_over(&self) -> usize {
        self.kept.as_ref().map_or(0, Keeper::taken_over)
    }
}

/// What tells a trial from the others of its case.
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
            && let Some(TakenOver { response, is_of_run }) = keeper.begin(asked)?
        {
            // The run was killed after this answer was kept and before it was counted.
            let counted = [label(asked.trial), String::new()].map(|trial| (asked.case.to_owned(), trial));
            if is_of_run && !counted.iter().any(|trial| self.state().counted.contains(trial)) {
                let spent = self.models.used(asked.sent, asked.context, &response);
                self.models.resume(1, spent);
                self.state().add(asked.path, asked.case, &Calls { made: 1, spent, ..Calls::default() });
            }
            return Ok(response);
        }
        self.models.spending().begin_case(&case_name(asked.path, asked.case), u64::from(asked.trial.of));
        let (calls, answered) = self.models.ask(asked.model, asked.sent, asked.context);
        self.state().add(asked.path, asked.case, &calls);
        let mut response = answered.map_err(|none| none.to_string())?;
        if let Some(keeper) = &self.kept {
            let kept = keeper.keep(asked, &response)?;
            // What is judged is what is kept, so that the next run judges the same.
            let body = kept.response_text().unwrap_or_default();
            let dialect = read::dialect(&kept.dialect);
            response.answer = dialect.and_then(|dialect| read::answer(dialect, &body).ok()).unwrap_or(response.answer);
        }
        Ok(response)
    }

    fn finish(&self, path: &str, case: &str) -> std::result::Result<(), String> {
        self.models.spending().end_case(&case_name(path, case));
        self.kept.as_ref().map_or(Ok(()), |keeper| keeper.finish(path, case))
    }

    fn failed(&self, path: &str, case: &str) -> BTreeMap<String, u64> {
        self.state().failed.get(&(path.to_owned(), case.to_owned())).cloned().unwrap_or_default()
    }

    fn abandon(&self, path: &str, case: &str) -> Option<String> {
        self.models.spending().end_case(&case_name(path, case));
        self.kept.as_ref()?.abandon(path, case)
    }
}
