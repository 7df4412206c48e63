//! Sessions of Codex CLI: `~/.codex/sessions/Y/M/D/rollout-*.jsonl`.
//!
//! Rows as in openai/codex `codex-rs/protocol/src/protocol.rs` (`RolloutItem`), the rules of
//! replacement as in `codex-rs/core/src/compact.rs` (`build_compacted_history`), looked up
//! 2026-11-28.

use super::content::{RowReader, begins_with, joined_text, own_text, text_at, vendor_message};
use super::history::MessageHistory;
use crate::kernel::conversation::{Part, Speaker, ToolCall, Turn};
use crate::request::dialect::Dialect;
use crate::session::session_event::{
    BilledTokens, CompactionKind, CompactionPoint, MessageOrigin, RequestFacts, RowKind,
    SessionEvent, SessionMessage,
};
use serde_json::Value;

/// Kinds of rows that are not part of the conversation.
const OTHER_ROWS: [&str; 4] = [
    "session_meta",
    "inter_agent_communication",
    "world_state",
    "ghost_snapshot",
];
/// Bytes of the newest texts of the user that stay: 20,000 tokens of 4 bytes.
const RETAINED_BYTES: usize = 80_000;
/// Beginnings of texts that the program sends again with every new history.
const STANDING_TEXTS: [&str; 3] = [
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<INSTRUCTIONS>",
];
/// Beginnings of other texts that the program inserts.
const PROGRAM_TEXTS: [&str; 5] = [
    "<environment_context>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<permissions",
    "<skill",
];

/// Reads the rows of a session.
#[derive(Debug, Default)]
pub(super) struct CodexReader {
    history: MessageHistory,
    /// The texts of the user that are in the history, by the numbers of their messages.
    prompts: Vec<Prompt>,
    /// True if the last message was one of the model.
    is_answering: bool,
    /// The model of the current turn.
    model: Option<String>,
}

#[derive(Debug)]
struct Prompt {
    number: usize,
    bytes: usize,
}

impl RowReader for CodexReader {
    fn read_row(&mut self, mut row: Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        let payload = row.get_mut("payload").map(Value::take).unwrap_or_default();
        match text_at(&row, "type") {
            "response_item" => {
                if let Some(turn) = read_item(payload) {
                    self.add(turn, line, events);
                }
            }
            "compacted" => {
                let point = CompactionPoint {
                    at: own_text(&row, "timestamp"),
                    summary: text_at(&payload, "message").to_owned(),
                    ..CompactionPoint::new(CompactionKind::Summary, line)
                };
                self.read_compaction(payload, point, events);
            }
            "event_msg" => {
                let at = own_text(&row, "timestamp");
                self.read_event(&payload, at, events);
            }
            "session_meta" | "turn_context" => {
                events.extend(own_text(&payload, "cwd").map(SessionEvent::Folder));
                self.model = own_text(&payload, "model").or(self.model.take());
                let base = payload.get("base_instructions");
                let text = base.and_then(|base| own_text(base, "text"));
                events.extend(text.map(SessionEvent::SystemText));
            }
            other if OTHER_ROWS.contains(&other) => {}
            other => return RowKind::Unknown(other.to_owned()),
        }
        RowKind::Known
    }
}

impl CodexReader {
    fn add(&mut self, turn: Turn, line: usize, events: &mut Vec<SessionEvent>) {
        let text = joined_text(&turn);
        let origin = match turn.speaker {
            Speaker::System => MessageOrigin::Standing,
            Speaker::User if begins_with(&text, &STANDING_TEXTS) => MessageOrigin::Standing,
            Speaker::User if begins_with(&text, &PROGRAM_TEXTS) => MessageOrigin::Program,
            Speaker::User | Speaker::Assistant | Speaker::Tool => MessageOrigin::Conversation,
        };
        if turn.speaker == Speaker::User && origin == MessageOrigin::Conversation {
            self.prompts.push(Prompt {
                number: self.history.next_number(),
                bytes: text.len(),
            });
        }
        let is_answer = turn.speaker == Speaker::Assistant;
        let starts_answer = is_answer && !self.is_answering;
        self.is_answering = is_answer;
        self.history.add(&turn);
        events.push(SessionEvent::Message(SessionMessage {
            turn,
            origin,
            line,
            starts_answer,
        }));
    }

