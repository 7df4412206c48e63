//! The conversation of one trial: requests, their answers, and tool results from the suite's
//! fixtures, until the agent calls no tool.
//!
//! Bounded: an agent that keeps calling tools is distinguished from one that answers.

use super::given::{AnswerFlaw, TrialAnswer};
use crate::context::assemble::Assembly;
use crate::context::render::message::Message;
use crate::kernel::conversation::Turn;
use crate::run::conversation::{self, AnsweredConversation, MAX_REQUESTS};
use serde_json::Value;
use std::collections::BTreeMap;

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::eval) enum NoAnswerReason {
    /// It was recorded for another request; the changes since then, one per line.
    Stale(Vec<String>),
    /// Any other reason, as text.
    Trouble(String),
}

impl From<String> for NoAnswerReason {
    fn from(why: String) -> Self {
        Self::Trouble(why)
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
        conversation::run_until_answered(&assembly.messages, ask, follow)?;
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
