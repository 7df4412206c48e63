//! `ctxc label`: the verdicts of people on answers, and the agreement of the judge with them.

mod args;
mod ask;
mod item;
mod keys;
mod page;
mod report;
mod stability;
mod verb;

pub(crate) use args::LabelArgs;
pub(crate) use report::LabelReport;
pub(crate) use verb::run_label;
