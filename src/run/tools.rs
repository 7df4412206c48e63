//! The tools of a run: the gate before them, who runs them, and what comes back.
//!
//! Only a call that the gate has approved is run: of a tool that the role has, and of no path that it protects. The agent is told of a refusal, and
//! the trace says it.

use crate::kernel::conversation::ToolCall;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::tools::approval::ApprovedAction;
use crate::kernel::tools::tool_policy::ToolPolicy;
use crate::kernel::tools::tool_registry::{ToolDefinition, ToolRegistry};
use crate::project::roles::Role;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// What the agent is told.
    pub text: String,
    /// Whether it failed or was refused.
    pub is_error: bool,
}

impl ToolAnswer {
    /// What a tool gave back.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// Why it gave nothing.
    pub fn refused(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}

/// The gate: the kernel's, with the tools and the protected paths of a role.
///
/// # Errors
/// The agent has no such tool, or the call names a protected path.
pub(super) fn approve(call: &ToolCall, role: Option<&Role>) -> Result<ApprovedAction<ToolCall>, Obstacle> {
    let given = role.and_then(|role| role.tools.as_ref()).map_or_else(Vec::new, |tools| tools.given());
    let policy = ToolPolicy::allowing(given.iter().map(|tool| tool.name.as_str()));
    let protected = role.into_iter().flat_map(|role| &role.protected_paths).map(|path| path.value.as_str());
    let mut gate = ToolRegistry::new(policy.protecting(protected));
    for tool in given {
        gate.register(ToolDefinition::new(&tool.name, &tool.description).taking(tool.parameters.clone()))?;
    }
    let action = gate.approve(call.clone())?;
    if call.arguments.as_str().is_some_and(|text| !text.trim().is_empty()) {
        let why = format!("`{}` was not called: its arguments are not JSON: {}", call.name, call.arguments);
        return Err(Obstacle::new(ObstacleKind::Tool, why));
    }
    match protected_path(&call.arguments, role) {
        None => Ok(action),
        Some(path) => Err(Obstacle::new(ObstacleKind::Tool, format!("`{}` is refused: {path} is a protected path", call.name))),
    }
}

/// A path that some arguments name, by the signs of a project's patterns that the kernel's have not.
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
pub trait Tools: Debug + Sync {
    /// Runs one for the agent of a role. What goes wrong is what the agent is told.
    fn call(&self, action: &ApprovedAction<ToolCall>, role: Option<&Role>) -> ToolAnswer;
}

/// No tools.
#[derive(Clone, Copy, Debug)]
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, action: &ApprovedAction<ToolCall>, _: Option<&Role>) -> ToolAnswer {
        ToolAnswer::refused(format!("nothing runs the tool `{}` here", action.action().name))
    }
}

/// Tools that give back what somebody wrote down: those of `fixtures.tools`.
impl Tools for BTreeMap<String, Value> {
    fn call(&self, action: &ApprovedAction<ToolCall>, _: Option<&Role>) -> ToolAnswer {
        match self.get(&action.action().name) {
            Some(given) => ToolAnswer::of(given.as_str().map_or_else(|| given.to_string(), str::to_owned)),
            None => NoTools.call(action, None),
        }
    }
}
