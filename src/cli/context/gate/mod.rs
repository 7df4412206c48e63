//! `ctxc gate` and `ctxc baseline`: decide whether a change may be merged, and log acceptances.

mod accept;
mod args;
mod base_files;
mod check_files;
mod compared;
mod decide;
mod environment;
mod frozen;
mod names;
mod origin;
mod settings;
mod state;
mod text;
mod text_change;
mod uncovered;
mod unread;
mod untested;

pub(crate) use accept::run_baseline;
pub(crate) use args::{BaselineArgs, GateArgs};
pub(crate) use decide::run_gate;
