//! `ctxc watch`: checks again whenever something changes.

mod ears;
mod news;
mod run;
mod show;

pub(crate) use run::{WatchArgs, run};
pub(super) use show::Line;
