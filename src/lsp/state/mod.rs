//! The editor's state: open documents, their projects and their findings. Sends nothing to a
//! client.

pub(super) mod disk;
pub(super) mod open_documents;
pub(super) mod project;
pub(super) mod read_cache;
pub(super) mod scenarios;
pub(super) mod snapshot;
pub(super) mod span_index;
pub(super) mod speculative;
mod update;
pub(super) mod workspace;
