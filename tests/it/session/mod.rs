//! Sessions of coding agents: planted facts in every format, hostile files, the report.

mod calls;
mod formats;
mod hostile;
mod planted;
pub(crate) mod probes;
mod refetches;
mod report;
pub(crate) mod samples;
pub(crate) mod scenarios;
mod verdicts;
mod writers;
