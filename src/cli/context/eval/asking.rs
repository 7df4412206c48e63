//! Asks the models of a project on behalf of its scenarios, and keeps what they answer.

use super::keeper::Keeper;
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
use crate::provider::throttle::Throttle;
use crate::record::redact::{Redactor, SECRETS};
use crate::rules::input::read_fault::reason;
use crate::rules::request::check;
use crate::store::secret::secret;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The models of a project, each with who is asked for it.
#[derive(Debug)]
pub(super) struct Asking<'p> {
    project: &'p Compiled,
    /// By the names of models; why one cannot be asked.
    providers: BTreeMap<String, std::result::Result<HttpProvider, String>>,
    limiters: BTreeMap<String, Limiter>,
    spending: Spending,
    clock: SystemClock,
    calls: AtomicU64,
    kept: Option<Keeper<'p>>,
    /// What replaces secrets and personal data; `None` where its own secret cannot be kept.
    redactor: Option<Redactor>,
}

impl<'p> Asking<'p> {
    /// Nobody is asked yet. The keys of providers are read, so the project has to be trusted.
    pub(super) fn new(project: &'p Compiled, keeps: bool, most: SpendLimit, jobs: Option<NonZeroUsize>) -> Result<Self> {
        let Compiled { root, config, .. } = project;
        let endpoint = |model: &crate::project::models::Model| match Endpoint::of(model, config, &fs::env) {
            Ok(Some(endpoint)) => Ok(HttpProvider::new(endpoint, CallLimits::default())),
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
            calls: AtomicU64::new(0),
            kept,
            redactor,
        })
    }

    /// Counts calls that an earlier part of the run made, and what they used.
    pub(super) fn resume(&self, calls: u64, spend: Spend) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
        self.spending.add(spend);
    }

    /// What replaces secrets and personal data in what is kept; `None` where that is not possible.
    pub(super) const fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// The calls that were answered, and what they used.
    pub(super) fn spent(&self) -> (u64, Spend) {
        (self.calls.load(Ordering::Relaxed), self.spending.spent())
    }

    /// The answers of interrupted runs that nobody had to be asked for again.
    pub(super) fn taken_over(&self) -> usize {
        self.kept.as_ref().map_or(0, Keeper::taken_over)
    }
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
        if let Some(keeper) = &self.kept
            && let Some(response) = keeper.begin(asked)?
        {
            return Ok(response);
        }
        if let Some(refusal) = check::refusal_of_body(&sent.body, Some(&sent.endpoint), &self.project.config) {
            return Err(refusal.words());
        }
        let provider = self.providers.get(&model.name.value).ok_or_else(unknown)?.as_ref().map_err(Clone::clone)?;
        let limiter = self.limiters.get(&model.provider.value).ok_or_else(unknown)?;
        let price = |id: &str, usage: &Usage| price(&self.project.config, id, usage);
        let limits = (limiter, &self.spending, Retry::default());
        let seed = u64::try_from(fs::now()).unwrap_or(0);
        let patient = Throttle::new(provider, limits, &self.clock, &price, seed);
        let request = WireRequest { dialect: sent.dialect, model: &sent.model, body: &sent.body };
        let mut response = patient.answer(&request).map_err(|error| error.to_string())?;
        self.calls.fetch_add(1, Ordering::Relaxed);
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

    fn abandon(&self, path: &str, case: &str) -> Option<String> {
        self.kept.as_ref()?.abandon(path, case)
    }
}
