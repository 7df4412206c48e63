//! `ctxc compaction`: the facts that the compactions of a coding agent's session dropped.

mod find_session;
mod page;
mod report;
mod text;
mod verb;

pub(crate) use report::CompactionReport;
pub(crate) use verb::{CompactionArgs, run_compaction};