    fn read_event(&mut self, payload: &Value, at: Option<String>, events: &mut Vec<SessionEvent>) {
        match text_at(payload, "type") {
            "token_count" => {
                let count = |key: &str| {
                    let usage = payload.pointer("/info/last_token_usage")?;
                    usage.get(key)?.as_u64()
                };
                events.push(SessionEvent::Request(RequestFacts {
                    model: self.model.clone(),
                    at,
                    tokens: BilledTokens {
                        input: count("input_tokens"),
                        cached: count("cached_input_tokens"),
                        written: None,
                    },
                }));
            }
            "thread_rolled_back" => {
                let turns = payload
                    .get("num_turns")
                    .and_then(Value::as_u64)
                    .unwrap_or(0);
                let left = self
                    .prompts
                    .len()
                    .saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
                if let Some(first) = self.prompts.get(left) {
                    events.push(SessionEvent::Rewind(first.number));
                    self.history.rewind(first.number);
                }
                self.prompts.truncate(left);
            }
            _ => {}
        }
    }

    fn read_compaction(
        &mut self,
        mut payload: Value,
        mut point: CompactionPoint,
        events: &mut Vec<SessionEvent>,
    ) {
        let line = point.line;
        let mut standing = Vec::new();
        let history = payload.get_mut("replacement_history").map(Value::take);
        if let Some(Value::Array(items)) = history {
            if items.iter().any(is_opaque) {
                point.kind = CompactionKind::Opaque;
            }
            let turns = items.into_iter().filter_map(read_item).collect();
            let change = self.history.replace(turns);
            point.retained = change.retained;
            // New texts of the user are the summary, and texts of which a part was dropped.
            let message = std::mem::take(&mut point.summary);
            let mut texts = Vec::new();
            for added in change.added {
                let text = joined_text(&added.turn);
                if begins_with(&text, &STANDING_TEXTS) {
                    standing.push(added.turn);
                } else if added.turn.speaker == Speaker::User
                    && (message.is_empty() || !text.contains(&message))
                {
                    texts.push(text);
                }
            }
            texts.push(message);
            point.summary = texts.join("\n");
        } else {
            let mut left = RETAINED_BYTES;
            let newest = self.prompts.iter().rev().take_while(|prompt| {
                let fits = prompt.bytes <= left;
                left = left.saturating_sub(prompt.bytes);
                fits
            });
            point.retained = newest.map(|prompt| prompt.number).collect();
            point.retained.reverse();
            self.history.keep(&point.retained);
        }
        let is_retained = |prompt: &Prompt| point.retained.binary_search(&prompt.number).is_ok();
        self.prompts.retain(is_retained);
        events.push(SessionEvent::Compaction(Box::new(point)));
        for turn in standing {
            self.add(turn, line, events);
        }
    }
}

/// Returns true for a summary that only the vendor can read.
fn is_opaque(item: &Value) -> bool {
    item.get("encrypted_content")
        .is_some_and(|content| !content.is_null())
        && matches!(
            text_at(item, "type"),
            "compaction" | "compaction_summary" | "context_compaction"
        )
}

/// Reads an item of the conversation; `None` for one that is no message.
fn read_item(item: Value) -> Option<Turn> {
    if text_at(&item, "type") == "local_shell_call" {
        return Some(Turn {
            speaker: Speaker::Assistant,
            parts: vec![Part::Call(ToolCall {
                id: text_at(&item, "call_id").to_owned(),
                name: "local_shell_call".to_owned(),
                arguments: item,
            })],
        });
    }
    let mut turn = vendor_message(Dialect::OpenaiResponses, item)?;
    for part in &mut turn.parts {
        if let Part::Result(result) = part {
            for part in &mut result.parts {
                if let Part::Text(text) = part {
                    result.is_error |= unwrap_output(text);
                }
            }
        }
    }
    (!turn.parts.is_empty()).then_some(turn)
}

/// Replaces the output of a command in JSON by its text. Returns true if the command failed.
fn unwrap_output(text: &mut String) -> bool {
    if text.starts_with('{')
        && let Ok(value) = serde_json::from_str::<Value>(text)
        && let Some(output) = own_text(&value, "output")
    {
        *text = output;
        let exit = value.pointer("/metadata/exit_code").and_then(Value::as_i64);
        return exit.is_some_and(|exit| exit != 0);
    }
    let exit = text.lines().take(4).find_map(|line| {
        line.strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "))
    });
    exit.is_some_and(|exit| exit.trim() != "0")
}
