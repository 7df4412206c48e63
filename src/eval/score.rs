//! The score of a trial: the weighted mean of its expectations. An expectation that was not judged,
//! or whose verdict is missing, counts as 0 with its full weight, so it never raises the score.

use super::verdict::{
    ExpectationOutcome, ExpectationVerdict, JudgedOutcome, fail, pass, skip_undecided,
};

/// The score of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialScore {
    /// The score.
    pub value: f64,
    /// The score if every expectation that was not judged held.
    pub upper_bound: f64,
}

impl TrialScore {
    /// The score of verdicts, of which those without a part do not count. `weight` is that of all
    /// expectations that count, including those without a verdict.
    pub fn new(verdicts: &[ExpectationVerdict], weight: f64) -> Self {
        let (mut value, mut open) = (0.0, 0.0);
        for (verdict, part) in verdicts.iter().filter_map(|one| Some((one, one.part?))) {
            value += part.score * part.weight;
            if verdict.outcome == ExpectationOutcome::Skipped {
                open += part.weight;
            }
        }
        Self {
            value: round_score(value / weight),
            upper_bound: round_score((value + open) / weight),
        }
    }

    /// Judges the score by a minimum. It is undecided if the expectations that were not judged could
    /// still reach it.
    pub(super) fn judge(self, min: f64) -> JudgedOutcome {
        let Self { value, upper_bound } = self;
        let (expected, found) = (format!("a score of {min} or more"), format_score(value));
        if value >= min {
            pass(expected, found)
        } else if upper_bound < min {
            fail(expected, found)
        } else {
            let open = format_score(upper_bound);
            skip_undecided(
                expected,
                &format!("{found}, and {open} if the expectations that were not judged held"),
            )
        }
    }
}

/// Rounds a score, so that sums of weights such as 0.1 reach a limit that they equal.
fn round_score(score: f64) -> f64 {
    (score * 1e9).round() / 1e9
}

/// A score for people, with at most three decimal places; never rounded up to a limit.
pub fn format_score(score: f64) -> String {
    ((score * 1e3 + 1e-6).floor() / 1e3).to_string()
}

/// The mean of some values; `None` if there are none.
#[allow(
    clippy::cast_precision_loss,
    reason = "a project has fewer than 2^52 scenarios"
)]
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
