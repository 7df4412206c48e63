//! Sessions of pi and OMP: `~/.pi/agent/sessions/--<folder>--/*.jsonl`.
//!
//! Rows as in badlogic/pi-mono@83378aad `packages/coding-agent/docs/session.md`; version 1 without ids
//! as migrated by `session-manager.ts`. Looked up 2026-11-28.

use super::content::{RowReader, own_text, read_usage, text_at};
use crate::kernel::conversation::{Part, Reasoning, Speaker, ToolCall, ToolResult, Turn};
use crate::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, RequestFacts, RowKind, SessionEvent,
    SessionMessage,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Kinds of rows that are not part of the conversation.
const OTHER_ROWS: [&str; 6] = [
    "model_change",
    "thinking_level_change",
    "custom",
    "label",
    "session_info",
    "leaf",
];

/// The keys of uncached tokens, of those read from the cache and of those written to it.
const USAGE_KEYS: [&str; 3] = ["input", "cacheRead", "cacheWrite"];

/// Reads the rows of a session.
#[derive(Debug, Default)]
pub(super) struct PiReader {
    /// The number of the next message.
    count: usize,
    /// The place of each entry, the head included.
    entries: Vec<EntryPlace>,
    /// The number of compactions that hold.
    compactions: usize,
    /// The entries by their ids.
    ids: HashMap<String, usize>,
    /// The id of the last entry.
    last: String,
}

/// The place of an entry.
#[derive(Clone, Copy, Debug)]
struct EntryPlace {
    /// The number of the next message before it.
    start: usize,
    /// The number of the next message behind it.
    end: usize,
    /// The number of compactions that hold behind it.
    compactions: usize,
}

impl RowReader for PiReader {
    fn read_row(&mut self, row: Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        let row = &row;
        let parent = text_at(row, "parentId");
        // A parent further up means that the user went back to it.
        if !parent.is_empty()
            && parent != self.last
            && let Some(place) = self.ids.get(parent).and_then(|at| self.entries.get(*at))
        {
            let undone = place.compactions..self.compactions;
            events.extend(undone.map(|_| SessionEvent::UndoCompaction));
            events.push(SessionEvent::Rewind(place.end));
            self.compactions = self.compactions.min(place.compactions);
        }
        let start = self.count;
        let id = text_at(row, "id");
        if !id.is_empty() {
            self.ids.insert(id.to_owned(), self.entries.len());
            id.clone_into(&mut self.last);
        }
        let kind = self.read_entry(row, line, events);
        self.entries.push(EntryPlace {
            start,
            end: self.count,
            compactions: self.compactions,
        });
        kind
    }
}

impl PiReader {
    fn read_entry(&mut self, row: &Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        match text_at(row, "type") {
            "session" => events.extend(own_text(row, "cwd").map(SessionEvent::Folder)),
            "message" | "custom_message" | "branch_summary" => {
                let message = row.get("message").unwrap_or(row);
                self.count += 1;
                events.push(SessionEvent::Message(read_message(message, line)));
                if text_at(message, "role") == "assistant" {
                    events.push(SessionEvent::Request(RequestFacts {
                        model: own_text(message, "model"),
                        at: own_text(row, "timestamp"),
                        tokens: read_usage(message, USAGE_KEYS),
                    }));
                }
            }
            "compaction" => {
                let point = self.read_compaction(row, line);
                self.compactions += 1;
                events.push(SessionEvent::Compaction(Box::new(point)));
            }
            other if OTHER_ROWS.contains(&other) => {}
            other => return RowKind::Unknown(other.to_owned()),
        }
        RowKind::Known
    }

    fn read_compaction(&self, row: &Value, line: usize) -> CompactionPoint {
        let index = row.get("firstKeptEntryIndex").and_then(Value::as_u64);
        let entry = index
            .and_then(|index| usize::try_from(index).ok())
            .or_else(|| self.ids.get(text_at(row, "firstKeptEntryId")).copied());
        let first = entry.and_then(|entry| Some(self.entries.get(entry)?.start));
        CompactionPoint {
            at: own_text(row, "timestamp"),
            tokens_before: row.get("tokensBefore").and_then(Value::as_u64),
            summary: text_at(row, "summary").to_owned(),
            retained: (first.unwrap_or(self.count)..self.count).collect(),
            ..CompactionPoint::new(CompactionKind::Summary, line)
        }
    }
}

fn read_message(message: &Value, line: usize) -> SessionMessage {
    let mut origin = MessageOrigin::Conversation;
    let (speaker, parts) = match text_at(message, "role") {
        "user" => (Speaker::User, content_parts(message)),
        "assistant" => (Speaker::Assistant, content_parts(message)),
        "toolResult" => {
            let result = ToolResult {
                call: text_at(message, "toolCallId").to_owned(),
                parts: content_parts(message),
                is_error: message.get("isError").and_then(Value::as_bool) == Some(true),
            };
            (Speaker::Tool, vec![Part::Result(result)])
        }
        "bashExecution" => {
            // A command of the user: a call and its result at once.
            let id = format!("user-{line}");
            let exit = message.get("exitCode").and_then(Value::as_i64);
            let result = ToolResult {
                is_error: exit.is_some_and(|exit| exit != 0),
                ..ToolResult::new(id.clone(), text_at(message, "output"))
            };
            let call = ToolCall {
                id,
                name: "bash".to_owned(),
                arguments: json!({"command": text_at(message, "command")}),
            };
            (Speaker::User, vec![Part::Call(call), Part::Result(result)])
        }
        _ => {
            origin = MessageOrigin::Program;
            (Speaker::User, content_parts(message))
        }
    };
    SessionMessage::new(Turn { speaker, parts }, origin, line)
}

/// Returns the parts of a content, which may be a text.
fn content_parts(message: &Value) -> Vec<Part> {
    match message.get("content") {
        Some(Value::String(text)) => vec![Part::Text(text.clone())],
        Some(Value::Array(blocks)) => blocks.iter().filter_map(read_block).collect(),
        _ => Vec::new(),
    }
}

fn read_block(block: &Value) -> Option<Part> {
    match text_at(block, "type") {
        "text" => Some(Part::Text(text_at(block, "text").to_owned())),
        "thinking" => Some(Part::Reasoning(Reasoning {
            text: text_at(block, "thinking").to_owned(),
            ..Reasoning::default()
        })),
        "toolCall" => Some(Part::Call(ToolCall {
            id: text_at(block, "id").to_owned(),
            name: text_at(block, "name").to_owned(),
            arguments: block.get("arguments").cloned().unwrap_or_default(),
        })),
        _ => None,
    }
}
