//! `[tools]` as read: the name, description and parameters of each tool. Never calls a tool.

use serde::Serialize;
use serde_json::Value;

/// The definition of a tool. Its JSON form is passed to an agent, regardless of the provider's
/// names for the fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProjectTool {
    /// Its name: letters, digits, `_` and `-`, accepted by every provider.
    pub name: String,
    /// `description`; empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// `parameters`: the JSON Schema of its arguments, of type `object`.
    pub parameters: Value,
    /// `strict`: true if OpenAI must enforce the schema; `None` if not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// `command`: the command that runs it, with its arguments as JSON on standard input; empty if
    /// a server runs it, or nothing does.
    #[serde(skip)]
    pub command: Vec<String>,
    /// The file that defines it, relative to the project.
    #[serde(skip)]
    pub path: String,
    /// The number of lines in that file before its definition.
    #[serde(skip)]
    pub line: u32,
}

impl ProjectTool {
    /// The definition as JSON on one line: the form that is counted, hashed and sent.
    pub fn to_json(&self) -> String {
        // Texts and JSON values serialise without errors.
        serde_json::to_string(self).unwrap_or_default()
    }
}
