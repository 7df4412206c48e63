//! Definitions of tools in the form that most providers share.

use crate::project::tools::ProjectTool;
use serde::Serialize;
use serde_json::Value;

/// A function with the field names of OpenAI.
#[derive(Debug, Serialize)]
pub(super) struct FunctionDefinition<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) description: &'a str,
    pub(super) parameters: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

impl<'a> From<&'a ProjectTool> for FunctionDefinition<'a> {
    fn from(tool: &'a ProjectTool) -> Self {
        let ProjectTool {
            name,
            description,
            parameters,
            strict,
            ..
        } = tool;
        Self {
            name,
            description,
            parameters,
            strict: *strict,
        }
    }
}

/// A function in an entry of its own.
#[derive(Debug, Serialize)]
pub(super) struct FunctionTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionDefinition<'a>,
}

/// Returns tools in the format of OpenAI's chat completions, which Ollama shares.
pub(super) fn nested_tools(tools: &[ProjectTool]) -> Vec<FunctionTool<'_>> {
    tools
        .iter()
        .map(|tool| FunctionTool {
            kind: "function",
            function: tool.into(),
        })
        .collect()
}
