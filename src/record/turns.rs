//! The positions of calls: the number of a call's conversation, and its number in that. A program
//! that runs again is matched with its recorded calls by position.
//!
//! Conversations of a later run are matched with recorded ones by content, regardless of the order
//! in which they begin.

use super::recording::Recording;
use crate::kernel::conversation::Speaker;
use crate::request::dialect::Dialect;
use crate::request::model::ModelRequest;
use crate::request::segments::{RequestSegment, build_segments};
use crate::request::threads::{SentRequest, attribute_requests, is_shared};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The position of a call among the calls of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallPosition {
    /// The number of its conversation, from 1, in the order in which they begin.
    pub conversation: usize,
    /// Its number in the conversation, from 1.
    pub n: usize,
}

/// The content that determines a call's position.
#[derive(Clone, Debug)]
pub struct CallContent {
    dialect: Dialect,
    segments: Vec<RequestSegment>,
    agent: Option<String>,
    conversation: Option<String>,
}

impl CallContent {
    /// Reads a request, with its agent and its conversation if the program names them. `None` if it
    /// is not a request to a model.
    pub fn from_request(
        body: &str,
        endpoint: &str,
        agent: Option<&str>,
        conversation: Option<&str>,
    ) -> Option<Self> {
        // A body for embeddings looks like a body of the Responses dialect.
        Dialect::of_path(endpoint)?;
        let request = ModelRequest::parse(body, Some(endpoint)).ok()?;
        Some(Self {
            dialect: request.dialect,
            segments: build_segments(&request),
            agent: agent.map(str::to_owned),
            conversation: conversation.map(str::to_owned),
        })
    }

    /// Reads the request of a recorded call.
    pub fn from_call(call: &Recording) -> Option<Self> {
        Self::from_request(
            call.request.get(),
            &call.endpoint,
            call.agent.as_deref(),
            call.conversation.as_deref(),
        )
    }
}

/// Returns the position of each call, in call order; `None` for a call that is not a request to a
/// model.
pub fn call_positions(calls: &[Option<CallContent>]) -> Vec<Option<CallPosition>> {
    let sent: Vec<SentRequest<'_>> = calls
        .iter()
        .flatten()
        .map(|one| SentRequest {
            segments: &one.segments,
            dialect: one.dialect,
            agent: one.agent.as_deref(),
            conversation: one.conversation.as_deref(),
        })
        .collect();
    let mut conversations: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    let mut found = attribute_requests(&sent).into_iter().map(|thread| {
        let number = conversations.len() + 1;
        let (conversation, n) = conversations
            .entry((thread.agent, thread.conversation))
            .or_insert((number, 0));
        *n += 1;
        CallPosition {
            conversation: *conversation,
            n: *n,
        }
    });
    calls
        .iter()
        .map(|one| one.as_ref().and_then(|_| found.next()))
        .collect()
}

/// Returns the positions of a later run's calls among the conversations of a recording, in call
/// order.
///
/// Pairs of a recorded and a later conversation are matched from the most alike down, by
/// `conversation_likeness` of their first calls; equal pairs in recorded order. Conversations that
/// the recording lacks get the next numbers.
pub fn matched_positions(
    recorded: &[Option<CallContent>],
    later: &[Option<CallContent>],
) -> Vec<Option<CallPosition>> {
    let (known, own) = (call_positions(recorded), call_positions(later));
    let (first_known, first_own) = (first_calls(&known), first_calls(&own));
    let contents =
        |all: &'_ [Option<CallContent>], at: usize| all.get(at).and_then(Option::as_ref).cloned();
    let mut pairs = Vec::new();
    for (conversation, at) in &first_known {
        let Some(known) = contents(recorded, *at) else {
            continue;
        };
        for (other, at) in &first_own {
            let likeness = contents(later, *at).and_then(|own| conversation_likeness(&known, &own));
            pairs.extend(likeness.map(|likeness| (Reverse(likeness), *conversation, *other)));
        }
    }
    pairs.sort();
    let (mut taken, mut place) = (BTreeSet::new(), BTreeMap::new());
    for (_, conversation, other) in pairs {
        if !place.contains_key(&other) && taken.insert(conversation) {
            place.insert(other, conversation);
        }
    }
    let mut next = first_known.len();
    for other in first_own.keys() {
        place.entry(*other).or_insert_with(|| {
            next += 1;
            next
        });
    }
    let placed = |turn: CallPosition| CallPosition {
        conversation: place
            .get(&turn.conversation)
            .copied()
            .unwrap_or(turn.conversation),
        ..turn
    };
    own.into_iter().map(|turn| turn.map(placed)).collect()
}

/// Returns the index of each conversation's first call.
fn first_calls(turns: &[Option<CallPosition>]) -> BTreeMap<usize, usize> {
    let first = |(at, turn): (usize, &Option<CallPosition>)| {
        turn.filter(|turn| turn.n == 1)
            .map(|turn| (turn.conversation, at))
    };
    turns.iter().enumerate().filter_map(first).collect()
}

/// Returns the likeness of the beginnings of two conversations, most significant part first: same
/// conversation name; agent (its tools and its system text: 2 if equal, 1 if half is common); same
/// first user turn; number of equal leading segments; number of equal leading and trailing bytes.
/// `None` if the agents differ in name or dialect.
fn conversation_likeness(
    known: &CallContent,
    own: &CallContent,
) -> Option<(bool, u8, bool, usize, usize)> {
    if known.dialect != own.dialect || known.agent != own.agent {
        return None;
    }
    let shared = |call: &CallContent| -> String {
        call.segments
            .iter()
            .filter(|one| is_shared(one))
            .map(|one| &*one.wire)
            .collect()
    };
    let whole =
        |call: &CallContent| -> String { call.segments.iter().map(|one| &*one.wire).collect() };
    let turn = |call: &'_ CallContent| -> Vec<String> {
        let of_user = call
            .segments
            .iter()
            .filter(|one| !is_shared(one) && one.speaker == Some(Speaker::User));
        let group = of_user.clone().next().map(|first| first.group.clone());
        of_user
            .filter(|one| Some(&one.group) == group.as_ref())
            .map(|one| one.wire.clone())
            .collect()
    };
    let (a, b) = (shared(known), shared(own));
    let agent = if a == b {
        2
    } else {
        u8::from(common_bytes(&a, &b) * 2 >= a.len().max(b.len()))
    };
    let both = known.segments.iter().zip(&own.segments);
    let front = both
        .take_while(|(a, b)| a.wire == b.wire && a.speaker == b.speaker)
        .count();
    let name = known.conversation.is_some() && known.conversation == own.conversation;
    Some((
        name,
        agent,
        turn(known) == turn(own),
        front,
        common_bytes(&whole(known), &whole(own)),
    ))
}

/// Returns the number of equal leading and trailing bytes of two texts.
fn common_bytes(a: &str, b: &str) -> usize {
    let front = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let room = a.len().min(b.len()) - front;
    front
        + a.bytes()
            .rev()
            .zip(b.bytes().rev())
            .take(room)
            .take_while(|(a, b)| a == b)
            .count()
}
