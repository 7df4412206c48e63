//! Floor 13: the `ctxc` program. One file a verb; what they share stands beside them.
//!
//! The only floor that knows a terminal, a command line or an exit code. It decides nothing about the language.

mod args;
mod build;
mod check;
mod completions;
mod context;
mod cx;
mod defaults;
mod diff;
mod error;
mod exit;
mod explain;
mod explain_setting;
mod findings;
mod fix;
mod fmt;
mod generate_docs;
mod import;
mod init;
mod interrupt;
#[cfg(feature = "lsp")]
mod lsp;
mod main;
mod man;
mod options;
mod origin;
mod page;
mod panic;
mod progress;
mod project;
mod put;
mod render;
mod revision;
mod rules;
mod scenarios;
mod schema;
mod seal;
mod selection;
mod show;
mod suppress;
mod usage;
mod watch;

pub use main::main;
