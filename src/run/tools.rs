//! The tools of a run: their approval, their runner, and their results.
//!
//! Runs only approved calls: of a tool that the role has, and without its protected paths. A
//! rejection is reported to the agent and written to the trace.

use crate::kernel::conversation::ToolCall;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::tools::tool_policy::{ApprovedAction, ToolPolicy};
use crate::kernel::tools::tool_registry::{ToolDefinition, ToolRegistry};
use crate::project::roles::Role;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text for the agent.
    pub text: String,
    /// True if the call failed or was rejected.
    pub is_error: bool,
}

impl ToolAnswer {
    /// Creates a successful result.
    pub fn success(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
        }
    }

    /// Creates a failed result with its reason.
    pub fn failure(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
        }
    }
}

/// Approves a call by the kernel's policy, with the tools and protected paths of a role.
///
/// # Errors
/// The agent has no such tool, or the call names a protected path.
pub(super) fn approve_call(
    call: &ToolCall,
    role: Option<&Role>,
) -> Result<ApprovedAction<ToolCall>, Obstacle> {
    let tools = role
        .and_then(|role| role.tools.as_ref())
        .map_or_else(Vec::new, |tools| tools.agent_definitions());
    let policy = ToolPolicy::allowing(tools.iter().map(|tool| tool.name.as_str()));
    let protected = role
        .into_iter()
        .flat_map(|role| &role.protected_paths)
        .map(|path| path.value.as_str());
    let mut gate = ToolRegistry::new(policy.protecting(protected));
    for tool in tools {
        gate.register(
            ToolDefinition::new(&tool.name, &tool.description)
                .with_parameters(tool.parameters.clone()),
        )?;
    }
    let action = gate.approve(call.clone())?;
    if call
        .arguments
        .as_str()
        .is_some_and(|text| !text.trim().is_empty())
    {
        let why = format!(
            "`{}` was not called: its arguments are not JSON: {}",
            call.name, call.arguments
        );
        return Err(Obstacle::new(ObstacleKind::Tool, why));
    }
    match protected_path(&call.arguments, role) {
        None => Ok(action),
        Some(path) => Err(Obstacle::new(
            ObstacleKind::Tool,
            format!("`{}` is refused: {path} is a protected path", call.name),
        )),
    }
}

/// Returns a protected path in the arguments, by the project's patterns, which the kernel does not
/// support.
fn protected_path(arguments: &Value, role: Option<&Role>) -> Option<String> {
    let role = role.filter(|role| !role.protected_paths.is_empty())?;
    let mut open = vec![arguments];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                let path = text.trim_start_matches("./").replace('\\', "/");
                if role.protected.matches(&path) {
                    return Some(path);
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    None
}

/// Runs tools.
pub trait ToolBackend: Debug + Sync {
    /// Calls a tool for an agent of a role. Errors become the result.
    fn call(&self, action: &ApprovedAction<ToolCall>, role: Option<&Role>) -> ToolAnswer;
}

/// No tools: every call fails.
#[derive(Clone, Copy, Debug)]
pub struct NoTools;

impl ToolBackend for NoTools {
    fn call(&self, action: &ApprovedAction<ToolCall>, _: Option<&Role>) -> ToolAnswer {
        ToolAnswer::failure(format!(
            "nothing runs the tool `{}` here",
            action.action().name
        ))
    }
}

/// Tools with fixed results: the ones in `fixtures.tools`.
impl ToolBackend for BTreeMap<String, Value> {
    fn call(&self, action: &ApprovedAction<ToolCall>, _: Option<&Role>) -> ToolAnswer {
        match self.get(&action.action().name) {
            Some(text) => ToolAnswer::success(
                text.as_str()
                    .map_or_else(|| text.to_string(), str::to_owned),
            ),
            None => NoTools.call(action, None),
        }
    }
}
