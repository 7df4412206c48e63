//! A method of compaction applied to a session: the conversation that it receives, and the messages
//! and the summary that it leaves.
//!
//! Asks no model and runs no program: its caller does, and passes on the summary.

use super::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, SessionEvent, SessionMessage, part_text,
};
use crate::kernel::conversation::Part;
use serde::Serialize;

pub use crate::scenario::compaction::CompactionMethod;

/// The bytes of a token.
const TOKEN_BYTES: u64 = 4;

/// A message with its number in the session.
#[derive(Clone, Debug)]
pub struct NumberedMessage {
    /// The number.
    pub number: usize,
    /// The message.
    pub message: SessionMessage,
}

/// A conversation at the point at which it is compacted.
#[derive(Clone, Debug)]
pub struct ConversationAtPoint {
    /// The summary that it begins with; empty before the first compaction.
    pub summary: String,
    /// All of its messages, oldest first.
    pub messages: Vec<NumberedMessage>,
    /// The compaction as the session contains it.
    pub point: CompactionPoint,
}

/// The input of a program that compacts, as JSON.
#[derive(Debug, Serialize)]
pub struct MethodInput {
    /// The summary that the conversation begins with; empty before the first compaction.
    pub summary: String,
    /// The messages to compact, oldest first.
    pub messages: Vec<MethodMessage>,
}

/// A message for a program that compacts.
#[derive(Debug, Serialize)]
pub struct MethodMessage {
    /// The speaker.
    pub role: &'static str,
    /// Its texts, tool calls and tool results.
    pub text: String,
}

impl ConversationAtPoint {
    /// Returns the messages that a summary replaces: those that the recorded compaction dropped,
    /// without those that the agent's program sends with every request.
    pub fn dropped(&self) -> impl Iterator<Item = &SessionMessage> {
        self.messages
            .iter()
            .filter(|one| {
                one.message.origin != MessageOrigin::Standing
                    && self.point.retained.binary_search(&one.number).is_err()
            })
            .map(|one| &one.message)
    }

    /// Returns the input of a program that compacts.
    pub fn method_input(&self) -> MethodInput {
        let message = |message: &SessionMessage| MethodMessage {
            role: message.turn.speaker.word(),
            text: message_text(message),
        };
        MethodInput {
            summary: self.summary.clone(),
            messages: self.dropped().map(message).collect(),
        }
    }

    /// Returns the conversation as one text, for the prompt of a role.
    pub fn prompt_text(&self) -> String {
        let title = "summary of the conversation so far";
        let summary = Some(&self.summary).filter(|summary| !summary.is_empty());
        let summary = summary.map(|summary| format!("{title}:\n{summary}"));
        let messages = self.dropped().map(describe_message);
        let texts: Vec<String> = summary.into_iter().chain(messages).collect();
        texts.join("\n\n")
    }

    /// Returns the compaction with another summary in place of the recorded one.
    pub fn with_summary(&self, summary: String) -> CompactionPoint {
        CompactionPoint {
            kind: CompactionKind::Summary,
            summary,
            ..self.point.clone()
        }
    }

    /// Returns the compaction that keeps the newest messages up to a number of tokens, without a
    /// summary.
    pub fn truncated(&self, tokens: u64) -> CompactionPoint {
        let mut left = tokens.saturating_mul(TOKEN_BYTES);
        let newest = self.messages.iter().rev().take_while(|one| {
            let bytes = message_text(&one.message).len() as u64;
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        });
        let mut retained: Vec<usize> = newest.map(|one| one.number).collect();
        retained.reverse();
        CompactionPoint {
            retained,
            ..self.with_summary(String::new())
        }
    }
}

/// Follows the messages of a session until it is compacted.
#[derive(Debug, Default)]
pub struct ConversationReplay {
    summary: String,
    messages: Vec<NumberedMessage>,
    count: usize,
    /// The conversations before the compactions that hold, the last one last.
    earlier: Vec<EarlierConversation>,
}

/// The part of a conversation that a compaction replaced.
#[derive(Debug)]
struct EarlierConversation {
    summary: String,
    messages: Vec<NumberedMessage>,
    /// The number of the first message behind the compaction.
    end: usize,
}

impl ConversationReplay {
    /// Takes the next event of one conversation. Returns the conversation at a compaction.
    pub fn add_event(&mut self, event: SessionEvent) -> Option<ConversationAtPoint> {
        match event {
            SessionEvent::Message(message) => {
                self.messages.push(NumberedMessage {
                    number: self.count,
                    message,
                });
                self.count += 1;
            }
            SessionEvent::Rewind(number) => self.rewind(number),
            SessionEvent::UndoCompaction => {
                if let Some(earlier) = self.earlier.pop() {
                    self.rewind(earlier.end);
                    self.summary = earlier.summary;
                    self.messages.extend(earlier.messages);
                    self.messages.sort_by_key(|one| one.number);
                }
            }
            SessionEvent::Compaction(point) => {
                let is_summary = point.kind != CompactionKind::ClearedResults;
                let after = if is_summary {
                    point.summary.clone()
                } else {
                    self.summary.clone()
                };
                let found = ConversationAtPoint {
                    summary: std::mem::replace(&mut self.summary, after),
                    messages: std::mem::take(&mut self.messages),
                    point: *point,
                };
                let retained = &found.point.retained;
                let stays = |one: &&NumberedMessage| retained.binary_search(&one.number).is_ok();
                self.messages = found.messages.iter().filter(stays).cloned().collect();
                let goes = |one: &&NumberedMessage| !stays(one);
                self.earlier.push(EarlierConversation {
                    summary: found.summary.clone(),
                    messages: found.messages.iter().filter(goes).cloned().collect(),
                    end: self.count,
                });
                return Some(found);
            }
            SessionEvent::Reload(_)
            | SessionEvent::Request(_)
            | SessionEvent::SystemText(_)
            | SessionEvent::Folder(_)
            | SessionEvent::Conversation(_) => {}
        }
        None
    }

    /// Removes the messages from a number on.
    fn rewind(&mut self, number: usize) {
        let end = self.messages.partition_point(|one| one.number < number);
        self.messages.truncate(end);
    }
}

/// Returns a message as a text with its speaker.
pub fn describe_message(message: &SessionMessage) -> String {
    let speaker = message.turn.speaker.word();
    format!("{speaker}: {}", message_text(message))
}

/// Returns the texts, calls and results of a message, one a line.
pub fn message_text(message: &SessionMessage) -> String {
    let parts = message.turn.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Call(call) => Some(format!("calls {} {}", call.name, call.arguments)),
        Part::Result(result) => {
            let texts: Vec<&str> = result.parts.iter().filter_map(part_text).collect();
            let failed = if result.is_error { " (failed)" } else { "" };
            Some(format!("result{failed}: {}", texts.join("\n")))
        }
        Part::Reasoning(_) | Part::Media(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "../../tests/unit/session/method.rs"]
mod tests;
