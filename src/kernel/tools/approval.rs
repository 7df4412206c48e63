//! Proof that an action passed the gate.
//!
//! Only the gate creates one: it has no other constructor, no conversion, and cannot be
//! deserialised.

/// An action that the gate has approved. Code that runs actions accepts only this type, so that
/// none bypasses the policy.
///
/// ```
/// use ctxc::runtime::{ApprovedAction, ToolCall, ToolDefinition, ToolPolicy, ToolRegistry};
///
/// fn run(action: &ApprovedAction<ToolCall>) -> String {
///     format!("ran {}", action.action().name)
/// }
///
/// let mut tools = ToolRegistry::new(ToolPolicy::allowing(["get_*"]));
/// tools.register(ToolDefinition::new("get_metrics", "the metrics of a service"))?;
/// let call = ToolCall { id: "1".into(), name: "get_metrics".into(), arguments: serde_json::json!({}) };
/// let action = tools.approve(call)?;
/// assert_eq!(run(&action), "ran get_metrics");
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
///
/// No other code can create one:
///
/// ```compile_fail,E0423
/// use ctxc::runtime::{ApprovedAction, ToolCall};
///
/// let call = ToolCall { id: "1".into(), name: "get_metrics".into(), arguments: serde_json::json!({}) };
/// let action = ApprovedAction(call);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedAction<T>(T);

impl<T> ApprovedAction<T> {
    /// For the gate only.
    pub(super) const fn new(action: T) -> Self {
        Self(action)
    }

    /// The approved action. It cannot be changed.
    pub const fn action(&self) -> &T {
        &self.0
    }

    /// The action by value, without its approval.
    pub fn into_inner(self) -> T {
        self.0
    }
}
