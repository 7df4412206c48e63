//! Expectations on the answer. Those that need a model, a clock or a command are reported as skipped.

mod check;
mod conversation;
mod given;
mod moved;
mod wire;

pub(super) use check::{judge, parting, parts, same as same_json, schema};
pub(super) use conversation::{Unanswered, converse};
pub use given::{Answer, Took};
pub(super) use moved::moved;
pub(super) use wire::{Replay, Wire};
