//! The verbs that show what an agent would receive, and what they share: a compiled project, values, files.

mod body;
mod counts;
pub(crate) mod manifest;
mod project;
mod refused;
pub(crate) mod render;
mod values;
