//! Expectations on answers. Those that need an unavailable judge, clock or permission are reported
//! as skipped.

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
mod whole_run;
mod whole_task;
mod wire;

use check::{judge, parts};
pub(super) use check::{parts_at, schema};
pub(super) use conversation::Unanswered;
use conversation::converse;
use estimate::estimate;
pub use given::{Answer, KeptAnswer, RunStage, Took, WholeRun};
pub(super) use json::{parting, same as same_json};
pub(super) use judging::Judging;
pub(super) use moved::moved;
pub(super) use trying::{SCRIPT, answer_of, one, rejudged, script};
pub(super) use whole_run::not_asked;
pub(super) use whole_task::answered;
use wire::{Replay, wire};

use crate::run::wire::Wire;

/// The reason why no model can be called for an agent, with advice.
const NO_MODEL: &str = "no model is known for this agent, so none can be asked: write `<model>NAME</model>` in its template, or \
    `model = \"NAME\"` in its role, with a NAME of `[models]` in ctxc.toml";
