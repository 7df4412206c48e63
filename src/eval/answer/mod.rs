//! Expectations on the answer. Those that need a judge, a clock or a permission that is not there are reported as skipped.

mod check;
mod conversation;
mod estimate;
mod given;
mod json;
mod moved;
mod own_check;
mod trajectory;
mod trying;
mod wire;

pub(super) use check::schema;
use check::{judge, parts};
pub(super) use conversation::Unanswered;
use conversation::converse;
use estimate::estimate;
pub use given::{Answer, KeptAnswer, Took};
pub(super) use json::{parting, same as same_json};
use moved::moved;
pub(super) use trying::{answered, script};
use wire::{Replay, wire};

use crate::run::wire::Wire;
