//! The interface between a run and the source of its answers: a model, a recording or a script.
//!
//! Vendor-independent, and builds no requests: they arrive rendered. A response is parsed into the
//! parts of conversations, and its body is preserved unchanged.

use super::conversation::{Part, Speaker, ToolCall, Turn};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Answers requests.
pub trait Provider: Sync {
    /// Answers one request. Never retries; the caller does.
    ///
    /// # Errors
    /// No answer is available.
    fn answer(&self, request: &WireRequest<'_>) -> Result<Response, ProviderError>;
}

/// A request in the form in which it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireRequest<'a> {
    /// The dialect of the body: the name of the target that it was rendered for.
    pub dialect: &'a str,
    /// The model, which some bodies do not contain.
    pub model: &'a str,
    /// The body, byte for byte.
    pub body: &'a str,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The parsed answer.
    pub answer: Answer,
    /// The body as it was received; for a stream, all of its events.
    pub body: String,
    /// The HTTP status.
    pub status: u16,
    /// Time from the request to the end of the body.
    pub latency: Duration,
}

/// An answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The next message of the conversation: texts, reasoning and tool calls, in order. Arguments
    /// of a call that are not a JSON object are a string value.
    pub turn: Turn,
    /// The reason why the answer ended.
    pub stop: Stop,
    /// The counted tokens.
    pub usage: Usage,
    /// The name of the model according to the response.
    pub model: Option<String>,
}

impl Answer {
    /// An answer of the assistant with these parts.
    pub const fn new(parts: Vec<Part>, stop: Stop, usage: Usage, model: Option<String>) -> Self {
        Self {
            turn: Turn {
                speaker: Speaker::Assistant,
                parts,
            },
            stop,
            usage,
            model,
        }
    }

    /// The concatenated texts.
    pub fn content(&self) -> String {
        let text = |part: &Part| {
            if let Part::Text(text) = part {
                Some(text.clone())
            } else {
                None
            }
        };
        self.turn.parts.iter().filter_map(text).collect()
    }

    /// The tool calls.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.turn.calls()
    }

    /// A contradiction in the provider's token counts; `None` if they are consistent. Contradictory
    /// counts cannot be priced.
    pub fn contradiction(&self) -> Option<&'static str> {
        let Usage {
            input,
            cached,
            output,
            reasoning,
        } = self.usage;
        let is_more = |part: Option<u64>, whole: Option<u64>| {
            part.zip(whole).is_some_and(|(part, whole)| part > whole)
        };
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

/// The reason why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The model finished.
    End,
    /// The limit of tokens was reached, so the answer is cut.
    Length,
    /// The model waits for the results of its tool calls.
    Tool,
    /// The provider withheld the answer, or the model refused.
    Filter,
    /// Another reason, or an unknown one.
    Other,
}

/// The tokens of a call as its provider counted them; `None` for values that it did not report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Everything that was sent, cached or not.
    pub input: Option<u64>,
    /// The part of the input that the provider's cache had.
    pub cached: Option<u64>,
    /// Everything that was written, reasoning included.
    pub output: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning: Option<u64>,
}

/// The reason why no answer is available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The provider answered with an error.
    #[error(
        "the provider answered with status {status}{}",
        message_suffix(message)
    )]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The provider's message; may be empty.
        message: String,
        /// The requested delay before a retry.
        retry_after: Option<Duration>,
    },
    /// Too many requests, or too many tokens, in a short time.
    #[error("the provider limits the rate of requests (status 429){}{}", message_suffix(message), retry_suffix(*retry_after))]
    RateLimited {
        /// The provider's message; may be empty.
        message: String,
        /// The requested delay before a retry.
        retry_after: Option<Duration>,
    },
    /// A time limit was exceeded.
    #[error("no answer within {} s: the time limit for {limit} was reached", after.as_secs_f64())]
    TimeLimit {
        /// The limited phase: `connecting`, `the whole call` or `the next part of the answer`.
        limit: &'static str,
        /// The length of the limit.
        after: Duration,
    },
    /// The host could not be reached.
    #[error("{host} could not be reached: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// The reason, a lower-case fragment.
        why: String,
    },
    /// The connection or the stream ended before the answer did.
    #[error("the answer ended before it was complete, after {bytes} bytes")]
    CutStream {
        /// Bytes received before the end.
        bytes: usize,
    },
    /// The response does not have the form of its dialect.
    #[error("the answer could not be read: {why}")]
    NotUnderstood {
        /// Found and expected form, a lower-case fragment.
        why: String,
    },
    /// The answer is too large.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size of an answer in bytes.
        limit: u64,
    },
    /// The environment variable for the key is not usable.
    #[error(
        "the environment variable `{variable}`, which should hold the key of the provider, {why}"
    )]
    NoKey {
        /// The name of the variable.
        variable: String,
        /// The fault of the variable, such as `is not set`.
        why: &'static str,
    },
    /// The provider redirects to another host, which must receive neither the key nor the request.
    #[error(
        "{host} redirects to {to}; keys and requests are not sent on to another address, so set `base_url` to the one you trust"
    )]
    Redirected {
        /// The requested host.
        host: String,
        /// The target of the redirect.
        to: String,
    },
    /// The budget is spent, so the call was not made.
    #[error("the call was not made: {why}")]
    OverBudget {
        /// The spent amount and the budget, a lower-case fragment.
        why: String,
    },
}

impl ProviderError {
    /// The kind of the error, for reports and counts.
    pub const fn as_str(&self) -> &'static str {
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

    /// The requested delay before a retry.
    pub const fn retry_after(&self) -> Option<Duration> {
        if let Self::Refused { retry_after, .. } | Self::RateLimited { retry_after, .. } = self {
            *retry_after
        } else {
            None
        }
    }

    /// Returns true if the same request may succeed later.
    pub const fn is_retryable(&self) -> bool {
        let is_passing = matches!(
            self,
            Self::RateLimited { .. } | Self::TimeLimit { .. } | Self::Unreachable { .. }
        );
        is_passing
            || matches!(
                self,
                Self::CutStream { .. }
                    | Self::Refused {
                        status: 408 | 500..,
                        ..
                    }
            )
    }
}

fn retry_suffix(wait: Option<Duration>) -> String {
    wait.map_or_else(String::new, |wait| {
        format!(", and asks to wait {} s", wait.as_secs())
    })
}

fn message_suffix(message: &str) -> String {
    if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}
