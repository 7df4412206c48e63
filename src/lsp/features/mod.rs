//! One file a request of the protocol, and what several of them need.

pub(super) mod actions;
mod bound;
pub(super) mod commands;
pub(super) mod completion;
mod completion_context;
mod completion_cx;
mod completion_names;
mod docs;
pub(super) mod folding;
pub(super) mod formatting;
pub(super) mod hints;
pub(super) mod hover;
pub(super) mod linked_tags;
pub(super) mod links;
pub(super) mod navigate;
mod parts;
mod provenance;
pub(super) mod rename;
pub(super) mod selection;
pub(super) mod semantic_tokens;
pub(super) mod symbols;
mod variables;
