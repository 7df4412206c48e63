//! The tools of an organisation, and the only way from a tool call to an approved action.
//!
//! Holds the definitions of tools, not their implementation, which belongs to the organisation.

use super::approval::ApprovedAction;
use super::tool_policy::{Action, ToolPolicy, refusal};
use crate::base::suggest::nearest_candidate;
use crate::kernel::conversation::{ToolCall, ToolResult};
use crate::kernel::pipeline::outcome::Obstacle;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A tool as agents see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// The purpose of the tool.
    pub description: String,
    /// The JSON Schema of its arguments, which describes an object.
    pub parameters: Value,
    /// The argument that contains the command line, for a tool that runs programs: a list of words,
    /// or one text that a shell reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl ToolDefinition {
    /// A tool that takes no arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let parameters = json!({"type": "object", "properties": {}});
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
            command: None,
        }
    }

    /// Sets the JSON Schema of its arguments.
    #[must_use]
    pub fn taking(self, parameters: Value) -> Self {
        Self { parameters, ..self }
    }

    /// Sets the argument that contains a command line.
    #[must_use]
    pub fn running(self, argument: impl Into<String>) -> Self {
        Self {
            command: Some(argument.into()),
            ..self
        }
    }
}

/// The tools of an organisation by name, and the policy that limits their use. See
/// [`ApprovedAction`] for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRegistry {
    definitions: BTreeMap<String, ToolDefinition>,
    policy: ToolPolicy,
}

/// Runs approved calls: the tools of an organisation.
pub trait ToolRunner {
    /// Runs one call. A tool that fails reports that in its result, which the agent reads.
    fn run(&mut self, action: &ApprovedAction<ToolCall>) -> ToolResult;
}

impl ToolRegistry {
    /// A registry without tools, under a policy.
    pub const fn new(policy: ToolPolicy) -> Self {
        Self {
            definitions: BTreeMap::new(),
            policy,
        }
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// Another tool has the same name.
    pub fn register(&mut self, definition: ToolDefinition) -> Result<(), Obstacle> {
        if self.definitions.contains_key(&definition.name) {
            return Err(refusal(format!(
                "two tools are called `{}`",
                definition.name
            )));
        }
        self.definitions.insert(definition.name.clone(), definition);
        Ok(())
    }

    /// The tools by name.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.definitions.values()
    }

    /// The policy.
    pub const fn policy(&self) -> &ToolPolicy {
        &self.policy
    }

    /// The gate for tool calls.
    ///
    /// # Errors
    /// The tool does not exist, or the policy refuses the call.
    pub fn approve(&self, call: ToolCall) -> Result<ApprovedAction<ToolCall>, Obstacle> {
        let Some(definition) = self.definitions.get(&call.name) else {
            let near = nearest_candidate(&call.name, self.definitions.keys().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(refusal(format!("there is no tool `{}`{near}", call.name)));
        };
        self.policy.check_action(&DefinedCall {
            call: &call,
            definition,
        })?;
        Ok(ApprovedAction::new(call))
    }

    /// Runs a call if the gate approves it. A refusal becomes a result that the agent reads.
    pub fn run(&self, call: ToolCall, runner: &mut impl ToolRunner) -> ToolResult {
        let id = call.id.clone();
        match self.approve(call) {
            Ok(action) => runner.run(&action),
            Err(refusal) => ToolResult::failed(id, refusal.note),
        }
    }
}

/// A call with the definition of its tool.
struct DefinedCall<'c> {
    call: &'c ToolCall,
    definition: &'c ToolDefinition,
}

impl DefinedCall<'_> {
    fn command_value(&self) -> Option<&Value> {
        self.definition
            .command
            .as_ref()
            .and_then(|argument| self.call.arguments.get(argument))
    }
}

impl Action for DefinedCall<'_> {
    fn line(&self) -> String {
        let mut words = vec![self.call.name.as_str()];
        words.extend(self.command_value().into_iter().flat_map(collect_texts));
        words.join(" ")
    }

    fn is_shell(&self) -> bool {
        self.command_value().is_some_and(Value::is_string)
    }

    fn texts(&self) -> Vec<&str> {
        collect_texts(&self.call.arguments)
    }

    fn paths(&self) -> Vec<&str> {
        let arguments = self.call.arguments.as_object().into_iter().flatten();
        let others = arguments.filter(|(name, _)| Some(*name) != self.definition.command.as_ref());
        others.flat_map(|(_, value)| collect_texts(value)).collect()
    }

    fn words(&self) -> Vec<&str> {
        let texts = self.command_value().into_iter().flat_map(collect_texts);
        texts
            .flat_map(|text| text.split([' ', '\t', '\n', '=', '"', '\'']))
            .collect()
    }
}

/// Every text in a value, including the keys of objects.
fn collect_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(collect_texts).collect(),
        Value::Object(entries) => entries
            .iter()
            .flat_map(|(key, value)| [vec![key.as_str()], collect_texts(value)].concat())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
