//! One trial: the request, what answers it, and what tools give back from the fixtures of the suite, until the agent calls none.
//!
//! Bounded: an agent that goes on calling tools is told apart from one that answers.

use super::given::{Answer, Took};
use crate::context::assemble::Assembly;
use crate::context::render::message::Message;
use crate::kernel::conversation::Turn;
use crate::run::conversation::{self, CALLS, Conversation};
use serde_json::Value;
use std::collections::BTreeMap;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::eval) enum Unanswered {
    /// It was recorded for another request: what moved since, a line each.
    Stale(Vec<String>),
    /// Anything else, in words.
    Trouble(String),
}

impl From<String> for Unanswered {
    fn from(why: String) -> Self {
        Self::Trouble(why)
    }
}

/// Asks until the agent calls no tool that the fixtures have an answer for. The answer is the last one, with the calls and tokens of all.
pub(in crate::eval) fn converse(
    assembly: &Assembly,
    tools: &BTreeMap<String, Value>,
    ask: impl FnMut(&[Message]) -> Result<(Answer, Turn), Unanswered>,
) -> Result<Answer, Unanswered> {
    let follow = |answer: &Answer, turn: &Turn| Ok(if answer.flaw.is_some() { None } else { results(turn, tools) });
    let Conversation { answers, is_ended } = conversation::converse(&assembly.messages, ask, follow)?;
    if !is_ended {
        return Err(Unanswered::Trouble(format!(
            "the agent was still calling tools after {CALLS} requests: no answer of it ends the conversation"
        )));
    }
    let (mut called, mut tokens, mut took, mut miscounted) = (Vec::new(), (0_u64, 0_u64), Took::default(), None);
    for answer in &answers {
        tokens = (tokens.0.saturating_add(answer.tokens.0), tokens.1.saturating_add(answer.tokens.1));
        took = took.and(answer.took);
        called.extend(answer.tool_calls.iter().cloned());
        miscounted = miscounted.or_else(|| answer.miscounted.clone());
    }
    let last = answers.into_iter().next_back().ok_or_else(|| "there is no answer".to_owned())?;
    Ok(Answer { tool_calls: called, tokens, took, miscounted, ..last })
}

/// What the tools give back that a message calls; `None` where it calls none, or one that the fixtures say nothing of.
fn results(turn: &Turn, tools: &BTreeMap<String, Value>) -> Option<Vec<Turn>> {
    let result = |call: &crate::kernel::conversation::ToolCall| {
        let given = tools.get(&call.name)?;
        Some(Turn::result(&call.id, given.as_str().map_or_else(|| given.to_string(), str::to_owned)))
    };
    let results: Option<Vec<Turn>> = turn.calls().map(result).collect();
    results.filter(|results| !results.is_empty())
}
