//! All integration tests: one binary.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read fixtures and run the program"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod assembly;
mod base;
mod cli;
mod context;
mod docs;
mod eval;
mod faults;
mod format;
mod fuzz;
mod kernel;
mod lsp;
mod names;
mod peers;
mod project;
mod provider;
mod record;
mod registry;
mod request;
mod robust;
mod rules;
mod rules_meta;
mod run;
mod scenario;
mod schema;
mod session;
mod sessions;
mod settings;
mod spec;
mod store;
mod structure;
mod support;
mod syntax;
mod template;
mod templates;
mod tidy;
mod work;
