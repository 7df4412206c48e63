//! `ctxc run`: a compiled task executed, all its agents, and what happened written down.

mod answers;
mod args;
pub(super) mod as_scenario;
mod batch;
pub(super) mod best;
mod commands;
mod execute;
pub(super) mod propose;
mod show;
mod telemetry;
pub(in crate::cli) mod traces;

pub(crate) use args::RunArgs;
pub(crate) use batch::run;
