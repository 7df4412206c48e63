//! `ctxc manifest`: the contexts of all agents of a project, and their changes.

pub(super) mod agent_facts;
mod args;
mod counting;
mod diff;
mod html;
mod markdown;
mod require;
mod run;
mod side;
mod text;

pub(crate) use args::ManifestArgs;
pub(in crate::cli) use counting::whole_manifest;
pub(super) use counting::{CountingArgs, with_counters};
pub(in crate::cli) use diff::markdown_changes;
pub(super) use diff::{AgentContexts, context_growth};
pub(crate) use run::run_manifest;
