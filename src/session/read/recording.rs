//! Recordings of ctxc: each conversation, and the calls before which its history shrank.

use super::content::{RowReader, begins_with, joined_text, text_at, turn_of};
use super::history::{HistoryChange, MessageHistory};
use crate::kernel::conversation::{Part, Speaker, Turn};
use crate::record::recording::Recording;
use crate::request::dialect::Dialect;
use crate::request::model::{ModelRequest, RequestPart};
use crate::request::segments::build_segments;
use crate::request::threads::{ConversationTracker, SentRequest};
use crate::session::session_event::{
    BilledTokens, CompactionKind, CompactionPoint, MessageOrigin, RequestFacts, RowKind,
    SessionEvent, SessionMessage,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads the calls of a recording.
#[derive(Debug, Default)]
pub(super) struct RecordingReader {
    tracker: ConversationTracker,
    conversations: BTreeMap<String, SentConversation>,
    /// The last conversation of each agent.
    latest: BTreeMap<String, String>,
    /// The conversations that begin with a summary, by their names: those that they continue.
    continued: BTreeMap<String, String>,
}

/// Beginnings of summaries: those of Claude Code, Codex, pi and Gemini CLI (looked up 2026-11-28).
const SUMMARY_TEXTS: [&str; 4] = [
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "The conversation history before this point was compacted",
    "<state_snapshot>",
];

/// A conversation as it was last sent.
#[derive(Debug, Default)]
struct SentConversation {
    history: MessageHistory,
    /// The system text.
    system: Vec<Turn>,
    /// The numbers of the messages with results, in order.
    results: Vec<usize>,
    /// The number of results that the vendor has cleared.
    cleared: usize,
    /// The last block or item with which the vendor compacted.
    block: Value,
    /// The tokens of the last request.
    tokens: Option<u64>,
}

impl RowReader for RecordingReader {
    fn read_row(&mut self, row: Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        let Ok(call) = Recording::parse_line(&row.to_string()) else {
            return RowKind::Unknown("no call".to_owned());
        };
        let request = Dialect::find(&call.dialect)
            .and_then(|_| ModelRequest::parse(call.request.get(), Some(&call.endpoint)).ok());
        // A call of another kind has no messages.
        let Some(request) = request else {
            return RowKind::Known;
        };
        let thread = self.tracker.attribute(&SentRequest {
            segments: &build_segments(&request),
            dialect: request.dialect,
            agent: call.agent.as_deref(),
            conversation: call.conversation.as_deref(),
        });
        // A summary in place of all messages looks like a conversation of its own.
        let block = last_block(&request);
        let begins = |part: &RequestPart| matches!(&part.part, Some(Part::Text(text)) if begins_with(text, &SUMMARY_TEXTS));
        let is_continued = thread.before.is_none()
            && (block.is_some() || request.message_parts().any(|(_, part)| begins(part)));
        let mut name = format!("{}, conversation {}", thread.agent, thread.conversation);
        if let Some(latest) = self.latest.get(&thread.agent).filter(|_| is_continued) {
            self.continued.insert(name.clone(), latest.clone());
        }
        if let Some(first) = self.continued.get(&name) {
            name.clone_from(first);
        }
        self.latest.insert(thread.agent, name.clone());
        events.push(SessionEvent::Conversation(name.clone()));
        let own = self.conversations.entry(name).or_default();
        let mut point = CompactionPoint {
            at: call.at.clone(),
            tokens_after: call.usage.input,
            ..CompactionPoint::new(CompactionKind::Summary, line)
        };
        let mut first = 0;
        if let Some((message, value)) = block {
            // Anthropic leaves out everything before its block.
            if request.dialect == Dialect::Anthropic {
                first = message;
            }
            if *value != own.block {
                own.block = value.clone();
                text_at(value, "content").clone_into(&mut point.summary);
                if point.summary.is_empty() {
                    point.kind = CompactionKind::Opaque;
                }
            }
        }
        let (system, turns): (Vec<Turn>, Vec<Turn>) = request
            .messages
            .into_iter()
            .enumerate()
            .filter(|(at, message)| *at >= first || message.speaker == Speaker::System)
            .map(|(_, message)| turn_of(message))
            .partition(|turn| turn.speaker == Speaker::System);
        if own.system != system {
            for turn in &system {
                own.history.skip_number();
                events.push(SessionEvent::Message(SessionMessage::new(
                    turn.clone(),
                    MessageOrigin::Standing,
                    line,
                )));
            }
            own.system = system;
        }
        let mut change = own.history.replace(turns);
        let tokens = call.usage.input;
        change.is_shorter |= own.tokens > tokens && tokens.is_some();
        own.tokens = tokens;
        own.add_change(change, point, events);
        events.push(SessionEvent::Request(RequestFacts {
            tokens: BilledTokens {
                input: tokens,
                ..BilledTokens::default()
            },
            ..RequestFacts::default()
        }));
        let cleared = call
            .response
            .map_or(0, |response| cleared_results(response.get()));
        if cleared > own.cleared {
            own.cleared = cleared;
            let gone = own.results.get(..cleared).unwrap_or(&own.results);
            let point = CompactionPoint {
                at: call.at,
                retained: (0..own.history.next_number())
                    .filter(|number| gone.binary_search(number).is_err())
                    .collect(),
                ..CompactionPoint::new(CompactionKind::ClearedResults, line)
            };
            events.push(SessionEvent::Compaction(Box::new(point)));
        }
        RowKind::Known
    }
}

/// Returns the last block or item with which a vendor compacted, and the place of its message:
/// `compaction` of Anthropic (`compact_20260112`) and of OpenAI's Responses (looked up 2026-11-28).
fn last_block(request: &ModelRequest) -> Option<(usize, &Value)> {
    request
        .messages
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, message)| {
            let mut parts = message.parts.iter().rev();
            let own = parts.find(|part| part.kind.starts_with("compaction"))?;
            Some((at, request.value_at(&own.pointer)?))
        })
}

