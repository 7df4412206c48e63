//! The model calls of a case: the request as it is sent, the recorded calls that answer it, the
//! conversation of one trial, and the estimated cost of asking a model.

use super::json_comparison::describe_changes;
use super::trial_answer::{AnswerFlaw, TrialAnswer};
use crate::context::assemble::Assembly;
use crate::context::render::message::Message;
use crate::context::request::Request;
use crate::eval::answer_source::AnswersFrom;
use crate::eval::case_result::{CostEstimate, DEFAULT_ANSWER_TOKENS, NoAnswerReason, bounds};
use crate::eval::judge::ExpectedAnswers;
use crate::eval::prepared_case::PreparedCase;
use crate::eval::trials::{self, AnswerCounts, StageTrials, TrialPolicy};
use crate::kernel::conversation::Turn;
use crate::provider::throttle::describe_miscount;
use crate::record::comparison::{ComparisonScope, RequestComparison};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{Recording, TrialStage};
use crate::run::answers::{self, AnsweredConversation, MAX_REQUESTS, recorded_response};
use crate::run::wire::{OutgoingRequest, WireFormat};
use crate::scenario::model::TrialRule;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The wire format for the requests of a case: that of its model, or a chat completion without one.
pub(in crate::eval) fn case_wire<'c>(case: &'c PreparedCase<'_>) -> Result<WireFormat<'c>, String> {
    let files = case.read.overlay_files(case.run.live);
    let request = Request {
        node: &case.node,
        role: case.receiver.role,
        files: &files,
        ..Request::new(case.receiver.task)
    };
    let mut wire = WireFormat::for_choice(
        case.forest,
        &request,
        &case.routed,
        case.run.answers.providers,
    )
    .map_err(|fault| fault.to_string())?;
    if wire.model.is_none() {
        wire.call.model = case.model().map(str::to_owned);
    }
    Ok(wire)
}

/// The recorded answers of a case, used in turn: in each stage the nth equal request gets the nth
/// answer, later ones the last.
#[derive(Debug)]
pub(in crate::eval) struct ReplayedCalls<'r> {
    calls: &'r [Recording],
    by_stage: BTreeMap<TrialStage, RecordedCalls<&'r Recording>>,
}

fn call_stage(call: &Recording) -> TrialStage {
    call.trial.map(|trial| trial.stage).unwrap_or_default()
}

impl<'r> ReplayedCalls<'r> {
    pub(in crate::eval) fn new(calls: &'r [Recording], comparison: &RequestComparison) -> Self {
        let mut by_stage: BTreeMap<TrialStage, Vec<&Recording>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for call in calls.iter().filter(|call| call.is_answered()) {
            // A copied line is not another trial.
            if call
                .trial
                .is_some_and(|trial| !seen.insert((trial.stage, trial.number, &call.key)))
            {
                continue;
            }
            by_stage.entry(call_stage(call)).or_default().push(call);
        }
        let recorded = |(stage, calls)| {
            (
                stage,
                RecordedCalls::new(calls, comparison.clone(), ComparisonScope::Whole),
            )
        };
        Self {
            calls,
            by_stage: by_stage.into_iter().map(recorded).collect(),
        }
    }

    /// The trials of a stage, given its first request and its rule: as many as recorded, and no
    /// more have to pass. If more were recorded once, the rule applies unchanged.
    pub(super) fn plan_stage(
        &self,
        of: TrialStage,
        first: &OutgoingRequest,
        rule: TrialRule,
        rows: TrialPolicy,
    ) -> StageTrials {
        let calls = self.by_stage.get(&of);
        let same = calls.map_or_else(Vec::new, |calls| calls.same_calls(&first.to_live()));
        let planned = same.iter().filter_map(|call| Some(call.trial?.of)).max();
        let answers = AnswerCounts {
            available: same.len(),
            planned: planned.unwrap_or(0),
        };
        StageTrials::with_answers(of, rule, answers, rows)
    }

    /// Returns true if a stage was recorded.
    pub(super) fn has_stage(&self, of: TrialStage) -> bool {
        self.calls.iter().any(|call| call_stage(call) == of)
    }

    /// The error for a request without a recorded answer: its differences from the most similar
    /// recorded request.
    pub(super) fn stale_reason(&self, stage: TrialStage, sent: &OutgoingRequest) -> NoAnswerReason {
        let calls = self
            .by_stage
            .get(&stage)
            .or_else(|| self.by_stage.values().next());
        let found = calls.and_then(|calls| Some((calls, *calls.most_similar(&sent.to_live())?)));
        NoAnswerReason::Stale(found.map_or_else(Vec::new, |(calls, call)| {
            describe_changes(calls.comparison(), call, &sent.to_live())
        }))
    }

