//! The tools of the team: two that look, two that act. Which stage may act is a matter of policy.

use ctxc::runtime::{
    ApprovedAction, Obstacle, ToolCall, ToolDefinition, ToolPolicy, ToolRegistry, ToolResult,
    ToolRunner,
};
use serde_json::json;

/// The tools of a stage.
pub fn registry(stage: &str) -> Result<ToolRegistry, Obstacle> {
    let acts = match stage {
        "rollback" => &["trigger_rollback"][..],
        "page" => &["page_oncall"][..],
        _ => &[],
    };
    let allowed = ["get_*", "query_*"].iter().chain(acts).copied();
    // Nobody rolls back what takes money while it does.
    let mut tools = ToolRegistry::new(ToolPolicy::allowing(allowed).blocking(["payments"]));
    let text = json!({"type": "string"});
    let service =
        json!({"type": "object", "properties": {"service": text}, "required": ["service"]});
    let query = json!({"type": "object", "properties": {"service": text, "words": text}, "required": ["service", "words"]});
    let page = json!({"type": "object", "properties": {"says": text}, "required": ["says"]});
    tools.register(
        ToolDefinition::new("get_metrics", "the metrics of a service in the last hour")
            .with_parameters(service.clone()),
    )?;
    tools.register(
        ToolDefinition::new("query_logs", "lines of a service's log").with_parameters(query),
    )?;
    tools.register(
        ToolDefinition::new(
            "trigger_rollback",
            "rolls a service back to its release before",
        )
        .with_parameters(service),
    )?;
    tools.register(
        ToolDefinition::new("page_oncall", "wakes the person on call").with_parameters(page),
    )?;
    Ok(tools)
}

/// The systems that the tools reach.
pub trait Systems {
    /// Does a call.
    ///
    /// # Errors
    /// Why it could not be done.
    fn call(&self, call: &ToolCall) -> Result<String, String>;
}

/// Runs approved calls.
pub struct Console<'s>(pub &'s dyn Systems);

impl ToolRunner for Console<'_> {
    fn run(&mut self, action: &ApprovedAction<ToolCall>) -> ToolResult {
        let call = action.action();
        match self.0.call(call) {
            Ok(text) => ToolResult::new(&call.id, text),
            Err(why) => ToolResult::failed(&call.id, why),
        }
    }
}
