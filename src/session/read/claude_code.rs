//! Sessions of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of its
//! sub-agents beside it in `<session>/subagents/`.
//!
//! The format is not documented. Read off files of 2.1.38 and 2.1.39 (marot/spotter@8cc42b0, 2026-02),
//! and from the fields of later versions in meawoppl/rust-code-agent-sdks#188 and
//! Ruya-AI/cozempic#59 (2.1.205 and later), looked up 2026-11-28.

use super::content::{
    RowReader, begins_with, joined_text, own_text, read_usage, text_at, vendor_message,
};
use crate::kernel::conversation::{Speaker, Turn};
use crate::request::dialect::Dialect;
use crate::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, Reload, RequestFacts, RowKind, SessionEvent,
    SessionMessage, all_text, part_text,
};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

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
const PROGRAM_TEXTS: [&str; 9] = [
    "<command-name>",
    "<command-message>",
    "<local-command",
    "<task-notification>",
    "<system-reminder>",
    "<bash-",
    "[Request interrupted",
    "Caveat: ",
    "Your task is to create a detailed summary of the conversation",
];

/// The keys of uncached tokens, of those read from the cache and of those written to it.
const USAGE_KEYS: [&str; 3] = [
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
];
/// The model of messages that the program wrote in place of an answer, such as errors.
const NO_MODEL: &str = "<synthetic>";

/// Reads the rows of a session.
#[derive(Debug, Default)]
pub(super) struct ClaudeCodeReader {
    /// The number of the next message.
    count: usize,
    /// The place behind each row, by its id.
    ends: HashMap<String, RowEnd>,
    /// The number of compactions that hold.
    compactions: usize,
    /// The numbers of messages with results, by the ids of their calls.
    results: HashMap<String, usize>,
    /// The number of the last message that the user wrote.
    last_prompt: Option<usize>,
    /// The id of the model's last answer.
    answer: String,
    /// True for the session of a sub-agent.
    is_sub_agent: Option<bool>,
    /// A compaction whose summary has not come yet.
    pending: Option<PendingCompaction>,
}

/// The place behind a row.
#[derive(Clone, Copy, Debug)]
struct RowEnd {
    /// The number of the next message.
    number: usize,
    /// The number of compactions that hold there.
    compactions: usize,
}

#[derive(Debug)]
struct PendingCompaction {
    point: CompactionPoint,
    /// The number of the first message behind it.
    first: usize,
}

impl RowReader for ClaudeCodeReader {
    fn read_row(&mut self, mut row: Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind {
        let message = row.get_mut("message").map(Value::take);
        let kind = text_at(&row, "type");
        match (kind, text_at(&row, "subtype")) {
            ("user" | "assistant", _) => {
                if let Some(message) = message {
                    self.read_message(&row, message, line, events);
                }
            }
            ("system", "compact_boundary") => {
                self.end_pending(events);
                let point = self.read_boundary(&row, line);
                self.keep_rows(&point.retained);
                self.pending = Some(PendingCompaction {
                    point,
                    first: self.count,
                });
            }
            ("system", "microcompact_boundary") => {
                let cleared = self.read_cleared(&row, line);
                self.compactions += 1;
                events.push(SessionEvent::Compaction(Box::new(cleared)));
            }
            ("system", _) => {}
            ("attachment", _) => events.extend(read_attachment(&row).map(SessionEvent::Reload)),
            (other, _) if OTHER_ROWS.contains(&other) => {}
            (other, _) => return RowKind::Unknown(other.to_owned()),
        }
        if let Some(id) = own_text(&row, "uuid") {
            let end = RowEnd {
                number: self.count,
                compactions: self.compactions + usize::from(self.pending.is_some()),
            };
            self.ends.insert(id, end);
        }
        RowKind::Known
    }

    fn end_rows(&mut self, events: &mut Vec<SessionEvent>) {
        self.end_pending(events);
    }
}

impl ClaudeCodeReader {
    /// Ends the session. A compaction without a summary cannot be judged by one.
    fn end_pending(&mut self, events: &mut Vec<SessionEvent>) {
        if let Some(mut pending) = self.pending.take() {
            pending.point.kind = CompactionKind::Opaque;
            events.push(self.compaction(pending));
        }
    }

