//! Answers from an earlier recording: the nth equal request gets the nth answer, later ones the
//! last.

use super::super::comparison::{ComparisonScope, LiveRequest, RequestComparison};
use super::super::json_text::compact_if_needed;
use super::super::mask::CallMask;
use super::super::places::LocatedCall;
use super::super::recorded_calls::RecordedCalls;
use super::super::recording::Recording;
use super::super::turns::{CallContent, CallPosition, call_positions, matched_positions};
use super::request::IncomingCall;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The criterion by which requests are matched with recorded calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayMatching {
    /// The whole request.
    #[default]
    Key,
    /// The last message.
    Conversation,
    /// The whole request, otherwise the same position in the same conversation.
    Turn,
}

/// The calls of a recording, for replay.
#[derive(Debug)]
pub struct Replay {
    calls: RecordedCalls<LocatedCall>,
    matching: ReplayMatching,
    /// The calls by position, if calls are matched by position.
    turns: BTreeMap<CallPosition, usize>,
    /// The content of the recorded calls, if calls are matched by position.
    recorded: Vec<Option<CallContent>>,
    /// The content of the requests so far.
    received: Mutex<Vec<Option<CallContent>>>,
}

impl Replay {
    /// Replays these calls, except unanswered and incomplete ones.
    pub fn new(calls: Vec<LocatedCall>, by: ReplayMatching, comparison: RequestComparison) -> Self {
        let is_whole = |call: &Recording| {
            call.response.is_some() && call.status.is_some() && call.error.is_none()
        };
        let calls: Vec<LocatedCall> = calls
            .into_iter()
            .filter(|call| is_whole(&call.call))
            .collect();
        let recorded: Vec<Option<CallContent>> = calls
            .iter()
            .filter(|_| by == ReplayMatching::Turn)
            .map(|call| CallContent::from_call(&call.call))
            .collect();
        let turns = call_positions(&recorded)
            .into_iter()
            .enumerate()
            .filter_map(|(at, turn)| Some((turn?, at)))
            .collect();
        let scope = if by == ReplayMatching::Conversation {
            ComparisonScope::LastMessage
        } else {
            ComparisonScope::Whole
        };
        Self {
            calls: RecordedCalls::new(calls, comparison, scope),
            matching: by,
            turns,
            recorded,
            received: Mutex::default(),
        }
    }

    /// Returns the answer to a request, or the reason why it has none.
    pub(super) fn next_answer(
        &self,
        incoming: &IncomingCall,
        mask: &CallMask,
    ) -> Result<&Recording, String> {
        let body = compact_if_needed(&incoming.body);
        let live = live_request(incoming, &body, mask);
        let turn = if self.matching == ReplayMatching::Turn {
            self.find_position(incoming)
        } else {
            None
        };
        let at_turn = turn.and_then(|turn| self.calls.calls().get(*self.turns.get(&turn)?));
        // Among equal calls, a request with a named agent or conversation gets the call at its own
        // position.
        let is_named = incoming.agent.is_some() || incoming.conversation.is_some();
        let named = at_turn.filter(|call| is_named && call.call.key == incoming.key);
        let found = named.or_else(|| self.calls.next_call(&live)).or(at_turn);
        found.map(|call| &call.call).ok_or_else(|| {
            self.calls
                .describe_mismatch(&live, |call| call.name.clone())
        })
    }

    /// Returns true if a vendor answered this exact request with success.
    pub(super) fn is_vendor_success(&self, incoming: &IncomingCall, mask: &CallMask) -> bool {
        let body = compact_if_needed(&incoming.body);
        self.matching != ReplayMatching::Conversation
            && self
                .calls
                .has_same(&live_request(incoming, &body, mask), |call| {
                    call.call.is_vendor_success()
                })
    }

    /// Returns the position of a request among the recorded calls.
    fn find_position(&self, incoming: &IncomingCall) -> Option<CallPosition> {
        let mut all = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(CallContent::from_request(
            &incoming.body,
            &incoming.endpoint,
            incoming.agent.as_deref(),
            incoming.conversation.as_deref(),
        ));
        matched_positions(&self.recorded, &all).pop().flatten()
    }
}

/// Returns a request in the form in which it is compared.
fn live_request<'a>(
    incoming: &'a IncomingCall,
    body: &'a str,
    mask: &'a CallMask,
) -> LiveRequest<'a> {
    let IncomingCall {
        endpoint,
        dialect,
        key,
        ..
    } = incoming;
    LiveRequest {
        endpoint,
        dialect,
        body,
        key,
        redactor: Some(mask.redactor()),
    }
}
