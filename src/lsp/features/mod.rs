//! The requests of the protocol, one file each, and their shared parts.

pub(super) mod actions;
pub(super) mod commands;
pub(super) mod completion;
mod completion_context;
pub(super) mod completion_cx;
mod completion_expressions;
mod completion_names;
mod docs;
pub(super) mod document_structure;
pub(super) mod hints;
pub(super) mod hover;
mod implicit_names;
pub(super) mod mentions;
pub(super) mod navigate;
pub(super) mod provenance;
pub(super) mod rename;
pub(super) mod semantic_tokens;
pub(super) mod symbols;
mod variable_definition;
mod variables;
