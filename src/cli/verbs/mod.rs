//! One file a verb: its arguments and what it does. `cli/main.rs` lists them.

pub(super) mod build;
pub(super) mod check;
pub(super) mod completions;
pub(super) mod defaults;
pub(super) mod diff;
pub(super) mod explain;
pub(super) mod explain_setting;
pub(super) mod fmt;
pub(super) mod generate_docs;
#[cfg(feature = "lsp")]
pub(super) mod lsp;
pub(super) mod man;
pub(super) mod rules;
pub(super) mod schema;
pub(super) mod show;
