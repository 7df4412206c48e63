//! Floor 13: the `ctxc` program. `verbs/` has one file for each verb; shared code is beside it.
//!
//! Only this floor uses a terminal, a command line or exit codes. It decides nothing about the
//! language.

pub mod artifacts;
mod compaction;
mod context;
mod cx;
mod error;
mod exit;
mod findings;
mod fix;
mod history;
mod import;
mod init;
mod interrupt;
mod main;
mod manual_page;
mod member_folders;
mod options;
mod origin;
mod overwrite;
mod package;
mod panic;
mod prelude;
mod project;
mod record;
mod render;
mod request;
mod revision;
mod rewrite;
mod rule_filter;
mod scenarios;
mod secret_check;
mod selection;
mod shared_args;
mod suppress;
mod usage;
mod verbs;
mod watch;
mod workspace;
mod workspace_reach;

pub use exit::EXIT_TABLE as EXITS;
pub use main::{command, main};
pub use manual_page::{markdown_page, severity_text};
