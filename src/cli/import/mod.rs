//! `ctxc import`: finds prompts of other formats, converts them to templates, proves them equal,
//! and reports.

mod args;
mod find;
mod json;
mod make;
mod report;
mod request;
mod run;
mod samples;
mod show;
mod suggest;
mod verify;

pub(crate) use args::ImportArgs;
pub(crate) use find::prompt_format;
pub(super) use json::ImportDocument;
pub(crate) use run::run_import;
