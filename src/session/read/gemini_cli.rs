//! Sessions of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`.
//!
//! Rows as in google-gemini/gemini-cli `packages/core/src/services/chatRecordingService.ts` and
//! `chatRecordingTypes.ts` (2026): a message is written again whenever it changes, `$set` replaces all
//! messages, `$rewindTo` removes a message and those behind it. Looked up 2026-11-28.

use super::content::{RowReader, joined_text, own_text, text_at};
use crate::kernel::conversation::{Part, Speaker, ToolResult, Turn};
use crate::session::session_event::{
    BilledTokens, CompactionKind, CompactionPoint, MessageOrigin, RequestFacts, RowKind,
    SessionEvent, SessionMessage,
};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Reads the rows of a session.
#[derive(Debug, Default)]
pub(super) struct GeminiReader {
    /// The number of the next message.
    count: usize,
    /// The messages of each row that is in the history, by its id.
    rows: HashMap<String, std::ops::Range<usize>>,
    /// The beginnings of these rows, in order.
    starts: Vec<RowStart>,
    /// The last row, which may be written again.
    last: Option<WrittenRow>,
}

#[derive(Debug)]
struct RowStart {
    id: String,
    /// The number of its first message.
    number: usize,
}

#[derive(Debug)]
struct WrittenRow {
    value: Value,
    line: usize,
}

impl RowReader for GeminiReader {
    fn read_row(&mut self, row: Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        if let Some(id) = row.get("$rewindTo").and_then(Value::as_str) {
            self.end_row(events);
            let number = self.rows.get(id).map_or(0, |numbers| numbers.start);
            while let Some(last) = self.starts.pop_if(|row| row.number >= number) {
                self.rows.remove(&last.id);
            }
            events.push(SessionEvent::Rewind(number));
        } else if let Some(changes) = row.get("$set") {
            if let Some(messages) = changes.get("messages").and_then(Value::as_array) {
                self.end_row(events);
                self.replace(messages, line, events);
            }
            read_folder(changes, events);
        } else if row.get("id").is_some() {
            let is_same = self
                .last
                .as_ref()
                .is_some_and(|last| last.value.get("id") == row.get("id"));
            if !is_same {
                self.end_row(events);
            }
            self.last = Some(WrittenRow { value: row, line });
        } else if row.get("sessionId").is_some() {
            read_folder(&row, events);
        } else {
            return RowKind::Unknown(text_at(&row, "type").to_owned());
        }
        RowKind::Known
    }

    fn end_rows(&mut self, events: &mut Vec<SessionEvent>) {
        self.end_row(events);
    }
}

impl GeminiReader {
    /// Passes on the last row, which is no longer written again.
    fn end_row(&mut self, events: &mut Vec<SessionEvent>) {
        let Some(WrittenRow { value, line }) = self.last.take() else {
            return;
        };
        let id = text_at(&value, "id");
        // A row that was passed on, and is written again after others.
        if self.rows.contains_key(id) {
            return;
        }
        let start = self.count;
        for turn in read_turns(&value) {
            self.count += 1;
            let message = SessionMessage::new(turn, MessageOrigin::Conversation, line);
            events.push(SessionEvent::Message(message));
        }
        self.starts.push(RowStart {
            id: id.to_owned(),
            number: start,
        });
        if text_at(&value, "type") == "gemini" {
            let count = |key: &str| value.pointer(&format!("/tokens/{key}"))?.as_u64();
            events.push(SessionEvent::Request(RequestFacts {
                model: own_text(&value, "model"),
                at: own_text(&value, "timestamp"),
                tokens: BilledTokens {
                    input: count("input"),
                    cached: count("cached"),
                    written: None,
                },
            }));
        }
        self.rows.insert(id.to_owned(), start..self.count);
    }

