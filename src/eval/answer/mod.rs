//! Expectations on the answer. Those that need a model, a clock or a command are reported as skipped.

mod check;
mod given;

pub(super) use check::{judge, parting, same as same_json, schema};
pub use given::Answer;
