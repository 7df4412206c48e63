//! The number of trials of a case, and the passing condition: k of N with curtailment, or Wald's
//! sequential test.

use crate::record::recording::TrialStage;
use crate::scenario::model::{SequentialRule, TrialRule};

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
pub enum TrialDecision {
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
pub enum TrialPolicy {
    /// Stop.
    #[default]
    StopWhenDecided,
    /// Continue, for rates over all trials.
    RunAll,
}

/// One stage of trials.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageTrials {
    pub(super) stage: TrialStage,
    pub(super) rule: TrialRule,
    /// The number of trials that the case requires.
    pub(super) required: u32,
    /// The number of available answers, if they are given in advance.
    pub(super) available: u32,
    pub(super) rows: TrialPolicy,
}

impl StageTrials {
    /// A stage without answers given in advance.
    pub(super) const fn unbounded(stage: TrialStage, rule: TrialRule) -> Self {
        Self {
            stage,
            required: max_trials(&rule),
            rule,
            available: u32::MAX,
            rows: TrialPolicy::StopWhenDecided,
        }
    }

    /// A stage with answers given in advance: as many trials as there are answers, or as were
    /// planned if that is more, and no more of them have to pass.
    pub(super) fn with_answers(
        stage: TrialStage,
        rule: TrialRule,
        answers: AnswerCounts,
        rows: TrialPolicy,
    ) -> Self {
        let available = u32::try_from(answers.available).unwrap_or(u32::MAX);
        let max = available.max(answers.planned).max(1);
        let runs = rule.runs.min(max);
        let sequential = rule.sequential.map(|test| SequentialRule {
            max: test.max.min(max),
            ..test
        });
        Self {
            stage,
            required: self::max_trials(&rule),
            rule: TrialRule {
                runs,
                pass: rule.pass.min(runs),
                sequential,
                ..rule
            },
            available,
            rows,
        }
    }
}

/// The stages of a case, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedStages {
    pub(super) first: StageTrials,
    /// The stage that confirms a failure of the first; `None` if that failure is final.
    pub(super) second: Option<StageTrials>,
}

/// The answers to a stage that are given in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerCounts {
    /// The number of answers.
    pub(super) available: usize,
    /// The number of trials that were planned when they were recorded; 0 if none were.
    pub(super) planned: u32,
}

/// The default of the second stage: the number of trials, and of those that must pass.
const DEFAULT_CONFIRM: (u32, u32) = (10, 7);

/// The maximum number of trials.
pub const fn max_trials(rule: &TrialRule) -> u32 {
    match rule.sequential {
        Some(SequentialRule { max, .. }) => max,
        None => rule.runs,
    }
}

/// Decides from the trials so far.
pub fn decide_trials(rule: &TrialRule, tried: &[TrialOutcome]) -> TrialDecision {
    let count = |what: TrialOutcome| tried.iter().filter(|one| **one == what).count() as u64;
    decide_counts(
        rule,
        count(TrialOutcome::Passed),
        count(TrialOutcome::Failed),
    )
}

/// The rule of the second stage, for a case that fails the first; `None` if that failure is final.
pub fn confirm_rule(rule: &TrialRule) -> Option<TrialRule> {
    let (runs, pass) = rule.confirm.unwrap_or(DEFAULT_CONFIRM);
    (!rule.strict && rule.sequential.is_none()).then_some(TrialRule {
        runs,
        pass,
        strict: true,
        confirm: None,
        sequential: None,
        min_score: rule.min_score,
    })
}

/// Decides from counts of passed and failed trials.
pub(super) fn decide_counts(rule: &TrialRule, passed: u64, failed: u64) -> TrialDecision {
    if let Some(test) = &rule.sequential {
        return decide_sequential(test, passed, failed);
    }
    let runs = u64::from(rule.runs);
    let pass = u64::from(rule.pass);
    if passed >= pass {
        TrialDecision::Pass
    } else if failed + pass > runs {
        // The remaining trials cannot reach the required number.
        TrialDecision::Fail
    } else {
        TrialDecision::Open
    }
}

/// Wald's sequential probability ratio test of `p1` against `p0`.
#[allow(clippy::cast_precision_loss, reason = "trials are fewer than 2^52")]
fn decide_sequential(test: &SequentialRule, passed: u64, failed: u64) -> TrialDecision {
    let SequentialRule {
        p0,
        p1,
        alpha,
        beta,
        max,
    } = *test;
    let ratio = passed as f64 * (p1 / p0).ln() + failed as f64 * ((1.0 - p1) / (1.0 - p0)).ln();
    if ratio >= ((1.0 - beta) / alpha).ln() {
        TrialDecision::Pass
    } else if ratio <= (beta / (1.0 - alpha)).ln() {
        TrialDecision::Fail
    } else if passed + failed >= u64::from(max) {
        TrialDecision::Inconclusive
    } else {
        TrialDecision::Open
    }
}
