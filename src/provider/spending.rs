//! The common budget of all calls. A call begins only if its share is left; calls under way count
//! with their share.

use crate::base::number::{format_thousands, format_usd};
use crate::kernel::provider::ProviderError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spend {
    /// Tokens sent and received.
    pub tokens: u64,
    /// US$.
    pub usd: f64,
}

impl Spend {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd + other.usd,
        }
    }

    /// So many times as much.
    #[allow(clippy::cast_precision_loss, reason = "calls are fewer than 2^52")]
    fn times(self, calls: u64) -> Self {
        Self {
            tokens: self.tokens.saturating_mul(calls),
            usd: self.usd * calls as f64,
        }
    }

    /// The greater of both, each for itself.
    pub(super) fn max_each(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.max(other.tokens),
            usd: self.usd.max(other.usd),
        }
    }
}

/// The limits of a budget; `None` for unlimited.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpendLimit {
    /// Tokens sent and received.
    pub tokens: Option<u64>,
    /// US$.
    pub usd: Option<f64>,
}

/// A budget that calls share.
#[derive(Debug, Default)]
pub struct Spending {
    limit: SpendLimit,
    state: Mutex<SpendingState>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct SpendingState {
    spent: Spend,
    /// The shares of the calls under way.
    reserved: Vec<Spend>,
    /// The largest use of one call.
    largest: Spend,
    /// The reason why no further call may begin.
    over: Option<String>,
    /// The calls that each case under way may still make.
    cases: BTreeMap<String, u64>,
}

impl Spending {
    /// Creates an unused budget.
    pub fn new(max: SpendLimit) -> Self {
        Self {
            limit: max,
            ..Self::default()
        }
    }

    /// Adds earlier use.
    pub fn add_spend(&self, spend: Spend) {
        let mut state = self.lock_state();
        state.spent = state.spent.plus(spend);
    }

    fn lock_state(&self) -> MutexGuard<'_, SpendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the use so far.
    pub fn total_spend(&self) -> Spend {
        self.lock_state().spent
    }

    /// Reserves the share of a call: at least `min`, and at least the largest use so far. Waits
    /// while only shares of calls under way prevent it.
    ///
    /// # Errors
    /// The budget is exhausted. From then on no call begins.
    pub(super) fn reserve(&self, min: Spend) -> Result<Reservation<'_>, ProviderError> {
        let mut state = self.lock_state();
        loop {
            let wanted = min.max_each(state.largest);
            if state.over.is_none() {
                state.over = self.describe_excess(state.spent, wanted);
            }
            if let Some(why) = state.over.clone() {
                drop(state);
                self.settled.notify_all();
                return Err(ProviderError::OverBudget { why });
            }
            let held = state
                .reserved
                .iter()
                .fold(state.spent, |sum, held| sum.plus(*held));
            if self.describe_excess(held, wanted).is_none() {
                state.reserved.push(wanted);
                return Ok(Reservation {
                    budget: self,
                    reserved: wanted,
                });
            }
            state = self
                .settled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets a case begin that may make so many calls: at once where the budget has no limit or
    /// surely covers it beside those under way, else once they are done. So cases are finished one
    /// by one, in place of all begun and none whole.
    pub fn begin_case(&self, case: &str, calls: u64) {
        if self.limit.tokens.is_none() && self.limit.usd.is_none() {
            return;
        }
        let mut state = self.lock_state();
        while !state.cases.contains_key(case) && !state.cases.is_empty() && state.over.is_none() {
            let is_known = state.largest != Spend::default();
            let all = state
                .cases
                .values()
                .fold(calls, |sum, calls| sum.saturating_add(*calls));
            let held = state
                .reserved
                .iter()
                .fold(state.spent, |sum, held| sum.plus(*held));
            if is_known
                && self
                    .describe_excess(held, state.largest.times(all))
                    .is_none()
            {
                break;
            }
            state = self
                .settled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let left = state.cases.entry(case.to_owned()).or_insert(calls);
        *left = left.saturating_sub(1);
    }

    /// Counts a case as done.
    pub fn end_case(&self, case: &str) {
        self.lock_state().cases.remove(case);
        self.settled.notify_all();
    }

    /// Describes the limit that a further use of this size would exceed; `None` if it fits.
    fn describe_excess(&self, used: Spend, wanted: Spend) -> Option<String> {
        let sum = used.plus(wanted);
        if let Some(max) = self.limit.tokens.filter(|max| sum.tokens > *max) {
            let [max, used, wanted] =
                [max, used.tokens, wanted.tokens].map(|tokens| format_thousands(tokens as usize));
            return Some(format!(
                "the budget of {max} tokens has {used} used, and this call may use {wanted}"
            ));
        }
        let max = self.limit.usd.filter(|max| sum.usd > *max)?;
        Some(format!(
            "the budget of US$ {max} has US$ {} used, and this call may use US$ {}",
            format_usd(used.usd),
            format_usd(wanted.usd)
        ))
    }
}

/// The share of a call under way.
#[derive(Debug)]
pub(super) struct Reservation<'b> {
    budget: &'b Spending,
    reserved: Spend,
}

impl Reservation<'_> {
    /// Records the use of an attempt.
    pub(super) fn record_spend(&self, used: Spend) {
        let mut state = self.budget.lock_state();
        state.spent = state.spent.plus(used);
        state.largest = state.largest.max_each(used);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.lock_state();
        if let Some(at) = state
            .reserved
            .iter()
            .position(|held| *held == self.reserved)
        {
            state.reserved.swap_remove(at);
        }
        drop(state);
        self.budget.settled.notify_all();
    }
}
