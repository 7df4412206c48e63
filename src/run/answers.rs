//! Who answers the agents of a run: the seam between it and models, recordings and scripts.

use super::wire::Sent;
use crate::context::render::message::Message;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::{Answer, ProviderError, Response};
use crate::project::models::Model;
use crate::provider::read;
use crate::record::comparison::{Comparison, Scope};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{AnsweredBy, Recording};
use std::fmt::Debug;
use std::time::Duration;

/// A request of an agent.
#[derive(Clone, Copy, Debug)]
pub struct AskedCall<'a> {
    /// The agent with the rounds that it stands in.
    pub stage: &'a str,
    /// The agent.
    pub node: &'a str,
    /// What its result goes by, where it has a name.
    pub name: Option<&'a str>,
    /// Which request of its conversation it is, from 1.
    pub number: u32,
    /// The model, where the project has it.
    pub model: Option<&'a Model>,
    /// The request as it is sent.
    pub sent: &'a Sent,
    /// What it says.
    pub messages: &'a [Message],
}

/// An answer, and who gave it.
#[derive(Clone, Debug)]
pub struct Given {
    /// The answer as it came.
    pub response: Response,
    /// Who gave it.
    pub by: AnsweredBy,
}

/// Why there is no answer, a lower-case fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The provider gave none: another model may be asked.
    #[error("{0}")]
    Provider(String),
    /// The provider was asked and failed: another model may be.
    #[error("{0}")]
    Failed(ProviderError),
    /// None was recorded or written for this request.
    #[error("{0}")]
    Unknown(String),
    /// The budget is spent.
    #[error("{0}")]
    Budget(String),
}

/// Answers from the first; where it has none for a request, from the second.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// Who is asked first.
    pub first: &'a dyn Answers,
    /// Who is asked where that one has no answer.
    pub then: &'a dyn Answers,
}

impl Answers for Chain<'_> {
    fn answer(&self, asked: &AskedCall<'_>) -> Result<Given, NoAnswer> {
        match self.first.answer(asked) {
            Err(NoAnswer::Unknown(_)) => self.then.answer(asked),
            answered => answered,
        }
    }
}

/// The word of the obstacle where no answer is known.
pub const NOT_RECORDED: &str = "not_recorded";

impl From<NoAnswer> for Obstacle {
    fn from(none: NoAnswer) -> Self {
        match none {
            NoAnswer::Provider(why) => Self::new(ObstacleKind::Provider, why),
            NoAnswer::Failed(error) => Self::new(ObstacleKind::Provider, error.to_string()),
            NoAnswer::Unknown(why) => Self::new(NOT_RECORDED, why),
            NoAnswer::Budget(why) => Self::new(ObstacleKind::Budget, why),
        }
    }
}

/// Gives answers.
pub trait Answers: Debug + Sync {
    /// Answers a request.
    ///
    /// # Errors
    /// There is no answer.
    fn answer(&self, asked: &AskedCall<'_>) -> Result<Given, NoAnswer>;
}

/// Recorded answers: the nth equal request gets the nth answer, then the last.
#[derive(Debug, Default)]
pub struct Replay {
    calls: RecordedCalls<Recording>,
}

impl Replay {
    /// The answers of these calls. Those that were not answered, or not wholly, are left out.
    pub fn new(calls: impl IntoIterator<Item = Recording>, comparison: Comparison) -> Self {
        let calls = calls.into_iter().filter(Recording::is_answered).collect();
        Self { calls: RecordedCalls::new(calls, comparison, Scope::Whole) }
    }
}

impl Answers for Replay {
    fn answer(&self, asked: &AskedCall<'_>) -> Result<Given, NoAnswer> {
        let live = asked.sent.live();
        let none = || {
            let name = |call: &Recording| {
                call.conversation.as_ref().map_or_else(|| call.id.clone(), |of| format!("{} of {of}", call.id))
            };
            let why = self.calls.why_none(&live, |call| format!("call {}", name(call)));
            NoAnswer::Unknown(format!("no answer is recorded for this request of {}: {why}", asked.stage))
        };
        let call = self.calls.next(&live).ok_or_else(none)?;
        let response = response_of(call).map_err(NoAnswer::Provider)?;
        Ok(Given { response, by: AnsweredBy::Replay })
    }
}

/// What a recorded call was answered with.
///
/// # Errors
/// It cannot be read: why.
pub fn response_of(call: &Recording) -> Result<Response, String> {
    if !call.has_its_key() {
        let why = "its `key` is not that of its `request`, which was edited or has its fields in another order; \
                   restore the line, or record it anew";
        return Err(format!("the recorded call {} cannot be taken: {why}", call.id));
    }
    let unknown = || format!("the recorded call {} has a form that is not known: `{}`", call.id, call.dialect);
    let dialect = read::dialect(&call.dialect).ok_or_else(unknown)?;
    let body = call.response_text().unwrap_or_default();
    let answer: Answer =
        read::answer(dialect, &body).map_err(|why| format!("the recorded call {} cannot be read: {why}", call.id))?;
    let latency = Duration::from_millis(call.latency_ms.unwrap_or(0));
    Ok(Response { answer, body, status: call.status.unwrap_or(200), latency })
}
