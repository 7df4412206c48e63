//! Limits on input: what lies beyond was made by a program, or against one. Each has a flag to raise it.

pub(super) mod name_too_long;
pub(super) mod text_too_long;
pub(super) mod too_deep;
pub(super) mod too_many_attributes;
pub(crate) mod too_many_findings;
pub(super) mod too_many_namespaces;
pub(super) mod too_many_nodes;
mod word;
