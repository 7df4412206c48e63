//! `ctxc watch`: checks again whenever something changes.

mod delta;
mod file_watcher;
mod run;
mod show;

pub(crate) use run::{WatchArgs, run_watch};
pub(super) use show::WatchLine;
