//! The program as its users meet it: real processes in real folders.

mod bad_context;
mod bad_input;
mod broken_files;
mod build;
mod check;
mod ci;
mod defaults;
mod diff;
mod docs;
pub(crate) mod eval;
mod eval_checked;
mod eval_chosen;
mod eval_trust;
mod fix;
mod fmt;
pub(crate) mod formats;
mod help;
mod import;
mod import_filters;
mod import_formats;
mod import_jinja;
mod init;
mod jinja_places;
#[cfg(unix)]
mod links;
mod manifest;
mod new_scenario;
mod output;
mod outside;
mod own_texts;
#[cfg(unix)]
mod pipes;
mod policies;
pub(crate) mod project;
mod render;
mod render_body;
mod render_lines;
mod revision;
mod roles_agree;
mod rules;
mod scenarios;
mod scenarios_given;
mod scenarios_history;
mod scenarios_live;
mod scenarios_results;
mod scenarios_wrong;
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
