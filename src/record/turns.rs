//! Where calls stand: the number of the conversation, and that of the call in it. A program that is run again is found its calls by that.
//!
//! Conversations of a later run are those of the recording by their content, whatever the order in which they begin.

use super::recording::Recording;
use crate::kernel::conversation::Speaker;
use crate::request::dialect::Dialect;
use crate::request::model::Request;
use crate::request::segments::{Segment, segments};
use crate::request::threads::{Sent, is_shared, threads};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The place of a call among those of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// The number of its conversation, from 1, in the order in which they begin.
    pub conversation: usize,
    /// Its number in the conversation, from 1.
    pub n: usize,
}

/// What decides where a call stands.
#[derive(Clone, Debug)]
pub struct Said {
    dialect: Dialect,
    segments: Vec<Segment>,
    agent: Option<String>,
    conversation: Option<String>,
}

impl Said {
    /// What a request says, with its agent and its conversation where the program names them. `None` for what is no request to a model.
    pub fn of(body: &str, endpoint: &str, agent: Option<&str>, conversation: Option<&str>) -> Option<Self> {
        // A body for embeddings looks like one of a response.
        Dialect::of_path(endpoint)?;
        let request = Request::read(body, Some(endpoint)).ok()?;
        Some(Self {
            dialect: request.dialect,
            segments: segments(&request),
            agent: agent.map(str::to_owned),
            conversation: conversation.map(str::to_owned),
        })
    }

    /// What a recorded call says.
    pub fn of_call(call: &Recording) -> Option<Self> {
        Self::of(call.request.get(), &call.endpoint, call.agent.as_deref(), call.conversation.as_deref())
    }
}

/// The place of each call, in the order in which they were made; `None` for what is no request to a model.
pub fn turns(said: &[Option<Said>]) -> Vec<Option<Turn>> {
    let sent: Vec<Sent<'_>> = said
        .iter()
        .flatten()
        .map(|one| Sent {
            segments: &one.segments,
            dialect: one.dialect,
            agent: one.agent.as_deref(),
            conversation: one.conversation.as_deref(),
        })
        .collect();
    let mut conversations: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    let mut found = threads(&sent).into_iter().map(|thread| {
        let number = conversations.len() + 1;
        let (conversation, n) = conversations.entry((thread.agent, thread.conversation)).or_insert((number, 0));
        *n += 1;
        Turn { conversation: *conversation, n: *n }
    });
    said.iter().map(|one| one.as_ref().and_then(|_| found.next())).collect()
}

/// The places of a later run's calls among the conversations of a recording, in the order in which they were made.
///
/// Of all pairs of a recorded and a later conversation the most alike one is taken first, by `likeness` of their first calls; equal pairs in
/// recorded order. Conversations that the recording lacks are numbered behind its own.
pub fn turns_in(recorded: &[Option<Said>], later: &[Option<Said>]) -> Vec<Option<Turn>> {
    let (known, own) = (turns(recorded), turns(later));
    let (first_known, first_own) = (beginnings(&known), beginnings(&own));
    let said = |all: &'_ [Option<Said>], at: usize| all.get(at).and_then(Option::as_ref).cloned();
    let mut pairs = Vec::new();
    for (conversation, at) in &first_known {
        let Some(known) = said(recorded, *at) else { continue };
        for (other, at) in &first_own {
            let likeness = said(later, *at).and_then(|own| likeness(&known, &own));
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
    let placed = |turn: Turn| Turn { conversation: place.get(&turn.conversation).copied().unwrap_or(turn.conversation), ..turn };
    own.into_iter().map(|turn| turn.map(placed)).collect()
}

/// The first call of each conversation.
fn beginnings(turns: &[Option<Turn>]) -> BTreeMap<usize, usize> {
    let first = |(at, turn): (usize, &Option<Turn>)| turn.filter(|turn| turn.n == 1).map(|turn| (turn.conversation, at));
    turns.iter().enumerate().filter_map(first).collect()
}

/// How much alike the beginnings of two conversations are, the weightiest first: the name of the conversation, the agent (its tools and its system
/// text: 2 for the same, 1 where half of it stays), the first user turn, the segments that both begin with, the bytes that both begin and end with.
/// `None` for other agents, by their names or their form.
fn likeness(known: &Said, own: &Said) -> Option<(bool, u8, bool, usize, usize)> {
    if known.dialect != own.dialect || known.agent != own.agent {
        return None;
    }
    let shared = |said: &Said| -> String { said.segments.iter().filter(|one| is_shared(one)).map(|one| &*one.wire).collect() };
    let whole = |said: &Said| -> String { said.segments.iter().map(|one| &*one.wire).collect() };
    let turn = |said: &'_ Said| -> Vec<String> {
        let of_user = said.segments.iter().filter(|one| !is_shared(one) && one.speaker == Some(Speaker::User));
        let group = of_user.clone().next().map(|first| first.group.clone());
        of_user.filter(|one| Some(&one.group) == group.as_ref()).map(|one| one.wire.clone()).collect()
    };
    let (a, b) = (shared(known), shared(own));
    let agent = if a == b { 2 } else { u8::from(common_bytes(&a, &b) * 2 >= a.len().max(b.len())) };
    let both = known.segments.iter().zip(&own.segments);
    let front = both.take_while(|(a, b)| a.wire == b.wire && a.speaker == b.speaker).count();
    let name = known.conversation.is_some() && known.conversation == own.conversation;
    Some((name, agent, turn(known) == turn(own), front, common_bytes(&whole(known), &whole(own))))
}

/// Bytes that two texts begin and end with.
fn common_bytes(a: &str, b: &str) -> usize {
    let front = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let room = a.len().min(b.len()) - front;
    front + a.bytes().rev().zip(b.bytes().rev()).take(room).take_while(|(a, b)| a == b).count()
}
