//! ctxc, the context compiler: reads task templates, proves their context settings consistent, and emits a
//! resolved, hashed registry, so that nothing is resolved at run time.
//!
//! Data moves one way, top to bottom of this list; a module imports only from those above it:
//! [`base`] → [`syntax`], [`jinja`], `kernel` → [`template`] → `scenario` → [`settings`], [`mod@format`] → [`project`] → [`rules`] → [`registry`] → [`schema`], `context`, `import` → `store` → `eval` → `lsp` → `cli`.

pub mod base;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "assemble")]
pub mod context;
#[cfg(feature = "eval")]
pub mod eval;
pub mod format;
#[cfg(feature = "cli")]
pub mod import;
pub mod jinja;
pub mod kernel;
#[cfg(feature = "lsp")]
pub mod lsp;
pub mod project;
pub mod registry;
pub mod rules;
pub mod scenario;
pub mod schema;
pub mod settings;
#[cfg(feature = "store")]
pub mod store;
pub mod syntax;
pub mod template;

pub use base::diagnostic::Diagnostic;
pub use base::rule_meta::Severity;
pub use project::config::Config;
pub use registry::library::{Built, compile_sources};
#[cfg(feature = "fs")]
pub use registry::library::{LoadError, Project};
pub use registry::{ReadError, Registry};
