//! The choice of the model, role or person that runs a stage, and of the next one if that fails.

use super::visit::Visit;

/// Routes visits of stages to models, roles or people.
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
    /// The destination: a model, a role, a person.
    type Route;

    /// The route of a visit after `failed` routes gave no answer; `None` if no further route
    /// exists.
    fn route(&self, visit: &Visit, failed: usize) -> Option<Self::Route>;
}
