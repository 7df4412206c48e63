//! The verbs that show what an agent would receive, and what they share: a compiled project, values, files.

mod body;
pub(crate) mod eval;
mod found;
mod house;
mod lacks;
mod lookup;
pub(crate) mod manifest;
pub(crate) mod new;
pub(in crate::cli) mod project;
mod refused;
pub(crate) mod render;
pub(crate) mod search;
mod subject;
mod values;
