//! What calls may use in all. A call begins only if what it may use is left; what is under way counts as used.

use crate::base::number::{thousands, usd};
use crate::kernel::provider::ProviderError;
use serde::{Deserialize, Serialize};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spend {
    /// Sent and written.
    pub tokens: u64,
    /// US$.
    pub usd: f64,
}

impl Spend {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }

    /// The greater of both, each for itself.
    pub(super) fn or_more(self, other: Self) -> Self {
        Self { tokens: self.tokens.max(other.tokens), usd: self.usd.max(other.usd) }
    }
}

/// What may be used; `None` for as much as there is.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpendLimit {
    /// Tokens, sent and written.
    pub tokens: Option<u64>,
    /// US$.
    pub usd: Option<f64>,
}

/// A budget that calls share.
#[derive(Debug, Default)]
pub struct Spending {
    most: SpendLimit,
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    spent: Spend,
    /// Kept for each call under way.
    held: Vec<Spend>,
    /// The most that one call used.
    largest: Spend,
    /// Why no call begins any more.
    over: Option<String>,
}

impl Spending {
    /// A budget of which nothing is used.
    pub fn new(most: SpendLimit) -> Self {
        Self { most, ..Self::default() }
    }

    /// Counts what was used before.
    pub fn add(&self, spend: Spend) {
        let mut state = self.state();
        state.spent = state.spent.plus(spend);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was used so far.
    pub fn spent(&self) -> Spend {
        self.state().spent
    }

    /// Keeps what a call may use: what it surely does, and no less than the largest so far did. Waits while only calls under way stand
    /// between it and its share.
    ///
    /// # Errors
    /// Not so much is left. From then on no call begins.
    pub(super) fn hold(&self, least: Spend) -> Result<Held<'_>, ProviderError> {
        let mut state = self.state();
        loop {
            let wanted = least.or_more(state.largest);
            if state.over.is_none() {
                state.over = self.excess(state.spent, wanted);
            }
            if let Some(why) = state.over.clone() {
                drop(state);
                self.settled.notify_all();
                return Err(ProviderError::OverBudget { why });
            }
            let held = state.held.iter().fold(state.spent, |sum, held| sum.plus(*held));
            if self.excess(held, wanted).is_none() {
                state.held.push(wanted);
                return Ok(Held { budget: self, held: wanted });
            }
            state = self.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Why so much more is too much.
    fn excess(&self, used: Spend, wanted: Spend) -> Option<String> {
        let sum = used.plus(wanted);
        if let Some(most) = self.most.tokens.filter(|most| sum.tokens > *most) {
            let [most, used, wanted] = [most, used.tokens, wanted.tokens].map(|tokens| thousands(tokens as usize));
            return Some(format!("the budget of {most} tokens has {used} used, and this call may use {wanted}"));
        }
        let most = self.most.usd.filter(|most| sum.usd > *most)?;
        Some(format!("the budget of US$ {most} has US$ {} used, and this call may use US$ {}", usd(used.usd), usd(wanted.usd)))
    }
}

/// What is kept for a call under way.
#[derive(Debug)]
pub(super) struct Held<'b> {
    budget: &'b Spending,
    held: Spend,
}

impl Held<'_> {
    /// Takes what an attempt used.
    pub(super) fn spend(&self, used: Spend) {
        let mut state = self.budget.state();
        state.spent = state.spent.plus(used);
        state.largest = state.largest.or_more(used);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        if let Some(at) = state.held.iter().position(|held| *held == self.held) {
            state.held.swap_remove(at);
        }
        drop(state);
        self.budget.settled.notify_all();
    }
}
