//! The verbs that show what an agent would receive, and what they share: a compiled project, values, files.

mod project;
pub(crate) mod render;
mod values;
