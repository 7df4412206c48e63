//! The tools of an organisation, and the only way from a tool call to an approved action.
//!
//! Holds the definitions of tools, not their implementation, which belongs to the organisation.
//!
//! The loop of calls and tool calls: each tool result becomes part of the next request.
//!
//! Independent of the source of answers and of the tools. Every call passes the gate.

use super::tool_policy::{Action, ApprovedAction, ToolPolicy, refusal};
use crate::base::suggest::nearest_candidate;
use crate::kernel::conversation::{Part, Speaker, ToolCall, ToolResult, Turn};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::{Answer, ProviderError};
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
    pub fn with_parameters(self, parameters: Value) -> Self {
        Self { parameters, ..self }
    }

    /// Sets the argument that contains a command line.
    #[must_use]
    pub fn with_command_argument(self, argument: impl Into<String>) -> Self {
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

/// Runs the loop with at most `most` calls. `ask` receives the messages since the first request:
/// tool calls and their results. A refused call, or one of an unknown tool, yields a result with
/// the reason, which the agent reads.
///
/// ```
/// use ctxc::runtime::{Answer, ApprovedAction, Part, Stop, ToolCall, ToolPolicy, ToolRegistry, ToolResult, ToolRunner, Usage, tool_loop};
///
/// struct Nothing;
///
/// impl ToolRunner for Nothing {
///     fn run(&mut self, action: &ApprovedAction<ToolCall>) -> ToolResult {
///         ToolResult::new(&action.action().id, "")
///     }
/// }
///
/// let call = ToolCall { id: "1".into(), name: "rm".into(), arguments: serde_json::json!({}) };
/// let answer = |part: Part| Answer::new(vec![part], Stop::End, Usage::default(), None);
/// let tools = ToolRegistry::new(ToolPolicy::default());
/// let last = tool_loop(&tools, &mut Nothing, 2, |turns| {
///     Ok(if turns.is_empty() { answer(Part::Call(call.clone())) } else { answer(Part::Text(turns[1].text_form().text)) })
/// })?;
/// assert_eq!(last.content(), "[error 1] there is no tool `rm`");
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
///
/// # Errors
/// No answer is available, or the last one still contains tool calls.
pub fn tool_loop(
    tools: &ToolRegistry,
    runner: &mut impl ToolRunner,
    max_rounds: u32,
    mut ask: impl FnMut(&[Turn]) -> Result<Answer, ProviderError>,
) -> Result<Answer, Obstacle> {
    let mut turns = Vec::new();
    for _ in 0..max_rounds {
        let answer = ask(&turns)?;
        let results: Vec<Part> = answer
            .tool_calls()
            .map(|call| Part::Result(tools.run(call.clone(), runner)))
            .collect();
        if results.is_empty() {
            return Ok(answer);
        }
        turns.push(answer.turn);
        turns.extend(results.into_iter().map(|result| Turn {
            speaker: Speaker::Tool,
            parts: vec![result],
        }));
    }
    let note = format!("it still called tools in answer {max_rounds}, the last that it may give");
    Err(Obstacle {
        kind: ObstacleKind::Tool,
        note,
    })
}

/// Converts a failed call of a provider.
impl From<ProviderError> for Obstacle {
    fn from(error: ProviderError) -> Self {
        let kind = if matches!(error, ProviderError::OverBudget { .. }) {
            ObstacleKind::Budget
        } else {
            ObstacleKind::Provider
        };
        Self {
            kind,
            note: error.to_string(),
        }
    }
}
