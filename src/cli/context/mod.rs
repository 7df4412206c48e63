//! The verbs that print contexts, and their shared parts: a compiled project, values, files.

mod broken_parts;
pub(in crate::cli) mod contracts;
pub(crate) mod crowded_budgets;
pub(crate) mod eval;
pub(crate) mod gate;
pub(crate) mod graph;
pub(crate) mod label;
pub(crate) mod list;
mod lookup;
pub(crate) mod manifest;
pub(in crate::cli) mod model_calls;
pub(in crate::cli) mod models;
pub(crate) mod new;
pub(in crate::cli) mod project;
pub(crate) mod render;
mod render_errors;
pub(crate) mod render_report;
pub(crate) mod run;
pub(crate) mod search;
mod sent_requests;
mod subject;
pub(crate) mod trust;
mod values;
