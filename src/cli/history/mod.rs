//! The history of a project's runs: where it lies, what `ctxc history` shows of it and does with it, and what decayed by it.

mod drift;
mod place;
mod show;
mod transfer;
mod verb;

pub(crate) use drift::{Document as DriftDocument, DriftArgs, run as drift};
pub(super) use place::Place;
pub(crate) use show::Document;
pub(in crate::cli) use verb::find;
pub(crate) use verb::{HistoryArgs, run};
