//! Where calls stand: the number of the conversation, and that of the call in it. A program that is run again is found its calls by that.

use super::recording::Recording;
use crate::request::dialect::Dialect;
use crate::request::model::Request;
use crate::request::segments::{Segment, segments};
use crate::request::threads::{Sent, threads};
use std::collections::BTreeMap;

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
