//! What a rule of trials makes of a case that passes a trial at a rate: its operating characteristic, exact.

use crate::eval::trials::{Decision, decide_counts, most};
use crate::scenario::model::Rule;

/// What a case of some rate may expect.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// The chance to pass.
    pub pass: f64,
    /// The chance to fail.
    pub fail: f64,
    /// Trials, on average.
    pub trials: f64,
}

/// The outlook of a case in one stage, where trials end once they decide.
pub fn stage(rule: &Rule, rate: f64) -> Outlook {
    let mut outlook = Outlook::default();
    // The chances of so many passes after as many trials as were made, where nothing is decided.
    let mut open = vec![1.0_f64];
    for tried in 0..=u64::from(most(rule)) {
        let mut next = vec![0.0; open.len() + 1];
        for (passed, chance) in (0_u64..).zip(&open) {
            match decide_counts(rule, passed, tried - passed) {
                Decision::Pass => outlook.pass += chance,
                Decision::Fail => outlook.fail += chance,
                Decision::Inconclusive => {}
                Decision::Open => {
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

/// The outlook in both stages, where there is a second one.
pub fn stages(rule: &Rule, confirm: Option<&Rule>, rate: f64) -> Outlook {
    let first = stage(rule, rate);
    let Some(second) = confirm.map(|rule| stage(rule, rate)) else { return first };
    Outlook {
        pass: first.fail.mul_add(second.pass, first.pass),
        fail: first.fail * second.fail,
        trials: first.fail.mul_add(second.trials, first.trials),
    }
}
