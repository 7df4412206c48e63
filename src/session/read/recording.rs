//! Recordings of ctxc: each conversation, and the calls before which its history shrank.

use super::content::{joined_text, turn_of};
use super::history::{HistoryChange, MessageHistory};
use crate::kernel::conversation::{Part, Speaker, Turn};
use crate::record::recording::Recording;
use crate::request::dialect::Dialect;
use crate::request::model::ModelRequest;
use crate::request::segments::build_segments;
use crate::request::threads::{ConversationTracker, SentRequest};
use crate::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, RowKind, SessionEvent, SessionMessage,
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
}

impl RecordingReader {
    /// Reads a call. The message that answers it comes with the next call.
    pub(super) fn read_row(
        &mut self,
        row: &Value,
        line: usize,
        events: &mut Vec<SessionEvent>,
    ) -> RowKind {
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
        let is_continued = thread.before.is_none()
            && request.message_parts().any(|(_, part)| {
                matches!(&part.part, Some(Part::Text(text)) if SUMMARY_TEXTS.iter().any(|start| text.starts_with(start)))
            });
        let mut name = format!("{}, conversation {}", thread.agent, thread.conversation);
        if let Some(latest) = self.latest.get(&thread.agent).filter(|_| is_continued) {
            self.continued.insert(name.clone(), latest.clone());
        }
        if let Some(first) = self.continued.get(&name) {
            name.clone_from(first);
        }
        self.latest.insert(thread.agent, name.clone());
        events.push(SessionEvent::Conversation(name.clone()));
        let (system, turns): (Vec<Turn>, Vec<Turn>) = request
            .messages
            .into_iter()
            .map(turn_of)
            .partition(|turn| turn.speaker == Speaker::System);
        let own = self.conversations.entry(name).or_default();
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
        let change = own.history.replace(turns);
        let point = CompactionPoint {
            at: call.at.clone(),
            tokens_after: call.usage.input,
            ..CompactionPoint::new(CompactionKind::Summary, line)
        };
        add_change(own, change, point, events);
        events.extend(call.usage.input.map(SessionEvent::RequestTokens));
        RowKind::Known
    }
}

/// Passes on the difference between two calls: new messages, a step back, or a compaction with the
/// new texts in front of the messages that stay.
fn add_change(
    own: &mut SentConversation,
    change: HistoryChange,
    mut point: CompactionPoint,
    events: &mut Vec<SessionEvent>,
) {
    let line = point.line;
    let mut added = change.added;
    if change.dropped > 0 && change.is_continuation && !change.retained.is_empty() {
        let next = change.retained.last().map_or(0, |last| last + 1);
        events.push(SessionEvent::Rewind(next));
    } else if change.dropped > 0 {
        let is_tail =
            |at: usize| at > 0 && added.iter().skip(at).all(|one| !one.is_before_retained);
        let summary = (0..added.len())
            .find(|at| is_tail(*at))
            .unwrap_or(added.len());
        let texts: Vec<String> = added
            .drain(..summary)
            .map(|one| joined_text(&one.turn))
            .collect();
        point.summary = texts.join("\n");
        point.retained = change.retained;
        events.push(SessionEvent::Compaction(Box::new(point)));
    }
    for one in added {
        own.history.add(&one.turn);
        events.push(SessionEvent::Message(SessionMessage::new(
            one.turn,
            MessageOrigin::Conversation,
            line,
        )));
    }
}
