//! The exact operating characteristic of a rule of trials, for a case that passes a trial at a
//! given rate.

use crate::eval::trials::{TrialDecision, decide_counts, max_trials};
use crate::scenario::model::TrialRule;

/// The expected results of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// The probability to pass.
    pub pass: f64,
    /// The probability to fail.
    pub fail: f64,
    /// The expected number of trials.
    pub trials: f64,
}

/// The outlook of a case in one stage, if trials end once they are decided.
pub fn stage_outlook(rule: &TrialRule, rate: f64) -> Outlook {
    let mut outlook = Outlook::default();
    // The probability of each number of passes after the trials so far, without a decision.
    let mut open = vec![1.0_f64];
    for tried in 0..=u64::from(max_trials(rule)) {
        let mut next = vec![0.0; open.len() + 1];
        for (passed, chance) in (0_u64..).zip(&open) {
            match decide_counts(rule, passed, tried - passed) {
                TrialDecision::Pass => outlook.pass += chance,
                TrialDecision::Fail => outlook.fail += chance,
                TrialDecision::Inconclusive => {}
                TrialDecision::Open => {
                    outlook.trials += chance;
                    let at = passed as usize;
                    for (place, rate) in [(at, 1.0 - rate), (at + 1, rate)] {
                        if let Some(place) = next.get_mut(place) {
                            *place += chance * rate;
                        }
                    }
                }
            }
        }
        open = next;
    }
    outlook
}

/// The outlook over both stages, if there is a second one.
pub fn combined_outlook(rule: &TrialRule, confirm: Option<&TrialRule>, rate: f64) -> Outlook {
    let first = stage_outlook(rule, rate);
    let Some(second) = confirm.map(|rule| stage_outlook(rule, rate)) else {
        return first;
    };
    Outlook {
        pass: first.fail.mul_add(second.pass, first.pass),
        fail: first.fail * second.fail,
        trials: first.fail.mul_add(second.trials, first.trials),
    }
}
