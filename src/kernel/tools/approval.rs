//! Proof that an action passed the gate.
//!
//! Only the gate makes one: there is no other constructor, no conversion and no way to read one.

/// An action that the gate has approved. What runs actions takes these and nothing else, so that none gets around the policy.
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
/// Nobody else can make one:
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
    /// For the gate alone.
    pub(super) const fn new(action: T) -> Self {
        Self(action)
    }

    /// What was approved. It cannot be changed.
    pub const fn action(&self) -> &T {
        &self.0
    }

    /// What was approved, by value: it is approved no longer.
    pub fn into_inner(self) -> T {
        self.0
    }
}
