//! One answer: its text, the JSON in it, the tools that were called, what it took.

use crate::kernel::tokens::TokenCounter;
use crate::scenario::model::Scripted;
use serde_json::Value;
use std::borrow::Cow;

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its text as it was given.
    pub text: String,
    /// The JSON that the text is; `None` where it is none.
    pub json: Option<Value>,
    /// Names and arguments of the tools that were called, in order.
    pub tool_calls: Vec<(String, Value)>,
    /// Tokens in and out.
    pub tokens: (u64, u64),
}

impl Answer {
    /// A scripted answer. Tokens that the script does not say are counted: `context` in, the reply out.
    pub fn scripted(script: &Scripted, context: u64, counter: &dyn TokenCounter) -> Self {
        let (text, json) = match script.reply.as_str() {
            Some(text) => (text.to_owned(), serde_json::from_str(text).ok()),
            None => (script.reply.to_string(), Some(script.reply.clone())),
        };
        let tokens = script.usage.unwrap_or_else(|| (context, counter.count(&text) as u64));
        Self { text, json, tool_calls: script.tool_calls.clone(), tokens }
    }

    /// Everything that it says, for whoever rules something out: its text, and each value of its JSON and of what it gives to
    /// tools, as it is meant and not as JSON writes it.
    pub(super) fn said(&self) -> Vec<Cow<'_, str>> {
        let mut said = vec![Cow::Borrowed(self.text.as_str())];
        let mut open: Vec<&Value> = self.tool_calls.iter().rev().map(|(_, arguments)| arguments).chain(&self.json).collect();
        while let Some(value) = open.pop() {
            match value {
                Value::Array(items) => open.extend(items.iter().rev()),
                Value::Object(fields) => open.extend(fields.values().rev()),
                Value::String(text) if text.is_empty() => {}
                Value::String(text) => said.push(Cow::Borrowed(text)),
                Value::Number(_) | Value::Bool(_) => said.push(Cow::Owned(value.to_string())),
                Value::Null => {}
            }
        }
        said
    }

    /// The answer as JSON: what it is, or its words.
    pub(super) fn value(&self) -> Value {
        self.json.clone().unwrap_or_else(|| Value::String(self.text.clone()))
    }
}
