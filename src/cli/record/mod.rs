//! `ctxc record`, `replay`, `proxy` and `gc`: recording and replay of the calls of any program.

mod args;
mod child;
pub(crate) mod comparison;
mod gc;
pub(crate) mod known_secrets;
mod report;
mod run;
pub(crate) mod script;
mod setup;

pub(crate) use args::{GcArgs, ProxyArgs, RecordArgs, ReplayArgs};
pub(crate) use gc::run_gc;
pub(crate) use run::{run_proxy, run_record, run_replay};
pub(crate) use setup::{ReplayDouble, load_salt, start_double};
