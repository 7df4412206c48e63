//! `ctxc compaction`: the facts that the compactions of a coding agent's session dropped.

mod compaction_verb;
mod find_session;
mod page;
mod report;
mod report_text;

pub(crate) use compaction_verb::{CompactionArgs, run_compaction};
pub(crate) use report::CompactionReport;
