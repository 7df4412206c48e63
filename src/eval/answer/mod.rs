//! Expectations on the answer. What only a model, a clock or a command could say is skipped, and says so.

mod check;
mod given;
mod words;

pub use check::{Judging, judge};
pub use given::Answer;
pub use words::described;