/// Returns the number of results that Anthropic cleared before it answered: `applied_edits` of
/// `clear_tool_uses_20250919` in a response or its stream (looked up 2026-11-28).
fn cleared_results(response: &str) -> usize {
    response
        .split("cleared_tool_uses")
        .skip(1)
        .filter_map(|rest| {
            let rest = rest.trim_start_matches(['"', '\\', ':', ' ']);
            let end = rest.find(|c: char| !c.is_ascii_digit())?;
            rest.get(..end)?.parse().ok()
        })
        .max()
        .unwrap_or(0)
}

impl SentConversation {
    /// Passes on the difference between two calls: new messages, a step back, or a compaction with
    /// the new texts in front of the messages that stay.
    fn add_change(
        &mut self,
        change: HistoryChange,
        mut point: CompactionPoint,
        events: &mut Vec<SessionEvent>,
    ) {
        let line = point.line;
        let mut added = change.added;
        let is_of_vendor = point.kind == CompactionKind::Opaque || !point.summary.is_empty();
        if change.dropped > 0 && change.is_continuation && !change.retained.is_empty() {
            let next = change.retained.last().map_or(0, |last| last + 1);
            events.push(SessionEvent::Rewind(next));
        } else if change.dropped > 0 || is_of_vendor {
            let tail = added.iter().rposition(|one| one.is_before_retained);
            let summary = tail.map_or(1, |last| last + 1).min(added.len());
            let texts: Vec<String> = added
                .iter()
                .take(summary)
                .map(|one| joined_text(&one.turn))
                .collect();
            let begins = texts.iter().any(|text| begins_with(text, &SUMMARY_TEXTS));
            // Else a text that changes with every call was replaced, such as the time.
            if change.is_shorter || begins || is_of_vendor {
                if !is_of_vendor {
                    added.drain(..summary);
                    point.summary = texts.join("\n");
                }
                point.retained = change.retained;
                let retained = &point.retained;
                self.results
                    .retain(|number| retained.binary_search(number).is_ok());
                self.cleared = 0;
                events.push(SessionEvent::Compaction(Box::new(point)));
            }
        }
        for one in added {
            let number = self.history.next_number();
            self.results.extend(one.turn.results().map(|_| number));
            self.history.add(&one.turn);
            events.push(SessionEvent::Message(SessionMessage::new(
                one.turn,
                MessageOrigin::Conversation,
                line,
            )));
        }
    }
}
