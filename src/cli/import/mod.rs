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
pub(crate) use find::prompts;
pub(super) use json::Document;
pub(crate) use run::run;
