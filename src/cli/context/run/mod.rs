//! `ctxc run`: executes a compiled task with all its agents, and writes a trace.

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
pub(crate) use batch::run_tasks;
