//! Answers and systems that were written beforehand: the team works offline.

use crate::tools::Systems;
use ctxc::Message;
use ctxc::runtime::{Answer, Part, ProviderError, Stop, ToolCall, Turn, Usage, Visit};
use serde_json::{Value, json};
use std::cell::RefCell;

/// Systems that note what they are asked.
#[derive(Debug, Default)]
pub struct Recorder(pub RefCell<Vec<String>>);

impl Systems for Recorder {
    fn call(&self, call: &ToolCall) -> Result<String, String> {
        self.0
            .borrow_mut()
            .push(format!("{} {}", call.name, call.arguments));
        match call.name.as_str() {
            "get_metrics" => Ok("12 % of requests fail since 09:40".to_owned()),
            "query_logs" => Ok("09:40 release 81".to_owned()),
            _ => Ok("done".to_owned()),
        }
    }
}

/// One script for every alert.
pub fn answer(
    visit: &Visit,
    messages: &[Message],
    turns: &[Turn],
) -> Result<Answer, ProviderError> {
    let told: String = messages.iter().map(|message| message.as_str()).collect();
    let call = |name: &str, arguments: Value| {
        Part::Call(ToolCall {
            id: format!("{}-{}", visit.stage, visit.number),
            name: name.to_owned(),
            arguments,
        })
    };
    let found = |words: &str, notes: &str| {
        Part::Text(json!({"status": "COMPLETE", "content": words, "notes": notes}).to_string())
    };
    let says = |words: &str| Part::Text(words.to_owned());
    let part = match (visit.stage.as_str(), visit.number, turns.len()) {
        ("triage", ..) if told.contains("old host") => {
            says("the runbook is wrong: it names an old host")
        }
        ("triage", ..) if told.contains("release 81") => {
            says("roll back: it began with the release")
        }
        ("triage", ..) => says("investigate"),
        ("investigate", 1, 0) => call("get_metrics", json!({"service": "checkout"})),
        ("investigate", 1, _) => found("errors", "12 % fail since 09:40"),
        ("investigate", 2, 0) => call(
            "query_logs",
            json!({"service": "checkout", "words": "release"}),
        ),
        // What it found before is told again.
        ("investigate", 2, _) if told.contains("12 % fail since 09:40") => {
            says("roll back: release 81")
        }
        ("rollback", _, 0) => call("trigger_rollback", json!({"service": "checkout"})),
        ("verify", ..) if told.contains("disk") => says("not better"),
        ("page", _, 0) => call("page_oncall", json!({"says": "It needs you."})),
        _ => says("done"),
    };
    Ok(Answer::new(vec![part], Stop::End, Usage::default(), None))
}
