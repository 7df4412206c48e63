//! Estimates the cost of asking a model for the answers of a case, from its recording or else from
//! its context and limits.

use super::WireFormat;
use crate::eval::asked::AnswersFrom;
use crate::eval::finished::CostEstimate;
use crate::eval::prepared::PreparedCase;
use crate::eval::trials::{self, TrialPolicy};
use crate::provider::throttle::describe_miscount;
use crate::record::recording::Recording;
use crate::run::answers::recorded_response;
use std::collections::BTreeSet;

/// The assumed length of an answer in tokens, without a limit or a recording.
const DEFAULT_ANSWER_TOKENS: u64 = 4_096;
/// The assumed number of requests of one trial, if tools answer and nothing is recorded.
const DEFAULT_REQUESTS: u64 = 16;

/// The smallest and the greatest of some numbers.
fn bounds(numbers: impl Iterator<Item = u64> + Clone) -> Option<(u64, u64)> {
    Some((numbers.clone().min()?, numbers.max()?))
}

/// The cost of answers for a case whose context has this number of tokens.
pub(super) fn estimate_cost(
    prepared: &PreparedCase<'_>,
    wire: &WireFormat<'_>,
    context: u64,
) -> CostEstimate {
    let rule = &prepared.input.case.rule;
    let answers = &prepared.run.answers;
    let most = u64::from(trials::max_trials(rule));
    let confirm = if answers.confirms {
        trials::confirm_rule(rule).map_or(0, |rule| u64::from(rule.runs))
    } else {
        0
    };
    let curtails = answers.from == AnswersFrom::Live
        && prepared.run.rows == TrialPolicy::StopWhenDecided
        && rule.sequential.is_none();
    let least = if curtails {
        u64::from(rule.pass.min(rule.runs + 1 - rule.pass.min(rule.runs)))
    } else {
        most
    };
    let recorded: Vec<&Recording> = prepared
        .input
        .answers
        .recorded
        .unwrap_or_default()
        .iter()
        .filter(|call| call.is_answered())
        .collect();
    let numbers: BTreeSet<_> = recorded
        .iter()
        .filter_map(|call| call.trial)
        .map(|trial| (trial.stage, trial.number))
        .collect();
    let count = recorded.len() as u64;
    let requests = match (count, numbers.len() as u64) {
        // The rounds of a loop are not known in advance.
        (0, _) if prepared.input.case.is_run => (
            1,
            prepared
                .forest
                .agents(prepared.receiver.task)
                .map_or(1, |agents| agents.len() as u64),
        ),
        (0, _) if prepared.input.answers.tools.is_empty() => (1, 1),
        (0, _) => (1, DEFAULT_REQUESTS),
        (_, 0) => (1, 1),
        (count, trials) => (count / trials, count.div_ceil(trials)),
    };
    let calls = (least.max(1) * requests.0, (most + confirm) * requests.1);
    // A count that the provider cannot have made is not used for the estimate.
    let is_credible = |call: &&&Recording| {
        recorded_response(call)
            .is_ok_and(|given| describe_miscount(&given.answer, Some(context)).is_none())
    };
    let usage = recorded.iter().filter(is_credible).map(|call| call.usage);
    let input = bounds(usage.clone().filter_map(|usage| usage.input)).unwrap_or((context, context));
    let output = bounds(usage.filter_map(|usage| usage.output))
        .unwrap_or((0, wire.output_limit().unwrap_or(DEFAULT_ANSWER_TOKENS)));
    let prices = wire.model.and_then(|model| model.prices.as_ref());
    #[allow(clippy::cast_precision_loss, reason = "calls are far below 2^52")]
    let usd = prices.map(|prices| {
        let of = |calls: u64, input: u64, output: u64| {
            calls as f64 * prices.call_cost((input, 0), output)
        };
        (
            of(calls.0, input.0, output.0),
            of(calls.1, input.1, output.1),
        )
    });
    let ms = bounds(recorded.iter().filter_map(|call| call.latency_ms))
        .map(|(least, most)| (calls.0 * least, calls.1 * most));
    CostEstimate { calls, usd, ms }
}
