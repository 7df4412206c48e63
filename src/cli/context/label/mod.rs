//! `ctxc label`: the verdicts of people on answers, and the agreement of the judge with them.

mod ask;
mod command_line;
mod dispatch;
mod item;
mod keys;
mod page;
mod report;
mod stability;

pub(crate) use command_line::LabelArgs;
pub(crate) use dispatch::run_label;
pub(crate) use report::LabelReport;
