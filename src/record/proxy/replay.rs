//! Answers from an earlier recording: the nth equal request gets the nth answer, then the last.

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

/// What makes two requests equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// All that is sent.
    #[default]
    Key,
    /// The last message.
    Conversation,
    /// All that is sent, else the same place in the same conversation.
    Turn,
}

/// The calls of a recording, to be given again.
#[derive(Debug)]
pub struct Replay {
    calls: RecordedCalls<Call>,
    by: By,
    /// By their places, where calls are found by that.
    turns: BTreeMap<Turn, usize>,
    /// What the recorded calls ask, where calls are found by their places.
    recorded: Vec<Option<Said>>,
    /// What was asked so far.
    said: Mutex<Vec<Option<Said>>>,
}

impl Replay {
    /// Gives the answers of these calls. Those that were never answered, or not wholly, are left out.
    pub fn new(calls: Vec<Call>, by: By, comparison: Comparison) -> Self {
        let is_whole = |call: &Recording| call.response.is_some() && call.status.is_some() && call.error.is_none();
        let calls: Vec<Call> = calls.into_iter().filter(|call| is_whole(&call.call)).collect();
        let recorded: Vec<Option<Said>> = calls.iter().filter(|_| by == By::Turn).map(|call| Said::of_call(&call.call)).collect();
        let turns = turns(&recorded).into_iter().enumerate().filter_map(|(at, turn)| Some((turn?, at))).collect();
        let scope = if by == By::Conversation { Scope::LastMessage } else { Scope::Whole };
        Self { calls: RecordedCalls::new(calls, comparison, scope), by, turns, recorded, said: Mutex::default() }
    }

    /// The answer to a request; else why there is none.
    pub(super) fn next(&self, asked: &Asked, mask: &Mask) -> Result<&Recording, String> {
        let body = compacted(&asked.body);
        let live = live(asked, &body, mask);
        let turn = if self.by == By::Turn { self.turn(asked) } else { None };
        let at_turn = turn.and_then(|turn| self.calls.calls().get(*self.turns.get(&turn)?));
        // Of calls that are the same, one whose agent or conversation the program names is that of its own.
        let is_named = asked.agent.is_some() || asked.conversation.is_some();
        let named = at_turn.filter(|call| is_named && call.call.key == asked.key);
        let found = named.or_else(|| self.calls.next(&live)).or(at_turn);
        found.map(|call| &call.call).ok_or_else(|| self.calls.why_none(&live, |call| call.name.clone()))
    }

    /// Returns whether a vendor answered just this request with success.
    pub(super) fn is_vendor_success(&self, asked: &Asked, mask: &Mask) -> bool {
        let body = compacted(&asked.body);
        self.by != By::Conversation && self.calls.any_same(&live(asked, &body, mask), |call| call.call.is_vendor_success())
    }

    /// The place of a request among those that were recorded.
    fn turn(&self, asked: &Asked) -> Option<Turn> {
        let mut all = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Said::of(&asked.body, &asked.endpoint, asked.agent.as_deref(), asked.conversation.as_deref()));
        turns_in(&self.recorded, &all).pop().flatten()
    }
}

/// A request in the form in which it is compared.
fn live<'a>(asked: &'a Asked, body: &'a str, mask: &'a Mask) -> LiveRequest<'a> {
    let Asked { endpoint, dialect, key, .. } = asked;
    LiveRequest { endpoint, dialect, body, key, redactor: Some(mask.redactor()) }
}
