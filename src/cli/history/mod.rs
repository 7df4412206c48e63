//! The history of a project's runs: where it lies, what `ctxc history` shows of it and does with it.

mod place;
mod show;
mod transfer;
mod verb;

pub(super) use place::Place;
pub(crate) use show::Document;
pub(in crate::cli) use verb::find;
pub(crate) use verb::{HistoryArgs, run};
