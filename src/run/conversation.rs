//! One agent asked until its answer ends the conversation: after each answer something may follow, such as the results of the tools that it
//! calls. Bounded: an agent that goes on calling tools is told apart from one that answers.

use crate::context::render::message::Message;
use crate::kernel::conversation::Turn;
use std::borrow::Cow;

/// Requests of one conversation at most.
pub const CALLS: usize = 16;

/// Every answer of a conversation, in order; the last one ends it.
#[derive(Debug)]
pub struct Conversation<A> {
    /// The answers.
    pub answers: Vec<A>,
    /// Whether the last of them ends the conversation; else the bound did.
    pub is_ended: bool,
}

/// Asks until nothing follows an answer. `ask` gives the answer to some messages, with the turn that it is of the conversation; `follow` what
/// follows it, `None` where it is the last.
///
/// # Errors
/// What `ask` or `follow` reports.
pub fn converse<A, E>(
    first: &[Message],
    mut ask: impl FnMut(&[Message]) -> Result<(A, Turn), E>,
    mut follow: impl FnMut(&A, &Turn) -> Result<Option<Vec<Turn>>, E>,
) -> Result<Conversation<A>, E> {
    let mut messages = Cow::Borrowed(first);
    let mut answers = Vec::new();
    for _ in 0..CALLS {
        let (answer, turn) = ask(&messages)?;
        let turns = follow(&answer, &turn)?;
        answers.push(answer);
        let Some(turns) = turns else { return Ok(Conversation { answers, is_ended: true }) };
        let messages = messages.to_mut();
        messages.push(turn.into());
        messages.extend(turns.into_iter().map(Message::from));
    }
    Ok(Conversation { answers, is_ended: false })
}
