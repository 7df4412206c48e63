//! `ctxc watch`: checks again whenever something changes.

mod file_watcher;
mod show;
mod verb;

pub(super) use show::WatchLine;
pub(crate) use verb::{WatchArgs, run_watch};
