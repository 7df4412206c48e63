//! `ctxc record`, `replay`, `proxy` and `gc`: recording and replay of the calls of any program.

mod args;
pub(crate) mod comparison;
mod gc;
mod recorded_command;
mod report;
pub(crate) mod script;
mod setup;

pub(crate) use args::{GcArgs, ProxyArgs, RecordArgs, ReplayArgs};
pub(crate) use gc::run_gc;
pub(crate) use recorded_command::{run_proxy, run_record, run_replay};
pub(crate) use setup::{ReplayDouble, load_salt, start_double};
