//! `[tools]` as read: what a tool is called, what it is for, and which arguments it takes. Nothing here calls any.

use serde::Serialize;
use serde_json::Value;

/// The definition of a tool. Written as JSON it is what an agent is given, whatever the provider calls its fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolDefinition {
    /// Its name: letters, digits, `_` and `-`, which every provider takes.
    pub name: String,
    /// `description`; empty where nobody says what it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// `parameters`: the JSON Schema of its arguments, an object's.
    pub parameters: Value,
    /// `strict`: whether OpenAI is to hold calls to the schema; `None` where nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// `command`: what runs it, its arguments as JSON on the standard input; empty where a server or nobody does.
    #[serde(skip)]
    pub command: Vec<String>,
    /// The file that defines it, relative to the project.
    #[serde(skip)]
    pub path: String,
    /// Lines of that file before its definition.
    #[serde(skip)]
    pub line: u32,
}

impl ToolDefinition {
    /// It as JSON on one line: what is counted, hashed and sent.
    pub fn text(&self) -> String {
        // Texts and JSON values are written without error.
        serde_json::to_string(self).unwrap_or_default()
    }
}
