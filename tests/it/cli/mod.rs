//! The program as its users meet it: real processes in real folders.

mod bad_context;
mod bad_input;
mod build;
mod check;
mod ci;
mod defaults;
mod diff;
mod docs;
pub(crate) mod eval;
mod eval_trust;
mod fix;
mod fmt;
pub(crate) mod formats;
mod help;
mod import;
mod import_formats;
mod init;
mod manifest;
mod output;
mod outside;
pub(crate) mod project;
mod render;
mod render_body;
mod revision;
mod rules;
mod scenarios;
mod schema;
mod search;
mod show;
mod shown_files;
mod suppress_existing;
mod suppressions;
#[cfg(target_os = "linux")]
mod terminal;
mod usage;
pub(crate) mod watch;
mod watch_edits;
