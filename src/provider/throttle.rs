//! A provider with retries, a limit of concurrent calls, and a budget.

use super::limiter::Limiter;
use super::retry::{CallAttempts, RetryPolicy};
use super::spending::{Spend, Spending};
use crate::base::hash::Hasher;
use crate::kernel::provider::{Answer, Provider, ProviderError, Response, Usage, WireRequest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The cost of a call in US$, by the name of its model.
pub type PriceFn<'a> = &'a (dyn Fn(&str, &Usage) -> f64 + Sync);

/// The calls that were made, and their use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallStats {
    /// The number of calls, with or without an answer.
    pub made: u64,
    /// The number of failed calls, by the names of `ProviderError`.
    pub failed: BTreeMap<String, u64>,
    /// The total use.
    pub spent: Spend,
}

impl CallStats {
    /// Adds other statistics.
    pub fn add_stats(&mut self, other: &Self) {
        self.made = self.made.saturating_add(other.made);
        self.spent = self.spent.plus(other.spent);
        for (word, count) in &other.failed {
            *self.failed.entry(word.clone()).or_default() += count;
        }
    }
}

/// A provider with retries and limits.
pub struct Throttle<'a> {
    provider: &'a dyn Provider,
    limiter: &'a Limiter,
    budget: &'a Spending,
    retry: RetryPolicy,
    clock: &'a dyn Clock,
    price: PriceFn<'a>,
    /// Determines the spread of the waits.
    seed: u64,
    /// The counted tokens of a request, against which the provider's own counts are checked.
    context: Option<u64>,
    /// The number of waits so far.
    waits: AtomicU64,
    calls: Mutex<CallStats>,
}

/// The limits of a provider.
#[derive(Clone, Copy, Debug)]
pub struct ThrottleLimits<'a> {
    /// The limit of concurrent calls.
    pub limiter: &'a Limiter,
    /// The budget that all calls share.
    pub budget: &'a Spending,
    /// The policy for repeated calls.
    pub retry: RetryPolicy,
}

impl<'a> Throttle<'a> {
    /// Adds limits to a provider. The seed determines the spread of waits.
    pub fn new(
        provider: &'a dyn Provider,
        limits: ThrottleLimits<'a>,
        clock: &'a dyn Clock,
        price: PriceFn<'a>,
        seed: u64,
    ) -> Self {
        let ThrottleLimits {
            limiter,
            budget,
            retry,
        } = limits;
        let (waits, calls) = (AtomicU64::new(0), Mutex::default());
        Self {
            provider,
            limiter,
            budget,
            retry,
            clock,
            price,
            seed,
            context: None,
            waits,
            calls,
        }
    }

    /// Sets the counted tokens of its requests, against which the provider's own counts are
    /// checked.
    #[must_use]
    pub const fn with_context_tokens(mut self, context: Option<u64>) -> Self {
        self.context = context;
        self
    }

    fn spend_of(&self, model: &str, usage: &Usage) -> Spend {
        spend(self.price, model, usage)
    }

    /// Returns the calls made so far.
    pub fn call_stats(&self) -> CallStats {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn record_call(&self, spent: Spend, error: Option<&ProviderError>) {
        // Without a key no call is made.
        if !matches!(error, Some(ProviderError::NoKey { .. })) {
            let failed = error
                .map(|error| (error.as_str().to_owned(), 1))
                .into_iter()
                .collect();
            self.calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add_stats(&CallStats {
                    made: 1,
                    failed,
                    spent,
                });
        }
    }

    /// Returns a number from 0 to 1, different for each wait.
    fn next_chance(&self) -> f64 {
        let number = self.waits.fetch_add(1, Ordering::Relaxed);
        let hash = Hasher::new()
            .add_number(self.seed)
            .add_number(number)
            .finish();
        f64::from(u16::from_le_bytes([hash.0[0], hash.0[1]])) / f64::from(u16::MAX)
    }
}

impl Provider for Throttle<'_> {
    fn answer(&self, request: &WireRequest<'_>) -> Result<Response, ProviderError> {
        let sent = self.spend_of(request.model, &estimate_usage(request.body.len(), 0));
        let mut attempts = CallAttempts::default();
        loop {
            let held = self.budget.reserve(sent)?;
            let permit = self.limiter.acquire_permit();
            let answered = self.provider.answer(request);
            drop(permit);
            let error = match answered {
                Ok(response) => {
                    self.limiter.record_answer();
                    let used = used(self.price, request, self.context, &response);
                    held.record_spend(used);
                    self.record_call(used, None);
                    return Ok(response);
                }
                Err(error) => error,
            };
            if matches!(error, ProviderError::RateLimited { .. }) {
                self.limiter.record_rate_limit(self.clock.now());
            }
            // The request arrived and may have been processed.
            let is_billed = matches!(
                error,
                ProviderError::TimeLimit { .. } | ProviderError::CutStream { .. }
            );
            if is_billed {
                held.record_spend(sent);
            }
            self.record_call(
                if is_billed { sent } else { Spend::default() },
                Some(&error),
            );
            drop(held);
            match self
                .retry
                .next_wait(&error, &mut attempts, self.next_chance())
            {
                Some(wait) => self.clock.sleep(wait),
                None => return Err(error),
            }
        }
    }
}

