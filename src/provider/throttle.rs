//! A provider that is asked again where that helps, by no more callers at once than it bears, within a budget.

use super::clock::Clock;
use super::limiter::Limiter;
use super::retry::{Attempts, Retry};
use super::spending::{Spend, Spending};
use crate::base::hash::Hasher;
use crate::kernel::provider::{Answer, Provider, ProviderError, Response, Usage, WireRequest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a call costs, by the name of its model: US$.
pub type Price<'a> = &'a (dyn Fn(&str, &Usage) -> f64 + Sync);

/// Calls that were made, and what they used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// Those that were made, answered or not.
    pub made: u64,
    /// Those that were not answered, by the words of `ProviderError`.
    pub failed: BTreeMap<String, u64>,
    /// What all of them used.
    pub spent: Spend,
}

impl Calls {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.made = self.made.saturating_add(other.made);
        self.spent = self.spent.plus(other.spent);
        for (word, count) in &other.failed {
            *self.failed.entry(word.clone()).or_default() += count;
        }
    }
}

/// A provider with patience, and with limits.
pub struct Throttle<'a> {
    provider: &'a dyn Provider,
    limiter: &'a Limiter,
    budget: &'a Spending,
    retry: Retry,
    clock: &'a dyn Clock,
    price: Price<'a>,
    seed: u64,
    context: Option<u64>,
    waits: AtomicU64,
    calls: Mutex<Calls>,
}

impl<'a> Throttle<'a> {
    /// Puts limits on a provider. The seed decides how waits are spread.
    pub fn new(
        provider: &'a dyn Provider,
        (limiter, budget, retry): (&'a Limiter, &'a Spending, Retry),
        clock: &'a dyn Clock,
        price: Price<'a>,
        seed: u64,
    ) -> Self {
        let (waits, calls) = (AtomicU64::new(0), Mutex::default());
        Self { provider, limiter, budget, retry, clock, price, seed, context: None, waits, calls }
    }

    /// Tells how many tokens its requests were counted to have, which a provider's own count is held against.
    #[must_use]
    pub const fn counting(mut self, context: Option<u64>) -> Self {
        self.context = context;
        self
    }

    fn spend(&self, model: &str, usage: &Usage) -> Spend {
        spend(self.price, model, usage)
    }

    /// The calls that were made so far.
    pub fn calls(&self) -> Calls {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, spent: Spend, error: Option<&ProviderError>) {
        // Without a key nobody is called.
        if !matches!(error, Some(ProviderError::NoKey { .. })) {
            let failed = error.map(|error| (error.word().to_owned(), 1)).into_iter().collect();
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).add(&Calls { made: 1, failed, spent });
        }
    }

    /// From 0 to 1, another one for each wait.
    fn chance(&self) -> f64 {
        let number = self.waits.fetch_add(1, Ordering::Relaxed);
        let hash = Hasher::new().number(self.seed).number(number).finish();
        f64::from(u16::from_le_bytes([hash.0[0], hash.0[1]])) / f64::from(u16::MAX)
    }
}

impl Provider for Throttle<'_> {
    fn answer(&self, request: &WireRequest<'_>) -> Result<Response, ProviderError> {
        let sent = self.spend(request.model, &guess(request.body.len(), 0));
        let mut attempts = Attempts::default();
        loop {
            let held = self.budget.hold(sent)?;
            let permit = self.limiter.enter();
            let answered = self.provider.answer(request);
            drop(permit);
            let error = match answered {
                Ok(response) => {
                    self.limiter.answered();
                    let used = used(self.price, (request, self.context), &response);
                    held.spend(used);
                    self.count(used, None);
                    return Ok(response);
                }
                Err(error) => error,
            };
            if matches!(error, ProviderError::RateLimited { .. }) {
                self.limiter.limited(self.clock.now());
            }
            // The request arrived, and may have been worked on.
            let is_billed = matches!(error, ProviderError::TimeLimit { .. } | ProviderError::CutStream { .. });
            if is_billed {
                held.spend(sent);
            }
            self.count(if is_billed { sent } else { Spend::default() }, Some(&error));
            drop(held);
            match self.retry.wait(&error, &mut attempts, self.chance()) {
                Some(wait) => self.clock.sleep(wait),
                None => return Err(error),
            }
        }
    }
}

/// What an answered call used; with the tokens of its request, where they were counted.
pub fn used(price: Price<'_>, (request, context): (&WireRequest<'_>, Option<u64>), response: &Response) -> Spend {
    spend(price, request.model, &credible(&response.answer, request.body.len(), context))
}

fn spend(price: Price<'_>, model: &str, usage: &Usage) -> Spend {
    let tokens = usage.input.unwrap_or(0).saturating_add(usage.output.unwrap_or(0));
    Spend { tokens, usd: price(model, usage) }
}

/// Bytes that are a token in most texts.
const BYTES: usize = 4;

/// What a request and an answer of so many bytes use, where nobody counted.
fn guess(sent: usize, written: usize) -> Usage {
    let tokens = |bytes: usize| Some((bytes / BYTES) as u64);
    Usage { input: tokens(sent), output: tokens(written), ..Usage::default() }
}

/// What an answer used, by its provider's count, or where that is none or cannot be, by what was counted or guessed here.
fn credible(answer: &Answer, sent: usize, context: Option<u64>) -> Usage {
    let usage = answer.usage;
    let guess = guess(sent, answer.turn.read().text.len());
    if context.is_some() && miscounted(answer, context).is_some() {
        return Usage { input: context, output: guess.output, ..Usage::default() };
    }
    if answer.contradiction().is_some() {
        return Usage { input: usage.input.max(guess.input), output: usage.output.max(guess.output), ..Usage::default() };
    }
    Usage { input: usage.input.or(guess.input), output: usage.output.or(guess.output), ..usage }
}

/// A vendor's own count differs from one that stands in for it, above all of images, but not by this factor.
const FACTOR: u64 = 25;
/// Of contexts below this nothing can be said.
const SMALL: u64 = 100;

/// What the provider of an answer counted that cannot be, where its request was counted to have so many tokens.
pub fn miscounted(answer: &Answer, context: Option<u64>) -> Option<String> {
    let context = context.filter(|context| *context >= SMALL);
    let is_off = |input: u64, context: u64| input.saturating_mul(FACTOR) < context || input > context.saturating_mul(FACTOR);
    let off = answer.usage.input.zip(context).filter(|(input, context)| is_off(*input, *context));
    let off = off.map(|(input, context)| format!("{input} tokens were counted for a request of about {context}"));
    answer.contradiction().map(str::to_owned).or(off)
}
