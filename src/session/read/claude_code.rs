//! Sessions of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of its
//! sub-agents beside it in `<session>/subagents/`.
//!
//! The format is not documented. Read off files of 2.1.38 and 2.1.39 (marot/spotter@8cc42b0, 2026-02),
//! and from the fields of later versions in meawoppl/rust-code-agent-sdks#188 and
//! Ruya-AI/cozempic#59 (2.1.205 and later), looked up 2026-11-28.

use super::content::{joined_text, own_text, text_at, vendor_messages};
use crate::kernel::conversation::Turn;
use crate::request::dialect::Dialect;
use crate::session::session_event::part_text;
use crate::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, Reload, RowKind, SessionEvent, SessionMessage,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Kinds of rows that are not part of the conversation.
const OTHER_ROWS: [&str; 17] = [
    "progress",
    "file-history-snapshot",
    "queue-operation",
    "summary",
    "last-prompt",
    "mode",
    "permission-mode",
    "ai-title",
    "custom-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "pr-link",
    "worktree-state",
    "file-history-delta",
    "task-summary",
];

/// Beginnings of texts that the program inserts as texts of the user.
const PROGRAM_TEXTS: [&str; 8] = [
    "<command-name>",
    "<command-message>",
    "<local-command",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
];

/// Reads the rows of a session.
#[derive(Debug, Default)]
pub(super) struct ClaudeCodeReader {
    /// The number of the next message.
    count: usize,
    /// The numbers of messages by the ids of their rows.
    numbers: HashMap<String, usize>,
    /// The numbers of messages with results, by the ids of their calls.
    results: HashMap<String, usize>,
    /// The number of the last message that the user wrote.
    last_prompt: Option<usize>,
    /// The id of the model's last answer.
    answer: String,
    /// True for the session of a sub-agent.
    is_sub_agent: Option<bool>,
    /// A compaction whose summary has not come yet.
    pending: Option<CompactionPoint>,
}

impl ClaudeCodeReader {
    /// Reads a row.
    pub(super) fn read_row(
        &mut self,
        row: &Value,
        line: usize,
        events: &mut Vec<SessionEvent>,
    ) -> RowKind {
        let kind = text_at(row, "type");
        match (kind, text_at(row, "subtype")) {
            ("user" | "assistant", _) => self.read_message(row, line, events),
            ("system", "compact_boundary") => {
                self.end_pending(events);
                self.pending = Some(self.read_boundary(row, line));
            }
            ("system", "microcompact_boundary") => {
                let cleared = self.read_cleared(row, line);
                events.push(SessionEvent::Compaction(Box::new(cleared)));
            }
            ("system", _) => {}
            ("attachment", _) => events.extend(read_attachment(row).map(SessionEvent::Reload)),
            (other, _) if OTHER_ROWS.contains(&other) => {}
            (other, _) => return RowKind::Unknown(other.to_owned()),
        }
        RowKind::Known
    }

    /// Ends the session. A compaction without a summary cannot be judged by one.
    pub(super) fn end_pending(&mut self, events: &mut Vec<SessionEvent>) {
        if let Some(mut point) = self.pending.take() {
            point.kind = CompactionKind::Opaque;
            events.push(SessionEvent::Compaction(Box::new(point)));
        }
    }

    fn read_message(&mut self, row: &Value, line: usize, events: &mut Vec<SessionEvent>) {
        let is_sidechain = row.get("isSidechain").and_then(Value::as_bool) == Some(true);
        // Old versions wrote sub-agents into the session that called them.
        if is_sidechain != *self.is_sub_agent.get_or_insert(is_sidechain) {
            return;
        }
        events.extend(own_text(row, "cwd").map(SessionEvent::Folder));
        let Some(message) = row.get("message") else {
            return;
        };
        let Some(turn) = vendor_messages(Dialect::Anthropic, &json!([message])).pop() else {
            return;
        };
        let flag = |key: &str| row.get(key).and_then(Value::as_bool) == Some(true);
        if flag("isCompactSummary") {
            let mut point = self
                .pending
                .take()
                .unwrap_or_else(|| CompactionPoint::new(CompactionKind::Summary, line));
            point.at = point.at.or_else(|| own_text(row, "timestamp"));
            point.summary = joined_text(&turn);
            events.push(SessionEvent::Compaction(Box::new(point)));
            return;
        }
        self.end_pending(events);
        if let Some(usage) = message.get("usage") {
            let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
            let tokens = count("input_tokens")
                + count("cache_read_input_tokens")
                + count("cache_creation_input_tokens");
            events.extend((tokens > 0).then_some(SessionEvent::RequestTokens(tokens)));
        }
        let is_prompt = text_at(row, "type") == "user" && turn.results().next().is_none();
        let is_program = flag("isMeta") || is_prompt && is_program_text(&turn);
        if is_prompt && !is_program {
            self.note_prompt(text_at(row, "parentUuid"), events);
        }
        let id = text_at(message, "id");
        let starts_answer = id.is_empty() || id != self.answer;
        id.clone_into(&mut self.answer);
        for result in turn.results() {
            self.results.insert(result.call.clone(), self.count);
        }
        self.numbers
            .insert(text_at(row, "uuid").to_owned(), self.count);
        self.count += 1;
        events.push(SessionEvent::Message(SessionMessage {
            turn,
            origin: if is_program {
                MessageOrigin::Program
            } else {
                MessageOrigin::Conversation
            },
            line,
            starts_answer,
        }));
    }

