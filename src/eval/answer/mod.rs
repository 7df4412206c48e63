//! Expectations on answers. Those that need an unavailable judge, clock or permission are reported
//! as skipped.

mod json_comparison;
mod judge_answer;
mod model_calls;
mod single_answer;
mod trajectory;
mod trial_answer;
mod whole_task;

pub(super) use crate::eval::case_result::NoAnswerReason;
pub(super) use crate::eval::prepared_case::AnswerJudging;
pub(super) use json_comparison::{
    describe_changes, equal_json as same_json, first_difference, short_value,
};
use judge_answer::{find_parts, judge_expectation};
pub(super) use judge_answer::{find_parts_at, load_schema};
use model_calls::{ReplayedCalls, case_wire, estimate_cost, run_conversation};
pub(super) use single_answer::{
    ObtainedAnswer, SCRIPT, find_script, recorded_answer, rescore_trials, run_single_answer,
};
pub(super) use trajectory::uncalled_agent;
pub use trial_answer::{AnswerCost, RunStage, StoredAnswer, TrialAnswer, WholeRun};
pub(super) use whole_task::run_trials;

/// The reason why no model can be called for an agent, with advice.
const NO_MODEL: &str = "no model is known for this agent, so none can be asked: write `<model>NAME</model>` in its template, or \
    `model = \"NAME\"` in its role, with a NAME of `[models]` in ctxc.toml";
