//! Expectations on the context: no model, no recorded answer, always looked at first.

mod check;
mod patterns;
mod seen;
mod select;

pub(super) use check::judge;
pub use seen::rendered;
pub(super) use seen::standing;