    /// The next recorded call for a request.
    pub(in crate::eval) fn next_call(
        &self,
        stage: TrialStage,
        sent: &OutgoingRequest,
    ) -> Option<&'r Recording> {
        self.by_stage
            .get(&stage)?
            .next_call(&sent.to_live())
            .copied()
    }
}

/// Sends requests until the agent calls no tool that the fixtures cover. Returns the last answer,
/// with the calls and tokens of all.
pub(in crate::eval) fn run_conversation(
    assembly: &Assembly,
    tools: &BTreeMap<String, Value>,
    ask: impl FnMut(&[Message]) -> Result<(TrialAnswer, Turn), NoAnswerReason>,
) -> Result<TrialAnswer, NoAnswerReason> {
    let follow = |answer: &TrialAnswer, turn: &Turn| {
        Ok(if answer.flaw.is_some() {
            None
        } else {
            tool_results(turn, tools)
        })
    };
    let AnsweredConversation { answers, is_ended } =
        answers::run_until_answered(&assembly.messages, ask, follow)?;
    let whole = TrialAnswer::combine(answers)
        .ok_or_else(|| NoAnswerReason::Trouble("there is no answer".to_owned()))?;
    // Endless tool calls are the agent's behaviour, not an error of the trial.
    Ok(if is_ended {
        whole
    } else {
        TrialAnswer {
            flaw: Some(AnswerFlaw::Endless(MAX_REQUESTS)),
            ..whole
        }
    })
}

/// The results of the tools that a message calls; `None` if it calls none, or one that the fixtures
/// do not cover.
fn tool_results(turn: &Turn, tools: &BTreeMap<String, Value>) -> Option<Vec<Turn>> {
    let result = |call: &crate::kernel::conversation::ToolCall| {
        let given = tools.get(&call.name)?;
        Some(Turn::result(
            &call.id,
            given
                .as_str()
                .map_or_else(|| given.to_string(), str::to_owned),
        ))
    };
    let results: Option<Vec<Turn>> = turn.calls().map(result).collect();
    results.filter(|results| !results.is_empty())
}

/// The assumed number of requests of one trial, if tools answer and nothing is recorded.
const DEFAULT_REQUESTS: u64 = 16;

/// The cost of answers for a case whose context has this number of tokens.
pub(super) fn estimate_cost(
    prepared: &PreparedCase<'_>,
    wire: &WireFormat<'_>,
    context: u64,
) -> CostEstimate {
    let rule = &prepared.input.case.rule;
    let answers = &prepared.run.answers;
    let max = u64::from(trials::max_trials(rule));
    let confirm = if answers.confirms {
        trials::confirm_rule(rule).map_or(0, |rule| u64::from(rule.runs))
    } else {
        0
    };
    let curtails = answers.from == AnswersFrom::Live
        && prepared.run.rows == TrialPolicy::StopWhenDecided
        && !prepared.input.case.is_scored
        && rule.sequential.is_none();
    let min = if curtails {
        u64::from(rule.pass.min(rule.runs + 1 - rule.pass.min(rule.runs)))
    } else {
        max
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
    let calls = (min.max(1) * requests.0, (max + confirm) * requests.1);
    // A count that the provider cannot have made is not used for the estimate.
    let is_credible = |call: &&&Recording| {
        recorded_response(call)
            .is_ok_and(|recorded| describe_miscount(&recorded.answer, Some(context)).is_none())
    };
    let usage = recorded.iter().filter(is_credible).map(|call| call.usage);
    let input = bounds(usage.clone().filter_map(|usage| usage.input)).unwrap_or((context, context));
    let output = bounds(usage.filter_map(|usage| usage.output))
        .unwrap_or((0, wire.output_limit().unwrap_or(DEFAULT_ANSWER_TOKENS)));
    let prices = wire.model.and_then(|model| model.prices.as_ref());
    #[allow(clippy::cast_precision_loss, reason = "calls are far below 2^52")]
    let usd = prices.map(|prices| {
        let of =
            |calls: u64, input: u64, output: u64| calls as f64 * prices.call_cost(input, 0, output);
        (
            of(calls.0, input.0, output.0),
            of(calls.1, input.1, output.1),
        )
    });
    let ms = bounds(recorded.iter().filter_map(|call| call.latency_ms))
        .map(|(min, max)| (calls.0 * min, calls.1 * max));
    let answers = CostEstimate { calls, usd, ms };
    let judged = prepared.judge.estimate(ExpectedAnswers {
        trials: (min.max(1), max + confirm),
        tokens: output,
    });
    judged.map_or(answers, |judged| answers.add(judged))
}
