//! `ctxc gate` and `ctxc baseline`: decide whether a change may be merged, and log acceptances.

mod accept;
mod args;
mod base_files;
mod check_files;
mod compared;
mod contracts;
mod decide;
mod decision_text;
mod frozen;
mod judge_evidence;
mod origin;
mod removed_members;
mod renames;
mod settings;
mod state;
mod uncompared_files;
mod untested_changes;

pub(crate) use accept::run_baseline;
pub(crate) use args::{BaselineArgs, GateArgs};
pub(in crate::cli) use compared::own_accepters;
pub(crate) use decide::run_gate;
