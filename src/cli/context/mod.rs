//! The verbs that show what an agent would receive, and what they share: a compiled project, values, files.

mod body;
mod counts;
mod lookup;
pub(crate) mod manifest;
pub(in crate::cli) mod project;
mod refused;
pub(crate) mod render;
pub(crate) mod search;
mod values;
