//! Expectations on the answer. Those that need a model, a clock or a command are reported as skipped.

mod check;
mod conversation;
mod estimate;
mod given;
mod moved;
mod trying;
mod wire;

use check::{judge, parts};
pub(super) use check::{parting, same as same_json, schema};
pub(super) use conversation::Unanswered;
use conversation::converse;
use estimate::estimate;
pub use given::{Answer, Took};
use moved::moved;
pub(super) use trying::{answered, script};
use wire::{Replay, Wire};
