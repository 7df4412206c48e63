//! Calls of a project's models: by the provider of each, with retries, with no more parallel calls
//! than a provider allows, and within a budget. Reads API keys, so the project has to be trusted.

use super::project::CompiledProject;
use crate::base::fs;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::eval::compile_masks;
use crate::eval::request::examined_request::min_tokens;
use crate::kernel::provider::{Provider, ProviderError, Response, Usage, WireRequest};
use crate::project::config::Config;
use crate::project::models::ModelConfig;
use crate::provider::endpoint::Endpoint;
use crate::provider::http::{CallLimits, HttpProvider};
use crate::provider::limiter::Limiter;
use crate::provider::retry::RetryPolicy;
use crate::provider::spending::{Spend, SpendLimit, Spending};
use crate::provider::throttle::{CallStats, SystemClock, Throttle, ThrottleLimits, used};
use crate::record::fixed_mask::FixedMask;
use crate::record::recording::AnsweredBy;
use crate::record::redact::Redactor;
use crate::rules::input::read_fault::describe_io_error;
use crate::rules::request::check;
use crate::run::answers::{AgentRequest, AnswerBackend, NoAnswer, SourcedAnswer};
use crate::run::wire::OutgoingRequest;
use crate::store::secret::load_or_create;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The models of a project, each with its provider.
#[derive(Debug)]
pub(in crate::cli) struct ModelCalls<'p> {
    config: &'p Config,
    /// By the names of models; the error is the reason why a model cannot be called.
    providers: BTreeMap<String, std::result::Result<HttpProvider, String>>,
    limiters: BTreeMap<String, Limiter>,
    spending: Spending,
    clock: SystemClock,
    calls: AtomicU64,
}

impl<'p> ModelCalls<'p> {
    /// Creates the providers and their limiters. Calls no model.
    pub(in crate::cli) fn new(
        config: &'p Config,
        max: SpendLimit,
        jobs: Option<NonZeroUsize>,
    ) -> Self {
        let endpoint = |model: &ModelConfig| match Endpoint::resolve(model, config, &fs::env_var) {
            Ok(Some(endpoint)) => {
                let own = config.providers.get(&model.provider.value);
                Ok(HttpProvider::new(
                    endpoint,
                    CallLimits::within_seconds(own.and_then(|own| own.timeout_s)),
                ))
            }
            Ok(None) => Err(format!(
                "there is no provider `{}` in this project",
                model.provider.value
            )),
            Err(why) => Err(why.to_string()),
        };
        Self {
            config,
            providers: config
                .models
                .values()
                .map(|model| (model.name.value.clone(), endpoint(model)))
                .collect(),
            limiters: config
                .models
                .values()
                .map(|model| (model.provider.value.clone(), Limiter::new(jobs)))
                .collect(),
            spending: Spending::new(max),
            clock: SystemClock::default(),
            calls: AtomicU64::new(0),
        }
    }

