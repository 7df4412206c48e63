//! The agreement of judges and people on the same answers.

use super::grade_points::GradedProbe;
use crate::cli::prelude::*;
use crate::eval::agreement::{Estimate, ScorePair, spearman_rho};
use std::collections::BTreeMap;

/// The agreement of a judge with others on a criterion.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GradeAgreement {
    /// The judge: `facts`, or a role.
    pub(super) judge: String,
    /// The others: `labels` of people, or the `facts` without a model.
    #[schemars(extend("enum" = ["labels", "facts"]))]
    pub(super) with: String,
    /// The criterion; null for all of them together.
    pub(super) criterion: Option<String>,
    /// The number of pairs of scores.
    pub(super) pairs: usize,
    /// Spearman's ρ; null if it is undefined.
    pub(super) spearman: Option<Estimate>,
    /// The reason why it is undefined; null if it is not.
    pub(super) reason: Option<String>,
}

impl GradeAgreement {
    /// Compares the scores of a judge with others, by the number of the answer and the criterion: for
    /// each criterion and together; empty without such scores.
    pub(super) fn compare(
        [judge, with]: [&str; 2],
        graded: &[GradedProbe],
        other: impl Fn(usize, &str) -> Option<u64>,
    ) -> Vec<Self> {
        let mut pairs: BTreeMap<Option<&str>, Vec<ScorePair>> = BTreeMap::new();
        for (at, answer) in graded.iter().enumerate() {
            for result in answer.iter().flat_map(|answer| &answer.results) {
                let criterion = result.criterion_id.as_str();
                let Some(score) = other(at, criterion) else {
                    continue;
                };
                #[allow(clippy::cast_precision_loss, reason = "scores are small")]
                let pair = ScorePair {
                    person: score as f64,
                    judge: result.score as f64,
                };
                for criterion in [None, Some(criterion)] {
                    pairs.entry(criterion).or_default().push(pair);
                }
            }
        }
        let new = |(criterion, pairs): (Option<&str>, Vec<ScorePair>)| {
            let rho = spearman_rho(&pairs);
            Self {
                judge: judge.to_owned(),
                with: with.to_owned(),
                criterion: criterion.map(str::to_owned),
                pairs: pairs.len(),
                reason: rho.as_ref().err().map(ToString::to_string),
                spearman: rho.ok(),
            }
        };
        pairs.into_iter().map(new).collect()
    }
}

/// Prints the agreement on all criteria together.
pub(super) fn print_agreement(agreement: &[GradeAgreement], cx: &mut Cx) -> Result<()> {
    for row in agreement.iter().filter(|row| row.criterion.is_none()) {
        let rho = match (&row.spearman, &row.reason) {
            (Some(rho), _) => rho.to_string(),
            (None, reason) => format!("undefined: {}", reason.as_deref().unwrap_or_default()),
        };
        cx.print_hanging(
            &format!(
                "Spearman's ρ of {} with {} on {}: {rho}",
                escape_line(&row.judge),
                row.with,
                pluralize(row.pairs, "score")
            ),
            2,
        )?;
    }
    Ok(())
}
