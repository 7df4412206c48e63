//! Sessions of coding agents: planted facts in every format, hostile files, the report.

mod formats;
mod hostile;
mod planted;
mod report;
pub(crate) mod samples;
mod writers;
