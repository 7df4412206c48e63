//! `ctxc manifest`: the contexts of all agents of a project, and their changes.

mod args;
mod change_markdown;
mod change_text;
mod counting;
mod diff;
mod html;
mod markdown;
mod require;
mod run;
mod side;
mod text;
pub(super) mod words;

pub(crate) use args::ManifestArgs;
pub(super) use diff::{AgentContexts, context_growth};
pub(crate) use run::run_manifest;
