//! `ctxc import`: finds prompts of other formats, converts them to templates, proves them equal,
//! and reports.

mod find;
mod json;
mod make;
mod report;
mod request;
mod samples;
mod show;
mod suggest;
mod verb;
mod verify;

pub(crate) use find::prompt_format;
pub(super) use json::ImportDocument;
pub(crate) use verb::{ImportArgs, run_import};
