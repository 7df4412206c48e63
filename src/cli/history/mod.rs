//! The history of a project's runs: its place, the verb `ctxc history`, and drift.

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
