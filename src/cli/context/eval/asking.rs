//! Asks the models of a project on behalf of its scenarios, and keeps what they answer.

use super::keeper::{Keeper, TakenOver};
use crate::base::fs;
use crate::cli::context::project::Compiled;
use crate::cli::error::{CliError, Kind, Result};
use crate::eval::asked::{Ask, Asked};
use crate::eval::masks;
use crate::kernel::provider::{Provider, Response, Usage, WireRequest};
use crate::project::config::Config;
use crate::provider::clock::SystemClock;
use crate::provider::endpoint::Endpoint;
use crate::provider::http::{CallLimits, HttpProvider};
use crate::provider::limiter::Limiter;
use crate::provider::read;
use crate::provider::retry::Retry;
use crate::provider::spending::{Spend, SpendLimit, Spending};
use crate::provider::throttle::{Calls, Throttle, used};
use crate::record::recording::{Stage, TrialOf};
use crate::record::redact::{Redactor, SECRETS};
use crate::rules::input::read_fault::reason;
use crate::rules::request::check;
use crate::store::secret::secret;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The models of a project, each with who is asked for it.
#[derive(Debug)]
pub(super) struct Asking<'p> {
    project: &'p Compiled,
    /// By the names of models; why one cannot be asked.
    providers: BTreeMap<String, std::result::Result<HttpProvider, String>>,
    limiters: BTreeMap<String, Limiter>,
    spending: Spending,
    clock: SystemClock,
    state: Mutex<State>,
    kept: Option<Keeper<'p>>,
    /// What replaces secrets and personal data; `None` where its own secret cannot be kept.
    redactor: Option<Redactor>,
}

/// What was asked.
#[derive(Debug, Default)]
struct State {
    /// All calls of the run, those of an earlier part of it included.
    calls: u64,
    /// What each case has used, by path and name, since it was last written down.
    open: BTreeMap<(String, String), Calls>,
    /// The calls for each case that were not answered.
    failed: BTreeMap<(String, String), BTreeMap<String, u64>>,
    /// The trials of an earlier part of the run whose calls are counted, by case; all those of a case that has one without a name.
    counted: BTreeSet<(String, String)>,
}

impl State {
    fn add(&mut self, path: &str, case: &str, calls: &Calls) {
        self.calls = self.calls.saturating_add(calls.made);
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
        let Compiled { root, config, .. } = project;
        let endpoint = |model: &crate::project::models::Model| match Endpoint::of(model, config, &fs::env) {
            Ok(Some(endpoint)) => {
                let own = config.providers.get(&model.provider.value);
                Ok(HttpProvider::new(endpoint, CallLimits::within(own.and_then(|own| own.timeout_s))))
            }
            Ok(None) => Err(format!("there is no provider `{}` in this project", model.provider.value)),
            Err(why) => Err(why.to_string()),
        };
        let named = config.providers.values().filter_map(|provider| fs::env(provider.api_key_env.as_deref()?));
        let secrets = fs::env_ending(&SECRETS).into_iter().map(|(_, value)| value).chain(named);
        let redactor = secret().map(|salt| Redactor::new(salt, secrets).replacing(masks(&config.record.mask))).map_err(|why| {
            CliError::new(Kind::Infrastructure, format!("what recordings are redacted with cannot be kept: {}", reason(&why)))
        });
        let (kept, redactor) = match redactor {
            Ok(redactor) => (keeps.then(|| Keeper::new(root, redactor.clone())), Some(redactor)),
            Err(error) if keeps => return Err(error),
            Err(_) => (None, None),
        };
        Ok(Self {
            project,
            providers: config.models.values().map(|model| (model.name.value.clone(), endpoint(model))).collect(),
            limiters: config.models.values().map(|model| (model.provider.value.clone(), Limiter::new(jobs))).collect(),
            spending: Spending::new(most),
            clock: SystemClock::default(),
            state: Mutex::default(),
            kept,
            redactor,
        })
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
        let mut state = self.state();
        state.calls = state.calls.saturating_add(calls);
        state.counted = counted;
        self.spending.add(spend);
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
        (self.state().calls, self.spending.spent())
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

/// What a call costs; nothing where the project does not say.
fn price(config: &Config, id: &str, usage: &Usage) -> f64 {
    let model = config.models.values().find(|model| model.id == id);
    let Some(prices) = model.and_then(|model| model.prices.as_ref()) else { return 0.0 };
    prices.of_call((usage.input.unwrap_or(0), usage.cached.unwrap_or(0)), usage.output.unwrap_or(0))
}

impl Ask for Asking<'_> {
    fn ask(&self, asked: &Asked<'_>) -> std::result::Result<Response, String> {
        let Asked { model, sent, .. } = *asked;
        let unknown = || format!("there is no model `{}`", model.name.value);
        let price = |id: &str, usage: &Usage| price(&self.project.config, id, usage);
        let request = WireRequest { dialect: sent.dialect, model: &sent.model, body: &sent.body };
        if let Some(keeper) = &self.kept
            && let Some(TakenOver { response, is_of_run }) = keeper.begin(asked)?
        {
            // The run was killed after this answer was kept and before it was counted.
            let counted = [label(asked.trial), String::new()].map(|trial| (asked.case.to_owned(), trial));
            if is_of_run && !counted.iter().any(|trial| self.state().counted.contains(trial)) {
                let spent = used(&price, &request, &response);
                self.spending.add(spent);
                self.state().add(asked.path, asked.case, &Calls { made: 1, spent, ..Calls::default() });
            }
            return Ok(response);
        }
        if let Some(refusal) = check::refusal_of_body(&sent.body, Some(&sent.endpoint), &self.project.config) {
            return Err(refusal.words());
        }
        let provider = self.providers.get(&model.name.value).ok_or_else(unknown)?.as_ref().map_err(Clone::clone)?;
        let limiter = self.limiters.get(&model.provider.value).ok_or_else(unknown)?;
        let limits = (limiter, &self.spending, Retry::default());
        let seed = u64::try_from(fs::now()).unwrap_or(0);
        let patient = Throttle::new(provider, limits, &self.clock, &price, seed);
        let answered = patient.answer(&request);
        self.state().add(asked.path, asked.case, &patient.calls());
        let mut response = answered.map_err(|error| error.to_string())?;
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
        self.kept.as_ref().map_or(Ok(()), |keeper| keeper.finish(path, case))
    }

    fn failed(&self, path: &str, case: &str) -> BTreeMap<String, u64> {
        self.state().failed.get(&(path.to_owned(), case.to_owned())).cloned().unwrap_or_default()
    }

    fn abandon(&self, path: &str, case: &str) -> Option<String> {
        self.kept.as_ref()?.abandon(path, case)
    }
}