    /// Returns a compaction. Messages behind its boundary stay.
    fn compaction(&mut self, pending: PendingCompaction) -> SessionEvent {
        let PendingCompaction { mut point, first } = pending;
        self.compactions += 1;
        point.retained.extend(first..self.count);
        SessionEvent::Compaction(Box::new(point))
    }

    fn read_message(
        &mut self,
        row: &Value,
        message: Value,
        line: usize,
        events: &mut Vec<SessionEvent>,
    ) {
        let is_sidechain = row.get("isSidechain").and_then(Value::as_bool) == Some(true);
        // Old versions wrote sub-agents into the session that called them.
        if is_sidechain != *self.is_sub_agent.get_or_insert(is_sidechain) {
            return;
        }
        events.extend(own_text(row, "cwd").map(SessionEvent::Folder));
        let request = RequestFacts {
            model: own_text(&message, "model"),
            at: own_text(row, "timestamp"),
            tokens: read_usage(&message, USAGE_KEYS),
        };
        let id = text_at(&message, "id").to_owned();
        let Some(turn) = vendor_message(Dialect::Anthropic, message) else {
            return;
        };
        let flag = |key: &str| row.get(key).and_then(Value::as_bool) == Some(true);
        if flag("isCompactSummary") {
            let mut pending = self.pending.take().unwrap_or_else(|| PendingCompaction {
                point: CompactionPoint::new(CompactionKind::Summary, line),
                first: self.count,
            });
            let point = &mut pending.point;
            point.at = point.at.take().or_else(|| own_text(row, "timestamp"));
            point.summary = joined_text(&turn);
            events.push(self.compaction(pending));
            return;
        }
        let is_prompt = text_at(row, "type") == "user" && turn.results().next().is_none();
        let is_program = flag("isMeta") || is_prompt && is_program_text(&turn);
        if is_prompt && !is_program {
            self.note_prompt(text_at(row, "parentUuid"), events);
        }
        // Results may stand between the rows of an answer.
        let is_answer =
            turn.speaker == Speaker::Assistant && request.model.as_deref() != Some(NO_MODEL);
        let starts_answer = is_answer && (id.is_empty() || id != self.answer);
        if is_answer {
            self.answer = id;
        }
        for result in turn.results() {
            self.results.insert(result.call.clone(), self.count);
        }
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
        if is_answer {
            events.push(SessionEvent::Request(request));
        }
    }

    /// Notes a text of the user. If its parent is before an earlier one, the user went back; if it
    /// is before a compaction, behind that.
    fn note_prompt(&mut self, parent: &str, events: &mut Vec<SessionEvent>) {
        if let Some(end) = self.ends.get(parent).copied() {
            let pending = usize::from(self.pending.is_some());
            let is_undone = end.compactions < self.compactions + pending;
            if is_undone {
                self.end_pending(events);
                let undone = end.compactions..self.compactions;
                events.extend(undone.map(|_| SessionEvent::UndoCompaction));
                self.compactions = end.compactions;
            }
            if is_undone || self.last_prompt.is_some_and(|last| last >= end.number) {
                events.push(SessionEvent::Rewind(end.number));
            }
        }
        self.last_prompt = Some(self.count);
    }

    /// Notes that messages are behind the next compaction, too.
    fn keep_rows(&mut self, retained: &[usize]) {
        if retained.is_empty() {
            return;
        }
        let compactions = self.compactions + 1;
        let is_retained = |end: &&mut RowEnd| {
            let number = end.number.checked_sub(1);
            number.is_some_and(|number| retained.binary_search(&number).is_ok())
        };
        let ends = self.ends.values_mut().filter(is_retained);
        ends.for_each(|end| end.compactions = compactions);
    }

    fn read_boundary(&self, row: &Value, line: usize) -> CompactionPoint {
        let metadata = row.get("compactMetadata").unwrap_or(&Value::Null);
        let count = |key: &str| metadata.get(key).and_then(Value::as_u64);
        let number = |id: &Value| self.ends.get(id.as_str()?)?.number.checked_sub(1);
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
        retained.dedup();
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
        let cleared: BTreeSet<usize> = ids
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
    turn.parts
        .iter()
        .all(|part| begins_with(part_text(part).unwrap_or_default(), &PROGRAM_TEXTS))
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
        | "todo" => all_text(own),
        _ => return None,
    };
    Some(Reload { path, text })
}
