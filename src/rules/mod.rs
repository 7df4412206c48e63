//! Floor 5: the findings. Each file holds one rule: its rationale, check, fix and examples.
//!
//! Never reads files and never decides which findings are shown. Facts from higher floors arrive as
//! data.

#[macro_use]
mod prelude;

pub mod allow;
pub mod apply;
pub mod check;
pub mod context;
pub mod engine;
pub mod file_stem;
pub mod input;
pub mod links;
pub mod list;
pub mod migration;
pub mod names;
pub mod project;
pub mod request;
pub mod rule;
pub mod scenario;
pub(crate) mod setting_fixes;
pub mod structure;
pub mod syntax;
