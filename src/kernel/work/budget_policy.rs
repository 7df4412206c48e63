//! The limits of a batch in tokens, US$ or any other counted unit, and the account of its use.
//!
//! Reads no clock and contains no prices: time and amounts are passed in.

use crate::kernel::pipeline::outcome::{Amounts, Obstacle, ObstacleKind};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A limit on the resources of tasks. Units that are not listed are unlimited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetPolicy {
    /// For one batch as a whole.
    BatchWindow {
        /// Maximum number of tasks; `None` for any number.
        max_tasks: Option<u64>,
        /// The maximum of each unit.
        max_cost: Amounts,
    },
    /// For any stretch of time as long as `period`.
    RollingWindow {
        /// The length of the period.
        period: Duration,
        /// The maximum of each unit within it.
        max_cost_per_period: Amounts,
    },
}

/// The resources used under a [`BudgetPolicy`]. Can be stored and resumed.
///
/// ```
/// use ctxc::runtime::{Amounts, BudgetAccount, BudgetPolicy};
/// use std::time::Duration;
///
/// let hour = Duration::from_secs(3600);
/// let max_cost_per_period = Amounts::from([("alerts".to_owned(), 2.0)]);
/// let mut account = BudgetAccount::new(BudgetPolicy::RollingWindow { period: hour, max_cost_per_period });
/// let alert = Amounts::from([("alerts".to_owned(), 1.0)]);
/// for minute in [0, 10] {
///     let now = Duration::from_secs(60 * minute);
///     account.check(now, &alert).expect("there is room");
///     account.add(now, &alert);
/// }
/// let refused = account.check(Duration::from_secs(60 * 20), &alert).unwrap_err();
/// assert_eq!(refused.note, "the budget of 2 alerts for each 3600 s is spent: 2 used");
/// assert!(account.check(hour, &alert).is_ok(), "the first one is an hour ago");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetAccount {
    policy: BudgetPolicy,
    tasks: u64,
    /// Amounts with the time of their use, earliest first; a batch has a single entry.
    used: Vec<(Duration, Amounts)>,
}

impl BudgetAccount {
    /// An unused account.
    pub const fn new(policy: BudgetPolicy) -> Self {
        Self {
            policy,
            tasks: 0,
            used: Vec::new(),
        }
    }

    /// Begins a task, if the budget allows one more.
    ///
    /// # Errors
    /// It allows no more tasks, or is spent.
    pub fn begin_task(&mut self, now: Duration) -> Result<(), Obstacle> {
        self.check(now, &Amounts::new())?;
        if let BudgetPolicy::BatchWindow {
            max_tasks: Some(max),
            ..
        } = &self.policy
            && self.tasks >= *max
        {
            let note = format!("the batch may have {max} tasks, and as many have begun");
            return Err(Obstacle {
                kind: ObstacleKind::Budget,
                note,
            });
        }
        self.tasks += 1;
        Ok(())
    }

    /// Checks that a call with these expected amounts fits the budget. Must precede each call.
    ///
    /// # Errors
    /// A unit is used up, or would be exceeded.
    pub fn check(&self, now: Duration, expected: &Amounts) -> Result<(), Obstacle> {
        for (unit, &max) in self.limits() {
            let used = self.used(now, unit);
            let ahead = expected.get(unit).copied().map_or(0.0, valid_amount);
            if used < max && used + ahead <= max {
                continue;
            }
            let span = match &self.policy {
                BudgetPolicy::BatchWindow { .. } => String::new(),
                BudgetPolicy::RollingWindow { period, .. } => {
                    format!(" for each {} s", period.as_secs_f64())
                }
            };
            let why = if used < max {
                format!("does not allow {ahead} more")
            } else {
                "is spent".to_owned()
            };
            let note = format!("the budget of {max} {unit}{span} {why}: {used} used");
            return Err(Obstacle {
                kind: ObstacleKind::Budget,
                note,
            });
        }
        Ok(())
    }

    /// Adds the amounts that a call has used. Negative amounts and NaN count as zero.
    pub fn add(&mut self, now: Duration, amounts: &Amounts) {
        if let BudgetPolicy::RollingWindow { period, .. } = &self.policy {
            let period = *period;
            self.used.retain(|(at, _)| is_within(*at, period, now));
            self.used.push((now, amounts.clone()));
            return;
        }
        if self.used.is_empty() {
            self.used.push((now, Amounts::new()));
        }
        for (unit, amount) in amounts {
            if let Some((_, used)) = self.used.first_mut() {
                *used.entry(unit.clone()).or_insert(0.0) += valid_amount(*amount);
            }
        }
    }

    /// The amount of a unit used by `now`.
    pub fn used(&self, now: Duration, unit: &str) -> f64 {
        let counts = |at: Duration| match &self.policy {
            BudgetPolicy::BatchWindow { .. } => true,
            BudgetPolicy::RollingWindow { period, .. } => is_within(at, *period, now),
        };
        let amounts = self
            .used
            .iter()
            .filter(|(at, _)| counts(*at))
            .filter_map(|(_, used)| used.get(unit));
        amounts.map(|amount| valid_amount(*amount)).sum()
    }

    /// The used share of the budget, for the unit that is nearest to its limit: 0.9 is nine tenths.
    pub fn pressure(&self, now: Duration) -> f64 {
        let share = |(unit, max): (&String, &f64)| {
            if *max > 0.0 {
                self.used(now, unit) / max
            } else {
                1.0
            }
        };
        self.limits().map(share).fold(0.0, f64::max)
    }

    fn limits(&self) -> impl Iterator<Item = (&String, &f64)> {
        match &self.policy {
            BudgetPolicy::BatchWindow { max_cost, .. } => max_cost.iter(),
            BudgetPolicy::RollingWindow {
                max_cost_per_period,
                ..
            } => max_cost_per_period.iter(),
        }
    }
}

/// The value of an amount; zero if it is negative or NaN.
const fn valid_amount(amount: f64) -> f64 {
    // If one operand is NaN, `max` returns the other one.
    amount.max(0.0)
}

fn is_within(at: Duration, period: Duration, now: Duration) -> bool {
    now < at.saturating_add(period)
}
