//! How often a case is tried, and what passes: k of N with curtailment, or Wald's sequential test.

use crate::record::recording::Stage;
use crate::scenario::model::{Rule, Sequential};

/// What became of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// Everything that was looked at holds.
    Passed,
    /// Something does not.
    Failed,
}

/// What the trials so far say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Not enough to say.
    Open,
    /// The case passes.
    Pass,
    /// It fails.
    Fail,
    /// All trials are done, and they decide nothing.
    Inconclusive,
}

/// Whether trials go on once the verdict is certain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// They stop.
    #[default]
    Curtailed,
    /// They go on: rates want full rows.
    Full,
}

/// One stage of trials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tries {
    pub(super) stage: Stage,
    pub(super) rule: Rule,
    /// Trials that the case asks for.
    pub(super) of: u32,
    /// Answers that there are, where they were given before.
    pub(super) there: u32,
    pub(super) rows: Rows,
}

impl Tries {
    /// A stage for which nothing was answered before.
    pub(super) const fn unbounded(stage: Stage, rule: Rule) -> Self {
        Self { stage, of: most(&rule), rule, there: u32::MAX, rows: Rows::Curtailed }
    }

    /// A stage with so many answers that were given before, and at least so many that were to be: as many trials, and no more have to pass.
    pub(super) fn known(stage: Stage, rule: Rule, (there, planned): (usize, u32), rows: Rows) -> Self {
        let there = u32::try_from(there).unwrap_or(u32::MAX);
        let most = there.max(planned).max(1);
        let runs = rule.runs.min(most);
        let sequential = rule.sequential.map(|test| Sequential { max: test.max.min(most), ..test });
        Self { stage, of: self::most(&rule), rule: Rule { runs, pass: rule.pass.min(runs), sequential, ..rule }, there, rows }
    }
}

/// The second stage, where a case does not say: trials, and how many of them must pass.
const CONFIRM: (u32, u32) = (10, 7);

/// Trials at most.
pub const fn most(rule: &Rule) -> u32 {
    match rule.sequential {
        Some(Sequential { max, .. }) => max,
        None => rule.runs,
    }
}

/// What the trials so far say, in order.
pub fn decide(rule: &Rule, tried: &[TrialOutcome]) -> Decision {
    let count = |what: TrialOutcome| tried.iter().filter(|one| **one == what).count() as u64;
    decide_counts(rule, count(TrialOutcome::Passed), count(TrialOutcome::Failed))
}

/// The rule of the second stage, for a case that fails the first; `None` where its failure is final.
pub fn confirming(rule: &Rule) -> Option<Rule> {
    let (runs, pass) = rule.confirm.unwrap_or(CONFIRM);
    (!rule.strict && rule.sequential.is_none()).then_some(Rule { runs, pass, strict: true, confirm: None, sequential: None })
}

/// What so many trials say.
pub(super) fn decide_counts(rule: &Rule, passed: u64, failed: u64) -> Decision {
    if let Some(test) = &rule.sequential {
        return wald(test, passed, failed);
    }
    let runs = u64::from(rule.runs);
    let pass = u64::from(rule.pass);
    if passed >= pass {
        Decision::Pass
    } else if failed + pass > runs {
        // What is left cannot make up for it.
        Decision::Fail
    } else {
        Decision::Open
    }
}

/// Wald's sequential probability ratio test of `p1` against `p0`.
#[allow(clippy::cast_precision_loss, reason = "trials are fewer than 2^52")]
fn wald(test: &Sequential, passed: u64, failed: u64) -> Decision {
    let Sequential { p0, p1, alpha, beta, max } = *test;
    let ratio = passed as f64 * (p1 / p0).ln() + failed as f64 * ((1.0 - p1) / (1.0 - p0)).ln();
    if ratio >= ((1.0 - beta) / alpha).ln() {
        Decision::Pass
    } else if ratio <= (beta / (1.0 - alpha)).ln() {
        Decision::Fail
    } else if passed + failed >= u64::from(max) {
        Decision::Inconclusive
    } else {
        Decision::Open
    }
}
