//! `ctxc eval`: runs the scenarios of a project, with their expectations on contexts and answers,
//! and prints the results.

mod accept;
mod accepted;
mod answer_recorder;
mod args;
mod choose;
pub(crate) mod compare;
pub(crate) mod coverage;
pub(super) mod drafting;
mod journal;
mod judge;
mod junit;
mod label_files;
mod live_calls;
pub(super) mod load;
mod merge;
mod mutate;
mod own_checks;
mod page;
pub(crate) mod plan;
mod programs;
mod progress;
mod rescore;
mod run;
mod runnable;
mod score_text;
mod scorecard_text;

pub(crate) use args::{AnswerSource, EvalArgs, parse_usd};
pub(in crate::cli) use choose::affected_scenarios;
pub(super) use choose::{read_recordings, read_scorecard};
pub(in crate::cli) use judge::judge_project;
pub(super) use judge::{
    CheckPermissions, JudgeCalls, RecordingLimits, RunSubject, judge_all, judge_contracts,
    judge_some, judge_trust, live_judge, record_scenarios, unpermitted_note, with_cases,
    with_judged_answers,
};
pub(super) use label_files::now_seconds;
pub(in crate::cli) use label_files::read_labels;
pub(super) use load::{CachedFiles, FilesBeside, load_scenarios, scenario_names};
pub(crate) use merge::{ScorecardArgs, run_merge as scorecard};
pub(super) use own_checks::{CheckFolder, CheckRuns};
pub(crate) use run::run_eval;
pub(in crate::cli) use scorecard_text::describe_calls;
pub(super) use scorecard_text::problem_lines;
