//! The tokens of a call of a session, and the billed ones that the session does not hold.

use crate::cli::prelude::*;
use crate::eval::request::examined_request::{RequestModelFacts, model_facts};
use crate::kernel::conversation::Part;
use crate::kernel::tokens::TokenCounter;
use crate::project::config::Config;
use crate::request::dialect::Dialect;
use crate::request::model::ModelRequest;
use crate::session::calls::{CallMessage, SessionCall, Shrinkage};
use serde_json::json;

/// The billed tokens of earlier calls of a session that are not in the session.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EarlierBills {
    /// Those of the first call.
    first: Option<u64>,
    /// Those of the first call after the last compaction.
    compacted: Option<u64>,
    is_compacted: bool,
}

impl EarlierBills {
    /// Notes the next call.
    pub(super) fn note_call(&mut self, call: &SessionCall<'_>, config: &Config) {
        if call.shrinkage == Some(Shrinkage::Compacted) {
            (self.is_compacted, self.compacted) = (true, None);
        }
        if self.first.is_none() {
            self.first = missing_tokens(call, config);
        } else if self.is_compacted && self.compacted.is_none() {
            self.compacted = missing_tokens(call, config);
        }
    }

    /// Divides the billed tokens of a call that are not in the session; `None` without a bill.
    pub(super) fn divide(self, missing: u64) -> Option<MissingTokens> {
        let first = self.first?.min(missing);
        let compaction = self
            .compacted
            .map(|tokens| tokens.min(missing).saturating_sub(first));
        Some(MissingTokens {
            first,
            compaction,
            rest: missing - first - compaction.unwrap_or(0),
        })
    }
}

/// The billed tokens of a call that are not in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub(super) struct MissingTokens {
    /// Those of the first call, such as system text and tool definitions.
    first: u64,
    /// Those that the first call after the last compaction has beyond them, such as files that were
    /// loaded again; null without a compaction.
    compaction: Option<u64>,
    /// The others: reasoning and reminders that the session does not hold, and the error of the
    /// estimate.
    rest: u64,
}

impl MissingTokens {
    /// Describes them for people.
    pub(super) fn describe(&self) -> String {
        let count = |tokens: u64| format_thousands(usize::try_from(tokens).unwrap_or(usize::MAX));
        let all = self.first + self.compaction.unwrap_or(0) + self.rest;
        let compaction = self.compaction.filter(|tokens| *tokens > 0);
        let compaction = compaction.map_or_else(String::new, |tokens| {
            format!(
                "{} more since the compaction (such as files loaded again), ",
                count(tokens)
            )
        });
        format!(
            "by the bill, {} tokens are not in the session: {} in the first call already (such as system text and tools), {compaction}{} later (reasoning, reminders, and the error of the estimate)",
            count(all),
            count(self.first),
            count(self.rest)
        )
    }
}

/// Returns the billed tokens of a call that are not in its session; `None` without a bill.
fn missing_tokens(call: &SessionCall<'_>, config: &Config) -> Option<u64> {
    let input = call.facts.tokens.input.filter(|tokens| *tokens > 0)?;
    let facts = lookup_facts(call.dialect(), call.facts.model.as_deref(), config);
    let counter = &*facts.counter;
    let messages = call.messages.iter();
    let messages: usize = messages
        .map(|message| message_tokens(message, counter))
        .sum();
    let system = call.system.map_or(0, |text| counter.count(text));
    Some(input.saturating_sub((messages + system) as u64))
}

/// Returns the facts about a model.
pub(super) fn lookup_facts(
    dialect: Dialect,
    model: Option<&str>,
    config: &Config,
) -> RequestModelFacts {
    let body = json!({"model": model.unwrap_or_default(), dialect.list_key(): []});
    let request = ModelRequest::from_body(body, Some(dialect.path_suffix()));
    request.map_or_else(
        |_| lookup_facts(Dialect::Anthropic, model, config),
        |request| model_facts(&request, &config.models),
    )
}

/// Returns the tokens of a message.
pub(super) fn message_tokens(message: &CallMessage, counter: &dyn TokenCounter) -> usize {
    let tokens = |part: &Part| counter.count(&part.text_form().text) + part.media_tokens();
    message.turn.parts.iter().map(tokens).sum()
}
