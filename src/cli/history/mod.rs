//! The history of a project's runs: its place, the verb `ctxc history`, and drift.

mod drift;
mod place;
mod verb;

pub(crate) use drift::{DriftArgs, DriftReport as DriftDocument, run_drift as drift};
pub(super) use place::HistoryPlace;
pub(in crate::cli) use verb::find_run;
pub(crate) use verb::{HistoryArgs, HistoryDocument, run_history};
