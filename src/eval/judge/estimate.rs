//! The estimated cost of judging the answers of a case.

use super::agent::JudgedMaterial;
use super::calibration::case_criteria;
use super::criteria::JudgedCriterion;
use super::scoring::{CaseJudge, MAX_ATTEMPTS, judge_settings};
use crate::eval::case_result::{CostEstimate, DEFAULT_ANSWER_TOKENS, bounds};
use crate::record::recording::Recording;

/// Lower and upper bound of a number.
type Bounds = (u64, u64);

/// The answers to be judged.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct ExpectedAnswers {
    /// Their number.
    pub(in crate::eval) trials: Bounds,
    /// The tokens of each.
    pub(in crate::eval) tokens: Bounds,
}

impl CaseJudge<'_> {
    /// The cost of judging answers; `None` without a judge, or without an expectation for it.
    ///
    /// Equal answers are judged once, and an answer of the judge that is not valid is asked for
    /// again.
    pub(in crate::eval) fn estimate(&self, answers: ExpectedAnswers) -> Option<CostEstimate> {
        let agent = self.agent().ok()?;
        let mut total: Option<CostEstimate> = None;
        for criteria in case_criteria(self.input) {
            let asked: Vec<&JudgedCriterion> = criteria.iter().map(|one| &one.criterion).collect();
            let material = JudgedMaterial {
                request: "",
                answer: "-",
                guide: asked.first().and_then(|one| one.guide.as_deref()),
                criteria: &asked,
            };
            let Ok(request) = agent.build_request(judge_settings(self.run), &material) else {
                continue;
            };
            let recorded = self.input.answers.judged.unwrap_or_default();
            let usage = |of: fn(&Recording) -> Option<u64>| bounds(recorded.iter().filter_map(of));
            let own = request.tokens.unwrap_or(0);
            let input = usage(|call| call.usage.input).unwrap_or((
                own.saturating_add(answers.tokens.0),
                own.saturating_add(answers.tokens.1),
            ));
            let output = usage(|call| call.usage.output)
                .unwrap_or((0, request.output_limit.unwrap_or(DEFAULT_ANSWER_TOKENS)));
            let calls = (1, answers.trials.1.max(1) * MAX_ATTEMPTS as u64);
            let prices = request.model.and_then(|model| model.prices.as_ref());
            #[allow(clippy::cast_precision_loss, reason = "calls are far below 2^52")]
            let usd = prices.map(|prices| {
                (
                    calls.0 as f64 * prices.call_cost(input.0, 0, output.0),
                    calls.1 as f64 * prices.call_cost(input.1, 0, output.1),
                )
            });
            let ms = usage(|call| call.latency_ms).map(|(min, max)| (calls.0 * min, calls.1 * max));
            let one = CostEstimate { calls, usd, ms };
            total = Some(total.map_or(one, |total| total.add(one)));
        }
        total
    }
}
