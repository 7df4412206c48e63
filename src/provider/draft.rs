//! An answer that grows with each event of its stream. A whole response is a stream of one event.

use crate::kernel::conversation::{Part, Reasoning, ToolCall};
use crate::kernel::provider::{Answer, Stop, Usage};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An incomplete answer. Parts are numbered as their vendor numbers them.
#[derive(Debug, Default)]
pub(super) struct AnswerDraft {
    parts: BTreeMap<u64, Part>,
    /// The reason of its end; `None` while it continues.
    pub(super) stop: Option<Stop>,
    /// True if it is certain to continue.
    pub(super) is_open: bool,
    /// True if the model refuses.
    pub(super) is_refused: bool,
    usage: Usage,
    model: Option<String>,
}

impl AnswerDraft {
    /// Appends to a text.
    pub(super) fn push_text(&mut self, at: u64, more: &str) {
        if let Part::Text(text) = self
            .parts
            .entry(at)
            .or_insert_with(|| Part::Text(String::new()))
        {
            text.push_str(more);
        }
    }

    /// Appends to the model's reasoning.
    pub(super) fn push_reasoning(&mut self, at: u64, more: &str) {
        if let Some(reasoning) = self.reasoning_mut(at) {
            reasoning.text.push_str(more);
        }
    }

    /// Returns the model's reasoning; `None` if another part has this number.
    pub(super) fn reasoning_mut(&mut self, at: u64) -> Option<&mut Reasoning> {
        match self
            .parts
            .entry(at)
            .or_insert_with(|| Part::Reasoning(Reasoning::default()))
        {
            Part::Reasoning(reasoning) => Some(reasoning),
            Part::Text(_) | Part::Call(_) | Part::Result(_) | Part::Media(_) => None,
        }
    }

    /// Adds to a tool call: its id and name if they are given, and a piece of its arguments, as
    /// JSON text or as an object.
    pub(super) fn push_call(
        &mut self,
        at: u64,
        id: Option<&str>,
        name: Option<&str>,
        arguments: Option<&Value>,
    ) {
        let empty = || ToolCall {
            id: String::new(),
            name: String::new(),
            arguments: Value::from(""),
        };
        let Part::Call(call) = self.parts.entry(at).or_insert_with(|| Part::Call(empty())) else {
            return;
        };
        for (current, new) in [(&mut call.id, id), (&mut call.name, name)] {
            if let Some(new) = new.filter(|new| !new.is_empty()) {
                new.clone_into(current);
            }
        }
        match (&mut call.arguments, arguments) {
            (_, None | Some(Value::Null)) => {}
            (Value::String(own), Some(Value::String(more))) => own.push_str(more),
            (own, Some(whole)) => *own = whole.clone(),
        }
    }

    /// Returns the number after the last part, for vendors without numbers.
    pub(super) fn next_number(&self) -> u64 {
        self.parts.last_key_value().map_or(0, |(at, _)| at + 1)
    }

    /// Returns the number of the last part if it is of the same kind, otherwise the next: a stream
    /// continues the part that it began.
    pub(super) fn continued_number(&self, is_same: fn(&Part) -> bool) -> u64 {
        self.parts
            .last_key_value()
            .filter(|(_, part)| is_same(part))
            .map_or_else(|| self.next_number(), |(at, _)| *at)
    }

    /// Removes the parts, before those of the whole answer are added.
    pub(super) fn clear_parts(&mut self) {
        self.parts.clear();
    }

    /// Returns true if it contains tool calls.
    pub(super) fn has_calls(&self) -> bool {
        self.parts
            .values()
            .any(|part| matches!(part, Part::Call(_)))
    }

    /// Updates the given counts and keeps the others.
    pub(super) fn update_usage(&mut self, usage: Usage) {
        self.usage = Usage {
            input: usage.input.or(self.usage.input),
            cached: usage.cached.or(self.usage.cached),
            output: usage.output.or(self.usage.output),
            reasoning: usage.reasoning.or(self.usage.reasoning),
        };
    }

    /// Sets the model that answers.
    pub(super) fn set_model(&mut self, name: Option<&str>) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            self.model = Some(name.to_owned());
        }
    }

    /// Returns the answer as it is now.
    pub(super) fn finish(self) -> Answer {
        let mut parts: Vec<Part> = Vec::new();
        let mut calls = 0;
        for part in self.parts.into_values() {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Reasoning(reasoning) if reasoning == Reasoning::default() => {}
                Part::Call(mut call) => {
                    calls += 1;
                    if call.id.is_empty() {
                        call.id = format!("call_{calls}");
                    }
                    if let Value::String(text) = &call.arguments {
                        call.arguments = parse_arguments(text);
                    }
                    parts.push(Part::Call(call));
                }
                Part::Text(_) | Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => {
                    parts.push(part);
                }
            }
        }
        let stop = if self.is_refused {
            Stop::Filter
        } else {
            self.stop.unwrap_or(Stop::Other)
        };
        Answer::new(parts, stop, self.usage, self.model)
    }
}

/// Parses arguments in the form of JSON text. Invalid JSON stays a text.
fn parse_arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Map::new().into();
    }
    serde_json::from_str::<Map<String, Value>>(text).map_or_else(|_| text.into(), Value::Object)
}
