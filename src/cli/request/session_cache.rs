//! The prompt cache of a session: the tokens that its calls have in common, against those that were
//! billed.

use super::compared_call::{ComparedCall, MissedTokens, SessionBill, parse_seconds};
use super::missing_tokens::{lookup_facts, message_tokens};
use super::session_calls::FoundSessions;
use crate::cli::prelude::*;
use crate::eval::request::examined_request::RequestModelFacts;
use crate::kernel::tokens::TokenCounter;
use crate::project::config::Config;
use crate::request::dialect::Dialect;
use crate::request::prompt_cache::{BreakCause, PrefixBreak, PrefixReuse};
use crate::request::threads::Attribution;
use crate::session::calls::SessionCall;
use crate::session::session_event::RequestFacts;
use std::collections::BTreeMap;

/// The minimum number of tokens that count as missed: caches end at blocks.
const MIN_MISSED_TOKENS: u64 = 1024;
/// The minimum share of the expected tokens that count as missed: one in this many.
const MIN_MISSED_SHARE: u64 = 10;

/// Compares the calls of sessions, each with the one before. Returns the parts of requests that the
/// sessions do not hold.
pub(super) fn compare_session_calls(
    found: &FoundSessions,
    config: &Config,
    compared: &mut Vec<ComparedCall>,
) -> Result<Vec<&'static str>> {
    let mut models: BTreeMap<(Dialect, Option<String>), RequestModelFacts> = BTreeMap::new();
    let mut state = CacheState::default();
    let mut session_before = None;
    found.each_call(|session, call| {
        if !found.is_named(call) {
            return;
        }
        if session_before != Some(session.order) {
            session_before = Some(session.order);
            state = CacheState::default();
        }
        let (dialect, model) = (call.dialect(), call.facts.model.clone());
        let facts = models
            .entry((dialect, model))
            .or_insert_with_key(|(dialect, model)| {
                lookup_facts(*dialect, model.as_deref(), config)
            });
        let reuse = state.measure(call, &*facts.counter);
        let billed = state.bill(call, facts);
        compared.push(ComparedCall {
            name: session.call_name(call),
            reported_cached: call.facts.tokens.cached,
            billed,
            shrinkage: call.shrinkage,
            thread: Attribution {
                agent: session.agent.clone(),
                conversation: session.conversation.clone(),
                before: None,
                agent_before: None,
            },
            reuse,
            // System text and tools, which are not counted, make every prefix long enough.
            facts: RequestModelFacts {
                cache_floor: 0,
                ..facts.clone()
            },
        });
    })
}

/// The call before, and the tokens of its messages.
#[derive(Debug, Default)]
struct CacheState {
    /// The tokens of the system text, then those up to and including each message.
    sums: Vec<usize>,
    /// The name of the tokenizer that counted them.
    tokenizer: String,
    /// The facts about the billed call before.
    facts: Option<RequestFacts>,
    /// True if the history shrank behind it.
    has_shrunk: bool,
}

impl CacheState {
    /// Measures the part of a call that the one before had as well.
    fn measure(&mut self, call: &SessionCall<'_>, counter: &dyn TokenCounter) -> PrefixReuse {
        if self.tokenizer != counter.name() {
            counter.name().clone_into(&mut self.tokenizer);
            self.sums.clear();
        }
        if self.sums.is_empty() {
            self.sums
                .push(call.system.map_or(0, |text| counter.count(text)));
        }
        self.sums.truncate(call.common + 1);
        let mut sum = self.sums.last().copied().unwrap_or(0);
        let mut again = 0;
        for (at, message) in call.messages.iter().enumerate().skip(self.sums.len() - 1) {
            let tokens = message_tokens(message, counter);
            sum += tokens;
            self.sums.push(sum);
            if message.was_sent && at >= call.common {
                again += tokens;
            }
        }
        let reused = self.sums.get(call.common).filter(|_| call.number > 1);
        let broken = call.shrinkage.map(|_| PrefixBreak {
            segment: format!("message:{}", call.common + 1),
            offset: 0,
            before: String::new(),
            after: String::new(),
            cause: BreakCause::Removed,
            pointer: None,
        });
        PrefixReuse {
            tokens: sum,
            reused: reused.copied().unwrap_or(0),
            lost: again,
            broken_by: broken,
        }
    }

    /// Returns the bill of a call. The cache should have had the tokens that it read and wrote for
    /// the call before; if the provider reports no writing, all that were sent.
    fn bill(&mut self, call: &SessionCall<'_>, facts: &RequestModelFacts) -> Option<SessionBill> {
        let own = call.facts.tokens;
        self.has_shrunk |= call.shrinkage.is_some();
        // A call that was broken off has no bill, and the one behind it the shorter history.
        let input = own.input.filter(|tokens| *tokens > 0)?;
        let has_shrunk = std::mem::take(&mut self.has_shrunk);
        let before = self.facts.replace(call.facts.clone());
        let missed = before
            .filter(|_| !has_shrunk)
            .and_then(|before| missed_tokens(&before, call.facts, facts));
        Some(SessionBill {
            input,
            cached: own.cached,
            written: own.written,
            missed,
        })
    }
}

/// Returns the tokens that the cache had for the call before, and no longer had for the next one.
fn missed_tokens(
    before: &RequestFacts,
    now: &RequestFacts,
    facts: &RequestModelFacts,
) -> Option<MissedTokens> {
    let old = before.tokens;
    let expected = match (old.cached, old.written) {
        (Some(cached), Some(written)) => cached + written,
        _ => old.input?,
    };
    let tokens = expected.checked_sub(now.tokens.cached?)?;
    if tokens < MIN_MISSED_TOKENS || tokens < expected / MIN_MISSED_SHARE {
        return None;
    }
    let seconds = |facts: &RequestFacts| parse_seconds(facts.at.as_deref());
    Some(MissedTokens {
        tokens,
        seconds: seconds(before)
            .zip(seconds(now))
            .map(|(old, new)| new.saturating_sub(old)),
        model_before: before.model.clone().filter(|_| before.model != now.model),
        usd: facts.lost_usd(usize::try_from(tokens).unwrap_or(usize::MAX)),
    })
}
