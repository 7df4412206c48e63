//! The conversation of one agent: requests answers until one ends the conversation. After an
//! answer, further messages may follow, such as the results of its tool calls. The number of
//! requests is bounded, and an agent that exceeds it is distinguished from one that finishes.

use crate::context::render::message::Message;
use crate::kernel::conversation::Turn;
use std::borrow::Cow;

/// Maximum number of requests of one conversation.
pub const MAX_REQUESTS: usize = 16;

/// All answers of a conversation, in order; the last one ends it.
#[derive(Debug)]
pub struct AnsweredConversation<A> {
    /// The answers.
    pub answers: Vec<A>,
    /// True if the last answer ends the conversation; false if the bound was reached.
    pub is_ended: bool,
}

/// Requests answers until nothing follows an answer. `ask` returns the answer to some messages with
/// its message in the conversation. `follow` returns the messages that follow it; `None` after the
/// last answer.
///
/// # Errors
/// The error that `ask` or `follow` returns.
pub fn run_until_answered<A, E>(
    first: &[Message],
    mut ask: impl FnMut(&[Message]) -> Result<(A, Turn), E>,
    mut follow: impl FnMut(&A, &Turn) -> Result<Option<Vec<Turn>>, E>,
) -> Result<AnsweredConversation<A>, E> {
    let mut messages = Cow::Borrowed(first);
    let mut answers = Vec::new();
    for _ in 0..MAX_REQUESTS {
        let (answer, turn) = ask(&messages)?;
        let turns = follow(&answer, &turn)?;
        answers.push(answer);
        let Some(turns) = turns else {
            return Ok(AnsweredConversation {
                answers,
                is_ended: true,
            });
        };
        let messages = messages.to_mut();
        messages.push(turn.into());
        messages.extend(turns.into_iter().map(Message::from));
    }
    Ok(AnsweredConversation {
        answers,
        is_ended: false,
    })
}
