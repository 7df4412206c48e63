//! Expectations on the answer. What only a model, a clock or a command could say is skipped, and says so.

mod check;
mod given;

pub(super) use check::judge;
pub use given::Answer;
