//! The tools of a run: who runs them, and what comes back.
//!
//! A tool that an agent was not given is not run, whoever has it: the agent is told so, and the trace says it.

use crate::kernel::conversation::ToolCall;
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

/// Runs tools.
pub trait Tools: Debug + Sync {
    /// Runs one for the agent of a role. What goes wrong is what the agent is told.
    fn call(&self, call: &ToolCall, role: Option<&Role>) -> ToolAnswer;
}

/// No tools.
#[derive(Clone, Copy, Debug)]
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, call: &ToolCall, _: Option<&Role>) -> ToolAnswer {
        ToolAnswer::refused(format!("there is no tool `{}` in this run", call.name))
    }
}

/// Tools that give back what somebody wrote down: those of `fixtures.tools`.
impl Tools for BTreeMap<String, Value> {
    fn call(&self, call: &ToolCall, _: Option<&Role>) -> ToolAnswer {
        match self.get(&call.name) {
            Some(given) => ToolAnswer::of(given.as_str().map_or_else(|| given.to_string(), str::to_owned)),
            None => NoTools.call(call, None),
        }
    }
}
