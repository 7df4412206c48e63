//! Expectations on the context: no model, no recorded answer, always looked at first.

mod check;
mod patterns;
mod seen;
mod select;
mod words;

pub use check::judge;
pub(in crate::eval) use seen::standing;
pub use seen::{Seen, rendered};
pub use words::described;
