//! Who plays a stage, and who is next when that one fails.

use super::visit::Visit;

/// Routes visits of stages to models, roles, people: whatever an organisation calls for an answer.
///
/// ```
/// use ctxc::runtime::{Router, Visit};
///
/// struct Cheapest(Vec<&'static str>);
///
/// impl Router for Cheapest {
///     type Route = &'static str;
///
///     fn route(&self, _: &Visit, failed: usize) -> Option<&'static str> {
///         self.0.get(failed).copied()
///     }
/// }
///
/// let router = Cheapest(vec!["small", "large"]);
/// assert_eq!(router.route(&Visit::first("plan"), 1), Some("large"));
/// ```
pub trait Router {
    /// Who is called.
    type Route;

    /// The route of a visit after `failed` routes gave no answer; `None` where nobody is left.
    fn route(&self, visit: &Visit, failed: usize) -> Option<Self::Route>;
}
