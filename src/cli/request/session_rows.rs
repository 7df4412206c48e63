//! The rows of a session that the parts of a request come from.

use crate::kernel::conversation::{Part, Speaker};
use crate::request::model::ModelRequest;
use crate::session::calls::SessionCall;
use std::collections::{HashMap, VecDeque};

/// The rows of the parts of a request.
#[derive(Debug)]
pub(super) struct SessionRows {
    /// The file, masked.
    file: String,
    /// The rows of parts of a kind, in order.
    rows: HashMap<PartKey, VecDeque<SessionRow>>,
}

/// The kind of a part, by which a request and its session are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum PartKey {
    Text(Speaker),
    Call(String),
    Result(String),
}

/// The place of a part in its session.
#[derive(Clone, Debug)]
struct SessionRow {
    line: usize,
    /// The tool that was called; empty for texts.
    tool: String,
}

fn part_key(part: &Part, speaker: Speaker) -> Option<PartKey> {
    match part {
        Part::Text(_) => Some(PartKey::Text(speaker)),
        Part::Call(call) => Some(PartKey::Call(call.id.clone())),
        Part::Result(result) => Some(PartKey::Result(result.call.clone())),
        Part::Reasoning(_) | Part::Media(_) => None,
    }
}

impl SessionRows {
    /// Returns the rows of a call's messages.
    pub(super) fn new(file: String, call: &SessionCall<'_>) -> Self {
        let mut tools: HashMap<&str, &str> = HashMap::new();
        let mut rows: HashMap<PartKey, VecDeque<SessionRow>> = HashMap::new();
        for message in call.messages {
            for part in &message.turn.parts {
                let tool = match part {
                    Part::Call(call) => {
                        tools.insert(&call.id, &call.name);
                        Some(call.name.as_str())
                    }
                    Part::Result(result) => tools.get(result.call.as_str()).copied(),
                    Part::Text(_) | Part::Reasoning(_) | Part::Media(_) => None,
                };
                if let Some(key) = part_key(part, message.turn.speaker) {
                    rows.entry(key).or_default().push_back(SessionRow {
                        line: message.line,
                        tool: tool.unwrap_or_default().to_owned(),
                    });
                }
            }
        }
        Self { file, rows }
    }

    /// Returns the places of the parts of the request, by their pointers. Texts have none if the
    /// vendor's form joins or divides them.
    pub(super) fn places(&self, request: &ModelRequest) -> Vec<(String, String)> {
        let keys = |request: &ModelRequest| {
            let parts = request.message_parts().filter_map(|(message, placed)| {
                let key = part_key(placed.part.as_ref()?, message.speaker)?;
                Some((placed.pointer.clone(), key))
            });
            parts.collect::<Vec<_>>()
        };
        let parts = keys(request);
        let mut counts: HashMap<&PartKey, usize> = HashMap::new();
        for (_, key) in &parts {
            *counts.entry(key).or_default() += 1;
        }
        let mut rows = self.rows.clone();
        rows.retain(|key, rows| counts.get(key) == Some(&rows.len()));
        let place = |(pointer, key): &(String, PartKey)| {
            let SessionRow { line, tool } = rows.get_mut(key)?.pop_front()?;
            let what = match key {
                PartKey::Text(speaker) => format!("a text of the {}", speaker.word()),
                PartKey::Call(_) => format!("a call of {tool}"),
                PartKey::Result(_) => format!("a result of {tool}"),
            };
            Some((
                pointer.clone(),
                format!("in line {line} of {}: {what}", self.file),
            ))
        };
        parts.iter().filter_map(place).collect()
    }
}
