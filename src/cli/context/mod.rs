//! The verbs that show what an agent would receive, and what they share: a compiled project, values, files.

mod body;
mod broken_parts;
pub(crate) mod eval;
mod found;
pub(crate) mod list;
mod lookup;
pub(crate) mod manifest;
mod models;
pub(crate) mod new;
pub(in crate::cli) mod project;
mod refused;
pub(crate) mod render;
pub(crate) mod search;
mod subject;
mod values;