/// Returns the use of an answered call; `context` is the counted number of its request's tokens, if
/// it is known.
pub fn used(
    price: PriceFn<'_>,
    request: &WireRequest<'_>,
    context: Option<u64>,
    response: &Response,
) -> Spend {
    spend(
        price,
        request.model,
        &credible_usage(&response.answer, request.body.len(), context),
    )
}

fn spend(price: PriceFn<'_>, model: &str, usage: &Usage) -> Spend {
    let tokens = usage
        .input
        .unwrap_or(0)
        .saturating_add(usage.output.unwrap_or(0));
    Spend {
        tokens,
        usd: price(model, usage),
    }
}

/// The typical number of bytes per token.
const BYTES_PER_TOKEN: usize = 4;

/// Estimates the use of a request and an answer by their bytes.
fn estimate_usage(sent: usize, written: usize) -> Usage {
    let tokens = |bytes: usize| Some((bytes / BYTES_PER_TOKEN) as u64);
    Usage {
        input: tokens(sent),
        output: tokens(written),
        ..Usage::default()
    }
}

/// Returns the use of an answer: the provider's count, or the own count or estimate if that is
/// missing or impossible.
fn credible_usage(answer: &Answer, sent: usize, context: Option<u64>) -> Usage {
    let usage = answer.usage;
    let guess = estimate_usage(sent, answer.turn.text_form().text.len());
    if context.is_some() && describe_miscount(answer, context).is_some() {
        return Usage {
            input: context,
            output: guess.output,
            ..Usage::default()
        };
    }
    if answer.contradiction().is_some() {
        return Usage {
            input: usage.input.max(guess.input),
            output: usage.output.max(guess.output),
            ..Usage::default()
        };
    }
    Usage {
        input: usage.input.or(guess.input),
        output: usage.output.or(guess.output),
        ..usage
    }
}

/// The maximum ratio between the provider's count and the own one; real differences, above all for
/// images, are smaller.
const MAX_COUNT_RATIO: u64 = 25;
/// The minimum size of a context for this check.
const MIN_CHECKED_CONTEXT: u64 = 100;

/// Describes an impossible count of the provider, for a request with the given number of tokens.
pub fn describe_miscount(answer: &Answer, context: Option<u64>) -> Option<String> {
    let context = context.filter(|context| *context >= MIN_CHECKED_CONTEXT);
    let is_off = |input: u64, context: u64| {
        input.saturating_mul(MAX_COUNT_RATIO) < context
            || input > context.saturating_mul(MAX_COUNT_RATIO)
    };
    let off = answer
        .usage
        .input
        .zip(context)
        .filter(|(input, context)| is_off(*input, *context));
    let off = off.map(|(input, context)| {
        format!("{input} tokens were counted for a request of about {context}")
    });
    answer.contradiction().map(str::to_owned).or(off)
}

/// A monotonic clock.
pub trait Clock: Sync {
    /// Returns the time since a fixed moment in the past.
    fn now(&self) -> Duration;
    /// Waits for a time.
    fn sleep(&self, time: Duration);
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