    /// Replaces the history. It shrank if rows are missing.
    fn replace(&mut self, messages: &[Value], line: usize, events: &mut Vec<SessionEvent>) {
        let ids: HashSet<&str> = messages
            .iter()
            .map(|message| text_at(message, "id"))
            .collect();
        let before = self.rows.len();
        self.rows.retain(|id, _| ids.contains(id.as_str()));
        let new = || {
            messages
                .iter()
                .filter(|message| !self.rows.contains_key(text_at(message, "id")))
        };
        if self.rows.len() < before {
            let summary = new()
                .find(|message| text_at(message, "type") == "user")
                .and_then(|message| read_turns(message).into_iter().next());
            let mut retained: Vec<usize> = self.rows.values().cloned().flatten().collect();
            retained.sort_unstable();
            let point = CompactionPoint {
                at: new()
                    .next()
                    .and_then(|message| own_text(message, "timestamp")),
                summary: summary.as_ref().map(joined_text).unwrap_or_default(),
                retained,
                ..CompactionPoint::new(CompactionKind::Summary, line)
            };
            events.push(SessionEvent::Compaction(Box::new(point)));
            for message in messages {
                let id = text_at(message, "id");
                self.rows
                    .entry(id.to_owned())
                    .or_insert(self.count..self.count);
            }
            let starts = self.rows.iter().map(|(id, numbers)| RowStart {
                id: id.clone(),
                number: numbers.start,
            });
            self.starts = starts.collect();
            self.starts.sort_by_key(|row| row.number);
            return;
        }
        for value in new().cloned().collect::<Vec<_>>() {
            self.last = Some(WrittenRow { value, line });
            self.end_row(events);
        }
    }
}

fn read_folder(row: &Value, events: &mut Vec<SessionEvent>) {
    let folder = row.pointer("/directories/0").and_then(Value::as_str);
    events.extend(folder.map(|folder| SessionEvent::Folder(folder.to_owned())));
}

/// Returns the messages of a row: a text of the user; or a text of the model with its calls, and
/// their results.
fn read_turns(row: &Value) -> Vec<Turn> {
    let text = content_text(row.get("content").unwrap_or(&Value::Null));
    let calls: Vec<&Value> = row
        .get("toolCalls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .collect();
    let speaker = match text_at(row, "type") {
        "user" => Speaker::User,
        "gemini" => Speaker::Assistant,
        // Messages of the program to the user.
        _ => return Vec::new(),
    };
    let mut own = Turn::new(speaker, text);
    for call in &calls {
        let arguments = call.get("args").cloned().unwrap_or_default();
        own = own.calling(text_at(call, "id"), text_at(call, "name"), arguments);
    }
    let results = calls.iter().filter_map(|call| {
        let text = result_text(call.get("result")?);
        Some(Part::Result(ToolResult {
            call: text_at(call, "id").to_owned(),
            parts: vec![Part::Text(text)],
            is_error: matches!(text_at(call, "status"), "error" | "cancelled"),
        }))
    });
    let results = Turn {
        speaker: Speaker::Tool,
        parts: results.collect(),
    };
    [own, results]
        .into_iter()
        .filter(|turn| !turn.parts.is_empty())
        .collect()
}

/// Returns the texts of parts, of one part, or a text.
fn content_text(content: &Value) -> String {
    if let Some(parts) = content.as_array() {
        let texts: Vec<String> = parts.iter().map(content_text).collect();
        return texts.join("\n");
    }
    let text = content.as_str().unwrap_or_else(|| text_at(content, "text"));
    text.to_owned()
}

/// Returns the text of a function response.
fn result_text(result: &Value) -> String {
    if let Some(parts) = result.as_array() {
        let texts: Vec<String> = parts.iter().map(result_text).collect();
        return texts.join("\n");
    }
    let response = result.pointer("/functionResponse/response");
    response.map_or_else(
        || content_text(result),
        |response| [text_at(response, "output"), text_at(response, "error")].join("\n"),
    )
}