    /// Notes a text of the user. If its parent is a message before an earlier one of the user, the
    /// user went back.
    fn note_prompt(&mut self, parent: &str, events: &mut Vec<SessionEvent>) {
        if let Some(parent) = self.numbers.get(parent)
            && self.last_prompt.is_some_and(|last| last > *parent)
        {
            events.push(SessionEvent::Rewind(parent + 1));
        }
        self.last_prompt = Some(self.count);
    }

    fn read_boundary(&self, row: &Value, line: usize) -> CompactionPoint {
        let metadata = row.get("compactMetadata").unwrap_or(&Value::Null);
        let count = |key: &str| metadata.get(key).and_then(Value::as_u64);
        let number = |id: &Value| self.numbers.get(id.as_str()?).copied();
        let segment = |key: &str| number(metadata.get("preservedSegment")?.get(key)?);
        let messages = metadata.get("preservedMessages");
        let uuids = messages
            .and_then(|messages| messages.get("allUuids").or_else(|| messages.get("uuids")))
            .and_then(Value::as_array);
        let mut retained: Vec<usize> = match (uuids, segment("headUuid"), segment("tailUuid")) {
            (Some(ids), ..) => ids.iter().filter_map(number).collect(),
            (None, Some(head), Some(tail)) => (head..=tail).collect(),
            _ => Vec::new(),
        };
        retained.sort_unstable();
        CompactionPoint {
            at: own_text(row, "timestamp"),
            trigger: own_text(metadata, "trigger"),
            tokens_before: count("preTokens"),
            tokens_after: count("postTokens"),
            retained,
            ..CompactionPoint::new(CompactionKind::Summary, line)
        }
    }

    /// Reads a clearing of results: every other message stays.
    fn read_cleared(&self, row: &Value, line: usize) -> CompactionPoint {
        let metadata = row.get("microcompactMetadata").unwrap_or(&Value::Null);
        let ids = metadata.get("compactedToolIds").and_then(Value::as_array);
        let cleared: Vec<usize> = ids
            .into_iter()
            .flatten()
            .filter_map(|id| self.results.get(id.as_str()?).copied())
            .collect();
        let count = |key: &str| metadata.get(key).and_then(Value::as_u64);
        let tokens_before = count("preTokens");
        CompactionPoint {
            at: own_text(row, "timestamp"),
            trigger: own_text(metadata, "trigger"),
            tokens_before,
            tokens_after: tokens_before
                .zip(count("tokensSaved"))
                .map(|(before, saved)| before.saturating_sub(saved)),
            retained: (0..self.count)
                .filter(|number| !cleared.contains(number))
                .collect(),
            ..CompactionPoint::new(CompactionKind::ClearedResults, line)
        }
    }
}

/// Returns true if the agent's program wrote a text of the user.
fn is_program_text(turn: &Turn) -> bool {
    turn.parts.iter().all(|part| {
        let text = part_text(part).unwrap_or_default().trim_start();
        PROGRAM_TEXTS.iter().any(|start| text.starts_with(start))
    })
}

/// Reads a file, a plan, memory, skills or tasks that the program loads by itself.
fn read_attachment(row: &Value) -> Option<Reload> {
    let own = row.get("attachment")?;
    let path = ["filename", "planFilePath", "path"]
        .iter()
        .find_map(|key| own_text(own, key));
    let text = match text_at(own, "type") {
        "file" | "compact_file_reference" | "edited_text_file" => String::new(),
        "plan_file_reference"
        | "invoked_skills"
        | "nested_memory"
        | "todo_reminder"
        | "task_reminder"
        | "instructions"
        | "todo" => own.to_string(),
        _ => return None,
    };
    Some(Reload { path, text })
}
