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

use check::{find_parts, judge_expectation};
pub(super) use check::{find_parts_at, load_schema};
pub(super) use conversation::NoAnswerReason;
use conversation::run_conversation;
use estimate::estimate_cost;
pub use given::{AnswerCost, RunStage, StoredAnswer, TrialAnswer, WholeRun};
pub(super) use json::{equal_json as same_json, first_difference};
pub(super) use judging::AnswerJudging;
pub(super) use moved::describe_changes;
pub(super) use trying::{SCRIPT, find_script, recorded_answer, rescore_trials, run_single_answer};
pub(super) use whole_run::uncalled_agent;
pub(super) use whole_task::run_trials;
use wire::{ReplayedCalls, case_wire};

use crate::run::wire::WireFormat;

/// The reason why no model can be called for an agent, with advice.
const NO_MODEL: &str = "no model is known for this agent, so none can be asked: write `<model>NAME</model>` in its template, or \
    `model = \"NAME\"` in its role, with a NAME of `[models]` in ctxc.toml";
