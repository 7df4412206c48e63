//! Asks the models of a project on behalf of its scenarios, and keeps what they answer.

use crate::base::fs;
use crate::cli::context::project::Compiled;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::overwrite;
use crate::eval::asked::{Ask, Asked};
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
use crate::record::file::append;
use crate::record::json_text;
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::rules::input::read_fault::reason;
use crate::scenario::{date, paths};
use crate::schema::json::names::REQUEST;
use crate::store::secret::secret;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How the names of variables end whose values are kept nowhere.
const SECRETS: [&str; 3] = ["_KEY", "_TOKEN", "_SECRET"];

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
}

/// Writes recordings.
#[derive(Debug)]
struct Keeper<'p> {
    root: &'p Path,
    redactor: Redactor,
    /// How many calls each recording has by now; one that this run has not begun is not here.
    begun: Mutex<BTreeMap<String, usize>>,
}

impl<'p> Asking<'p> {
    /// Nobody is asked yet. The keys of providers are read, so the project has to be trusted.
    pub(super) fn new(project: &'p Compiled, keeps: bool, most: SpendLimit) -> Result<Self> {
        let Compiled { root, config, .. } = project;
        let endpoint = |model: &crate::project::models::Model| match Endpoint::of(model, config, &fs::env) {
            Ok(Some(endpoint)) => Ok(HttpProvider::new(endpoint, CallLimits::default())),
            Ok(None) => Err(format!("there is no provider `{}` in this project", model.provider.value)),
            Err(why) => Err(why.to_string()),
        };
        let kept: Option<Result<Keeper<'_>>> = keeps.then(|| {
            let salt = secret().map_err(|why| {
                CliError::new(Kind::Infrastructure, format!("what recordings are redacted with cannot be kept: {}", reason(&why)))
            })?;
            let redactor = Redactor::new(salt, fs::env_ending(&SECRETS));
            Ok(Keeper { root, redactor, begun: Mutex::default() })
        });
        Ok(Self {
            project,
            providers: config.models.values().map(|model| (model.name.value.clone(), endpoint(model))).collect(),
            limiters: config.models.values().map(|model| (model.provider.value.clone(), Limiter::new(None))).collect(),
            spending: Spending::new(most),
            clock: SystemClock::default(),
            calls: AtomicU64::new(0),
            kept: kept.transpose()?,
        })
    }

    /// The calls that were answered, and what they used.
    pub(super) fn spent(&self) -> (u64, Spend) {
        (self.calls.load(Ordering::Relaxed), self.spending.spent())
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
}

impl Keeper<'_> {
    /// Adds a call to the recording of its case. The first one of a run begins it anew.
    fn keep(&self, asked: &Asked<'_>, response: &Response) -> std::result::Result<Recording, String> {
        let path = paths::recording(asked.path, asked.case);
        let number = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            let number = begun.entry(path.clone()).or_default();
            *number += 1;
            *number
        };
        overwrite::refuse_links(self.root, &path).map_err(|error| error.message)?;
        let unkept = |why: std::io::Error| format!("the answer cannot be kept in {path}: {}", reason(&why));
        let place = self.root.join(&path);
        if number == 1 {
            fs::create_dir_all(place.parent().unwrap_or(self.root)).map_err(unkept)?;
            fs::remove(&place).map_err(unkept)?;
        }
        let recording = self.recording(asked, response, number);
        append(&place, &recording).map_err(unkept)?;
        Ok(recording)
    }

    fn recording(&self, asked: &Asked<'_>, response: &Response, number: usize) -> Recording {
        let mut redacted = Vec::new();
        let mut body =
            |body: &str, root: &str| json_text::raw(&self.redactor.json(json_text::raw(body).get(), root, &mut redacted));
        let (request, answer) = (body(&asked.sent.body, "/request"), body(&response.body, "/response"));
        Recording {
            schema: REQUEST.to_owned(),
            id: number.to_string(),
            at: Some(date::time((fs::now() / 1_000_000_000) as i64)),
            agent: None,
            conversation: Some(asked.case.to_owned()),
            run: None,
            command: None,
            answered_by: AnsweredBy::Upstream,
            dialect: asked.sent.dialect.to_owned(),
            endpoint: asked.sent.endpoint.clone(),
            model: asked.sent.model.clone(),
            stream: false,
            request,
            response: Some(answer),
            status: Some(response.status),
            usage: response.answer.usage,
            latency_ms: u64::try_from(response.latency.as_millis()).ok(),
            key: asked.sent.key.clone(),
            headers: BTreeMap::new(),
            chunks: None,
            error: None,
            truncated: false,
            redacted,
        }
    }
}
