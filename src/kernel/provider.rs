//! Who is asked for answers: the seam between a run and a model, a recording or a script.
//!
//! Knows no vendor and builds no request: what is sent was rendered before. What came back is read into the parts that
//! conversations are made of, and kept as it was sent.

use super::conversation::{Part, Speaker, ToolCall, Turn};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Gives answers.
pub trait Provider: Sync {
    /// Answers one request. Who wants another attempt asks again.
    ///
    /// # Errors
    /// There is no answer.
    fn answer(&self, request: &WireRequest<'_>) -> Result<Response, ProviderError>;
}

/// A request as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRequest<'a> {
    /// The form of the body: the name of the target that it was rendered for.
    pub dialect: &'a str,
    /// The model, which not every body names.
    pub model: &'a str,
    /// The body, byte for byte.
    pub body: &'a str,
}

/// What came back for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// What it says.
    pub answer: Answer,
    /// The body as it was sent; of a stream, all of its events.
    pub body: String,
    /// The status of HTTP.
    pub status: u16,
    /// From the request to the end of the body.
    pub latency: Duration,
}

/// An answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What the model says, as the next message of its conversation: texts, reasoning and calls, in order. Arguments of a call that
    /// are no JSON object are a text.
    pub turn: Turn,
    /// Why it ended.
    pub stop: Stop,
    /// The tokens that were counted.
    pub usage: Usage,
    /// The model that answered, by its own account.
    pub model: Option<String>,
}

impl Answer {
    /// An answer of parts that the assistant says.
    pub const fn new(parts: Vec<Part>, stop: Stop, usage: Usage, model: Option<String>) -> Self {
        Self { turn: Turn { speaker: Speaker::Assistant, parts }, stop, usage, model }
    }

    /// Its texts as one.
    pub fn content(&self) -> String {
        let text = |part: &Part| if let Part::Text(text) = part { Some(text.clone()) } else { None };
        self.turn.parts.iter().filter_map(text).collect()
    }

    /// The tools that it calls.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.turn.calls()
    }

    /// What its provider counted that cannot be; `None` where nothing contradicts. Such a count is no base for a price.
    pub fn contradiction(&self) -> Option<&'static str> {
        let Usage { input, cached, output, reasoning } = self.usage;
        let is_more = |part: Option<u64>, whole: Option<u64>| part.zip(whole).is_some_and(|(part, whole)| part > whole);
        if is_more(cached, input) {
            Some("more tokens were read from the cache than were sent")
        } else if is_more(reasoning, output) {
            Some("more tokens were thought than were written")
        } else if input == Some(0) {
            Some("no token was counted for the request")
        } else if output == Some(0) && !self.turn.parts.is_empty() {
            Some("no token was counted for an answer that says something")
        } else {
            None
        }
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The model was done.
    End,
    /// The limit of tokens was reached, so the answer is cut.
    Length,
    /// It waits for the results of the tools that it calls.
    Tool,
    /// The provider withheld it, or the model refused.
    Filter,
    /// Another reason, or none that is known.
    Other,
}

/// The tokens of a call as its provider counted them; `None` for what it did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Usage {
    /// All that was sent, whether cached or not.
    pub input: Option<u64>,
    /// Those of the input that the provider's cache had.
    pub cached: Option<u64>,
    /// All that was written, reasoning included.
    pub output: Option<u64>,
    /// Those of the output that the model thought.
    pub reasoning: Option<u64>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provider answered with an error.
    #[error("the provider answered with status {status}{}", said(message))]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// What the provider says about it; empty where it says nothing.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// Too many requests, or too many tokens, in a short time.
    #[error("the provider limits the rate of requests (status 429){}{}", said(message), asked(*retry_after))]
    RateLimited {
        /// What the provider says about it; empty where it says nothing.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The time was up.
    #[error("no answer within {} s: the time limit for {limit} was reached", after.as_secs_f64())]
    TimeLimit {
        /// What the limit is for: `connecting`, `the whole call` or `the next part of the answer`.
        limit: &'static str,
        /// How long that is.
        after: Duration,
    },
    /// Nobody could be reached.
    #[error("{host} could not be reached: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why, a lower-case fragment.
        why: String,
    },
    /// The connection ended, or the stream, before the answer did.
    #[error("the answer ended before it was complete, after {bytes} bytes")]
    CutStream {
        /// Bytes of it that arrived.
        bytes: usize,
    },
    /// The answer has another form than its dialect has.
    #[error("the answer could not be read: {why}")]
    NotUnderstood {
        /// What was found and what was expected, a lower-case fragment.
        why: String,
    },
    /// The answer is too large.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// Bytes that an answer may have.
        limit: u64,
    },
    /// The variable for the key has none.
    #[error("the environment variable `{variable}`, which should hold the key of the provider, {why}")]
    NoKey {
        /// The variable.
        variable: String,
        /// What is wrong with it: `is not set`, for one.
        why: &'static str,
    },
    /// The provider leads to another host, where neither key nor request belongs.
    #[error(
        "{host} redirects to {to}; keys and requests are not sent on to another address, so set `base_url` to the one you trust"
    )]
    Redirected {
        /// The host that was asked.
        host: String,
        /// The address that it leads to.
        to: String,
    },
    /// The budget is spent, so the call was not made.
    #[error("the call was not made: {why}")]
    OverBudget {
        /// What is spent and what the budget is, a lower-case fragment.
        why: String,
    },
}

impl ProviderError {
    /// Its kind, for reports and counts.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::RateLimited { .. } => "rate_limited",
            Self::TimeLimit { .. } => "time_limit",
            Self::Unreachable { .. } => "unreachable",
            Self::CutStream { .. } => "cut_stream",
            Self::NotUnderstood { .. } => "not_understood",
            Self::TooLarge { .. } => "too_large",
            Self::NoKey { .. } => "no_key",
            Self::Redirected { .. } => "redirected",
            Self::OverBudget { .. } => "over_budget",
        }
    }

    /// How long the provider asks to wait.
    pub const fn retry_after(&self) -> Option<Duration> {
        if let Self::Refused { retry_after, .. } | Self::RateLimited { retry_after, .. } = self { *retry_after } else { None }
    }

    /// Whether the same request may be answered later.
    pub const fn is_retryable(&self) -> bool {
        let is_passing = matches!(self, Self::RateLimited { .. } | Self::TimeLimit { .. } | Self::Unreachable { .. });
        is_passing || matches!(self, Self::CutStream { .. } | Self::Refused { status: 408 | 500.., .. })
    }
}

fn asked(wait: Option<Duration>) -> String {
    wait.map_or_else(String::new, |wait| format!(", and asks to wait {} s", wait.as_secs()))
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