    /// Counts calls that an earlier part of the run made, with their usage.
    pub(super) fn resume(&self, calls: u64, spend: Spend) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
        self.spending.add_spend(spend);
    }

    /// The budget that all calls share.
    pub(super) const fn spending(&self) -> &Spending {
        &self.spending
    }

    /// The number of calls and their total use.
    pub(super) fn total_usage(&self) -> (u64, Spend) {
        (
            self.calls.load(Ordering::Relaxed),
            self.spending.total_spend(),
        )
    }

    /// Returns the usage of an answered call.
    pub(super) fn call_usage(
        &self,
        sent: &OutgoingRequest,
        context: Option<u64>,
        response: &Response,
    ) -> Spend {
        used(
            &|id: &str, usage: &Usage| call_price(self.config, id, usage),
            &wire_request(sent),
            context,
            response,
        )
    }

    /// Calls a model, and returns the calls that this took. `context` is the token count of the
    /// request, if it was counted.
    ///
    /// # Errors
    /// The model did not answer.
    pub(in crate::cli) fn call_model(
        &self,
        model: &ModelConfig,
        sent: &OutgoingRequest,
        context: Option<u64>,
    ) -> (CallStats, std::result::Result<Response, NoAnswer>) {
        let unknown = || NoAnswer::Provider(format!("there is no model `{}`", model.name.value));
        let found = || {
            if let Some(refusal) = check::find_body_rejection(
                &sent.body,
                Some(&sent.endpoint),
                min_tokens,
                self.config,
            ) {
                return Err(NoAnswer::Provider(refusal.describe()));
            }
            let provider = self.providers.get(&model.name.value).ok_or_else(unknown)?;
            let provider = provider
                .as_ref()
                .map_err(|why| NoAnswer::Provider(why.clone()))?;
            Ok((
                provider,
                self.limiters
                    .get(&model.provider.value)
                    .ok_or_else(unknown)?,
            ))
        };
        let (provider, limiter) = match found() {
            Ok(found) => found,
            Err(none) => return (CallStats::default(), Err(none)),
        };
        let price = |id: &str, usage: &Usage| call_price(self.config, id, usage);
        let limits = ThrottleLimits {
            limiter,
            budget: &self.spending,
            retry: RetryPolicy::default(),
        };
        let seed = u64::try_from(fs::now_nanos()).unwrap_or(0);
        let patient =
            Throttle::new(provider, limits, &self.clock, &price, seed).with_context_tokens(context);
        let answered = patient.answer(&wire_request(sent)).map_err(|error| {
            let is_spent = matches!(error, ProviderError::OverBudget { .. });
            if is_spent {
                NoAnswer::Budget(error.to_string())
            } else {
                NoAnswer::Failed(error)
            }
        });
        let calls = patient.call_stats();
        self.calls.fetch_add(calls.made, Ordering::Relaxed);
        (calls, answered)
    }
}

fn wire_request(sent: &OutgoingRequest) -> WireRequest<'_> {
    WireRequest {
        dialect: sent.dialect,
        model: &sent.model,
        body: &sent.body,
    }
}

impl AnswerBackend for ModelCalls<'_> {
    fn answer(&self, request: &AgentRequest<'_>) -> std::result::Result<SourcedAnswer, NoAnswer> {
        let no_model = || {
            let why = "name a model in its template, or run it by a role that has one";
            NoAnswer::NotRecorded(format!(
                "nothing says which model answers {}: {why}",
                request.stage
            ))
        };
        let response = self
            .call_model(request.model.ok_or_else(no_model)?, request.sent, None)
            .1?;
        Ok(SourcedAnswer {
            response,
            by: AnsweredBy::Upstream,
        })
    }
}

/// Returns the price of a call; zero if the project gives no price.
fn call_price(config: &Config, id: &str, usage: &Usage) -> f64 {
    let model = config.models.values().find(|model| model.id == id);
    let Some(prices) = model.and_then(|model| model.prices.as_ref()) else {
        return 0.0;
    };
    prices.call_cost(
        usage.input.unwrap_or(0),
        usage.cached.unwrap_or(0),
        usage.output.unwrap_or(0),
    )
}

/// Returns the mask for stored requests and for scorecard rows, which other machines compare.
pub(in crate::cli) fn fixed_mask(project: &CompiledProject) -> FixedMask {
    let config = &project.config;
    FixedMask::new(
        config.record.content,
        compile_masks(&config.record.mask),
        project.known_secrets(),
    )
}

/// Returns the mask for stored calls of a project.
///
/// # Errors
/// The user's masking secret cannot be stored.
pub(in crate::cli) fn redactor(project: &CompiledProject) -> Result<Redactor> {
    load_or_create()
        .map(|salt| {
            Redactor::new(salt, project.known_secrets())
                .with_patterns(compile_masks(&project.config.record.mask))
        })
        .map_err(|why| {
            CliError::new(
                CliErrorKind::Infrastructure,
                format!(
                    "what recordings are redacted with cannot be kept: {}",
                    describe_io_error(&why)
                ),
            )
        })
}
