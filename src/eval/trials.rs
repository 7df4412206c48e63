//! The number of trials of a case, and the passing condition: k of N with curtailment, or Wald's
//! sequential test.

use crate::record::recording::Stage;
use crate::scenario::model::{Rule, Sequential};

/// The outcome of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// Every judged expectation holds.
    Passed,
    /// An expectation does not hold.
    Failed,
}

/// The decision from the trials so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Not decided yet.
    Open,
    /// The case passes.
    Pass,
    /// It fails.
    Fail,
    /// All trials are done without a decision.
    Inconclusive,
}

/// The policy on trials once the verdict is certain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// Stop.
    #[default]
    Curtailed,
    /// Continue, for rates over all trials.
    Full,
}

/// One stage of trials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tries {
    pub(super) stage: Stage,
    pub(super) rule: Rule,
    /// The number of trials that the case requires.
    pub(super) of: u32,
    /// The number of available answers, if they are given in advance.
    pub(super) there: u32,
    pub(super) rows: Rows,
}

impl Tries {
    /// A stage without answers given in advance.
    pub(super) const fn unbounded(stage: Stage, rule: Rule) -> Self {
        Self {
            stage,
            of: most(&rule),
            rule,
            there: u32::MAX,
            rows: Rows::Curtailed,
        }
    }

    /// A stage with answers given in advance: as many trials as there are answers, or as were
    /// planned if that is more, and no more of them have to pass.
    pub(super) fn known(
        stage: Stage,
        rule: Rule,
        (there, planned): (usize, u32),
        rows: Rows,
    ) -> Self {
        let there = u32::try_from(there).unwrap_or(u32::MAX);
        let most = there.max(planned).max(1);
        let runs = rule.runs.min(most);
        let sequential = rule.sequential.map(|test| Sequential {
            max: test.max.min(most),
            ..test
        });
        Self {
            stage,
            of: self::most(&rule),
            rule: Rule {
                runs,
                pass: rule.pass.min(runs),
                sequential,
                ..rule
            },
            there,
            rows,
        }
    }
}

/// The default of the second stage: the number of trials, and of those that must pass.
const CONFIRM: (u32, u32) = (10, 7);

/// The maximum number of trials.
pub const fn most(rule: &Rule) -> u32 {
    match rule.sequential {
        Some(Sequential { max, .. }) => max,
        None => rule.runs,
    }
}

/// Decides from the trials so far.
pub fn decide(rule: &Rule, tried: &[TrialOutcome]) -> Decision {
    let count = |what: TrialOutcome| tried.iter().filter(|one| **one == what).count() as u64;
    decide_counts(
        rule,
        count(TrialOutcome::Passed),
        count(TrialOutcome::Failed),
    )
}

/// The rule of the second stage, for a case that fails the first; `None` if that failure is final.
pub fn confirming(rule: &Rule) -> Option<Rule> {
    let (runs, pass) = rule.confirm.unwrap_or(CONFIRM);
    (!rule.strict && rule.sequential.is_none()).then_some(Rule {
        runs,
        pass,
        strict: true,
        confirm: None,
        sequential: None,
    })
}

/// Decides from counts of passed and failed trials.
pub(super) fn decide_counts(rule: &Rule, passed: u64, failed: u64) -> Decision {
    if let Some(test) = &rule.sequential {
        return wald(test, passed, failed);
    }
    let runs = u64::from(rule.runs);
    let pass = u64::from(rule.pass);
    if passed >= pass {
        Decision::Pass
    } else if failed + pass > runs {
        // The remaining trials cannot reach the required number.
        Decision::Fail
    } else {
        Decision::Open
    }
}

/// Wald's sequential probability ratio test of `p1` against `p0`.
#[allow(clippy::cast_precision_loss, reason = "trials are fewer than 2^52")]
fn wald(test: &Sequential, passed: u64, failed: u64) -> Decision {
    let Sequential {
        p0,
        p1,
        alpha,
        beta,
        max,
    } = *test;
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
