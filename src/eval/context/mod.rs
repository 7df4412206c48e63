//! Expectations on the context: no model, no recorded answer, always looked at first.

mod check;
mod patterns;
mod policy;
mod rendered_context;
mod select;

pub(super) use check::judge;
pub use rendered_context::rendered;
pub(super) use rendered_context::standing;
pub(super) use select::source;
