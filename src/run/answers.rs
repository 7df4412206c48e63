//! Answer sources of a run: the interface between agents and models, recordings and scripts.

use super::wire::OutgoingRequest;
use crate::context::render::message::Message;
use crate::kernel::conversation::Turn;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::{Answer, ProviderError, Response};
use crate::project::models::ModelConfig;
use crate::provider::read;
use crate::record::comparison::{ComparisonScope, RequestComparison};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{AnsweredBy, Recording};
use std::borrow::Cow;
use std::fmt::Debug;
use std::time::Duration;

/// A request of an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentRequest<'a> {
    /// The stage: the agent's node and its rounds.
    pub stage: &'a str,
    /// The node of the agent.
    pub node: &'a str,
    /// The name of its result, if any.
    pub name: Option<&'a str>,
    /// The number of the request in its conversation, from 1.
    pub number: u32,
    /// The model, if the project defines it.
    pub model: Option<&'a ModelConfig>,
    /// The request as sent.
    pub sent: &'a OutgoingRequest,
    /// The messages of the request.
    pub messages: &'a [Message],
}

/// An answer with its origin.
#[derive(Clone, Debug)]
pub struct SourcedAnswer {
    /// The response as received.
    pub response: Response,
    /// The origin of the answer.
    pub by: AnsweredBy,
}

/// The reason why no answer is available: a lower-case fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The provider gave no answer. Another model may be used.
    #[error("{0}")]
    Provider(String),
    /// The provider failed. Another model may be used.
    #[error("{0}")]
    Failed(ProviderError),
    /// No answer is recorded or scripted for this request.
    #[error("{0}")]
    NotRecorded(String),
    /// The budget is spent.
    #[error("{0}")]
    Budget(String),
}

/// Takes answers from the first source, and from the second one if the first has none for a
/// request.
#[derive(Clone, Copy, Debug)]
pub struct ChainedAnswers<'a> {
    /// The first source.
    pub first: &'a dyn AnswerBackend,
    /// The source of answers that the first one lacks.
    pub then: &'a dyn AnswerBackend,
}

impl AnswerBackend for ChainedAnswers<'_> {
    fn answer(&self, request: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        match self.first.answer(request) {
            Err(NoAnswer::NotRecorded(_)) => self.then.answer(request),
            answered => answered,
        }
    }
}

/// The kind of the obstacle if no answer is recorded or scripted.
pub const NOT_RECORDED: &str = "not_recorded";

impl From<NoAnswer> for Obstacle {
    fn from(reason: NoAnswer) -> Self {
        match reason {
            NoAnswer::Provider(why) => Self::new(ObstacleKind::Provider, why),
            NoAnswer::Failed(error) => Self::new(ObstacleKind::Provider, error.to_string()),
            NoAnswer::NotRecorded(why) => Self::new(NOT_RECORDED, why),
            NoAnswer::Budget(why) => Self::new(ObstacleKind::Budget, why),
        }
    }
}

/// A source of answers.
pub trait AnswerBackend: Debug + Sync {
    /// Answers a request.
    ///
    /// # Errors
    /// The reason why no answer is available.
    fn answer(&self, request: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer>;
}

/// Recorded answers. The nth equal request receives the nth answer; later requests receive the last
/// one.
#[derive(Debug, Default)]
pub struct ReplayedAnswers {
    calls: RecordedCalls<Recording>,
}

impl ReplayedAnswers {
    /// Collects the answers of these calls. Calls without a complete answer are left out.
    pub fn new(calls: impl IntoIterator<Item = Recording>, comparison: RequestComparison) -> Self {
        let calls = calls.into_iter().filter(Recording::is_answered).collect();
        Self {
            calls: RecordedCalls::new(calls, comparison, ComparisonScope::Whole),
        }
    }
}

impl AnswerBackend for ReplayedAnswers {
    fn answer(&self, request: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        let live = request.sent.to_live();
        let none = || {
            let name = |call: &Recording| {
                call.conversation
                    .as_ref()
                    .map_or_else(|| call.id.clone(), |of| format!("{} of {of}", call.id))
            };
            let why = self
                .calls
                .describe_mismatch(&live, |call| format!("call {}", name(call)));
            NoAnswer::NotRecorded(format!(
                "no answer is recorded for this request of {}: {why}",
                request.stage
            ))
        };
        let call = self.calls.next_call(&live).ok_or_else(none)?;
        let response = recorded_response(call).map_err(NoAnswer::Provider)?;
        Ok(SourcedAnswer {
            response,
            by: AnsweredBy::Replay,
        })
    }
}

/// Reads the response of a recorded call.
///
/// # Errors
/// The reason why it cannot be read.
pub fn recorded_response(call: &Recording) -> Result<Response, String> {
    if !call.key_matches() {
        let why = "its `key` is not that of its `request`, which was edited or has its fields in another order; \
                   restore the line, or record it anew";
        return Err(format!(
            "the recorded call {} cannot be taken: {why}",
            call.id
        ));
    }
    let unknown = || {
        format!(
            "the recorded call {} has a form that is not known: `{}`",
            call.id, call.dialect
        )
    };
    let dialect = read::find_dialect(&call.dialect).ok_or_else(unknown)?;
    let body = call.response_text().unwrap_or_default();
    let answer: Answer = read::answer(dialect, &body)
        .map_err(|why| format!("the recorded call {} cannot be read: {why}", call.id))?;
    let latency = Duration::from_millis(call.latency_ms.unwrap_or(0));
    Ok(Response {
        answer,
        body,
        status: call.status.unwrap_or(200),
        latency,
    })
}

/// Maximum number of requests of one conversation.
pub const MAX_REQUESTS: usize = 16;

/// All answers of a conversation, in order; the last one ends it.
#[derive(Debug)]
pub struct AnsweredConversation<A> {
    /// The answers.
    pub answers: Vec<A>,
    /// True if the last answer ends the conversation; false if the bound was reached.
    pub is_ended: bool,
}

/// Requests answers until nothing follows an answer. `ask` returns the answer to some messages with
/// its message in the conversation. `follow` returns the messages that follow it; `None` after the
/// last answer.
///
/// # Errors
/// The error that `ask` or `follow` returns.
pub fn run_until_answered<A, E>(
    first: &[Message],
    mut ask: impl FnMut(&[Message]) -> Result<(A, Turn), E>,
    mut follow: impl FnMut(&A, &Turn) -> Result<Option<Vec<Turn>>, E>,
) -> Result<AnsweredConversation<A>, E> {
    let mut messages = Cow::Borrowed(first);
    let mut answers = Vec::new();
    for _ in 0..MAX_REQUESTS {
        let (answer, turn) = ask(&messages)?;
        let turns = follow(&answer, &turn)?;
        answers.push(answer);
        let Some(turns) = turns else {
            return Ok(AnsweredConversation {
                answers,
                is_ended: true,
            });
        };
        let messages = messages.to_mut();
        messages.push(turn.into());
        messages.extend(turns.into_iter().map(Message::from));
    }
    Ok(AnsweredConversation {
        answers,
        is_ended: false,
    })
}
