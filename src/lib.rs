//! ctxc, the context compiler: reads task templates, proves that their context settings are
//! consistent, and emits a resolved, hashed registry. Nothing is resolved at run time.
//!
//! Data moves one way, from the top to the bottom of this list; a module imports only from those
//! above it: `base` → `syntax`, `jinja`, `kernel` → `template`, `request` → `scenario` →
//! `settings`, `format` → `project` → `rules` → `registry` → `schema`, `context`, `import` →
//! `store`, `provider`, `work` → `record` → `run` → `eval` → `package` → `lsp` → `cli`.
//!
//! The public API is re-exported here by name. The rooms themselves are private.

mod base;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "assemble")]
mod context;
#[cfg(feature = "eval")]
mod eval;
#[cfg(feature = "compile")]
mod format;
#[cfg(feature = "cli")]
mod import;
#[doc(hidden)]
pub mod internals;
#[cfg(any(feature = "compile", feature = "assemble"))]
mod jinja;
mod kernel;
#[cfg(feature = "lsp")]
mod lsp;
#[cfg(feature = "cli")]
mod package;
#[cfg(any(feature = "compile", feature = "assemble"))]
mod project;
#[cfg(feature = "eval")]
mod provider;
#[cfg(feature = "eval")]
mod record;
mod registry;
#[cfg(feature = "compile")]
mod request;
#[cfg(feature = "compile")]
mod rules;
#[cfg(feature = "eval")]
mod run;
pub mod runtime;
#[cfg(feature = "compile")]
mod scenario;
#[cfg(feature = "compile")]
mod schema;
#[cfg(feature = "eval")]
mod session;
mod settings;
#[cfg(feature = "store")]
mod store;
#[cfg(feature = "compile")]
mod syntax;
mod template;
#[cfg(feature = "fs")]
mod work;

pub use base::diagnostic::Diagnostic;
pub use base::rule_meta::Severity;
pub use base::span::Span;
#[cfg(feature = "assemble")]
pub use context::tokens::counter as token_counter;
#[cfg(feature = "assemble")]
pub use context::{
    AgentNode, Assembly, CallerGoals, ContextSource, Counting, Deferred, Disposition, Fault,
    FaultKind, Files, Fixtures, Inputs, Kind, Match, Media, MediaSource, Message, Options, Part,
    Profile, Reasoning, Refused, Report, Request, Segment, SegmentReport, Speaker, Stability,
    StepResult, TaskGraph, TokenCounter, ToolCall, ToolResult, Trust, Turn, assemble,
    assemble_segments,
};
#[cfg(feature = "compile")]
pub use project::config::Config;
#[cfg(feature = "compile")]
pub use registry::library::{Built, compile_sources};
#[cfg(feature = "fs")]
pub use registry::library::{LoadError, Project};
pub use registry::{NoTask, ReadError, Registry, Task};
