//! Expectations on the answer. Those that need a judge, a clock or a permission that is not there are reported as skipped.

mod check;
mod conversation;
mod estimate;
mod given;
mod json;
mod judging;
mod moved;
mod own_check;
mod trajectory;
mod trying;
mod wire;

use check::{judge, parts};
pub(super) use check::{parts_at, schema};
pub(super) use conversation::Unanswered;
use conversation::converse;
use estimate::estimate;
pub use given::{Answer, KeptAnswer, Took};
pub(super) use json::{parting, same as same_json};
pub(super) use judging::Judging;
pub(super) use moved::moved;
pub(super) use trying::{SCRIPT, answer_of, answered, one, rejudged, script};
use wire::{Replay, wire};

use crate::run::wire::Wire;
