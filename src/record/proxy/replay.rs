//! Answers from an earlier recording: the nth equal request gets the nth answer, later ones the
//! last.

use super::super::comparison::{Comparison, LiveRequest, Scope};
use super::super::json_text::compacted;
use super::super::mask::Mask;
use super::super::places::Call;
use super::super::recorded_calls::RecordedCalls;
use super::super::recording::Recording;
use super::super::turns::{Said, Turn, turns, turns_in};
use super::request::Asked;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The criterion by which requests are matched with recorded calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
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
    calls: RecordedCalls<Call>,
    by: By,
    /// The calls by position, if calls are matched by position.
    turns: BTreeMap<Turn, usize>,
    /// The content of the recorded calls, if calls are matched by position.
    recorded: Vec<Option<Said>>,
    /// The content of the requests so far.
    said: Mutex<Vec<Option<Said>>>,
}

impl Replay {
    /// Replays these calls, except unanswered and incomplete ones.
    pub fn new(calls: Vec<Call>, by: By, comparison: Comparison) -> Self {
        let is_whole = |call: &Recording| {
            call.response.is_some() && call.status.is_some() && call.error.is_none()
        };
        let calls: Vec<Call> = calls
            .into_iter()
            .filter(|call| is_whole(&call.call))
            .collect();
        let recorded: Vec<Option<Said>> = calls
            .iter()
            .filter(|_| by == By::Turn)
            .map(|call| Said::of_call(&call.call))
            .collect();
        let turns = turns(&recorded)
            .into_iter()
            .enumerate()
            .filter_map(|(at, turn)| Some((turn?, at)))
            .collect();
        let scope = if by == By::Conversation {
            Scope::LastMessage
        } else {
            Scope::Whole
        };
        Self {
            calls: RecordedCalls::new(calls, comparison, scope),
            by,
            turns,
            recorded,
            said: Mutex::default(),
        }
    }

    /// Returns the answer to a request, or the reason why it has none.
    pub(super) fn next(&self, asked: &Asked, mask: &Mask) -> Result<&Recording, String> {
        let body = compacted(&asked.body);
        let live = live(asked, &body, mask);
        let turn = if self.by == By::Turn {
            self.turn(asked)
        } else {
            None
        };
        let at_turn = turn.and_then(|turn| self.calls.calls().get(*self.turns.get(&turn)?));
        // Among equal calls, a request with a named agent or conversation gets the call at its own
        // position.
        let is_named = asked.agent.is_some() || asked.conversation.is_some();
        let named = at_turn.filter(|call| is_named && call.call.key == asked.key);
        let found = named.or_else(|| self.calls.next(&live)).or(at_turn);
        found
            .map(|call| &call.call)
            .ok_or_else(|| self.calls.why_none(&live, |call| call.name.clone()))
    }

    /// Returns true if a vendor answered this exact request with success.
    pub(super) fn is_vendor_success(&self, asked: &Asked, mask: &Mask) -> bool {
        let body = compacted(&asked.body);
        self.by != By::Conversation
            && self.calls.any_same(&live(asked, &body, mask), |call| {
                call.call.is_vendor_success()
            })
    }

    /// Returns the position of a request among the recorded calls.
    fn turn(&self, asked: &Asked) -> Option<Turn> {
        let mut all = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Said::of(
            &asked.body,
            &asked.endpoint,
            asked.agent.as_deref(),
            asked.conversation.as_deref(),
        ));
        turns_in(&self.recorded, &all).pop().flatten()
    }
}

/// Returns a request in the form in which it is compared.
fn live<'a>(asked: &'a Asked, body: &'a str, mask: &'a Mask) -> LiveRequest<'a> {
    let Asked {
        endpoint,
        dialect,
        key,
        ..
    } = asked;
    LiveRequest {
        endpoint,
        dialect,
        body,
        key,
        redactor: Some(mask.redactor()),
    }
}
