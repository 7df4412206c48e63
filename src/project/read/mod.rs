//! Reads a text into [`super::config::Config`]. The only user of the TOML parser. Lowers its tree
//! by hand, so that one run finds every fault of a file, each with its own span.

mod condition;
mod dependencies;
mod draft;
mod eval;
mod extends;
mod inherit;
pub mod keys;
mod layers;
mod lints;
mod merge;
mod models;
pub mod named_things;
mod package;
mod package_parts;
#[cfg(feature = "fs")]
pub(crate) mod packages;
mod policy;
mod policy_check;
mod requests;
mod require;
mod roles;
mod routes;
mod row;
mod row_conflicts;
mod sampling;
mod sections;
mod shared;
mod tool_definitions;
mod value;
mod workspace;
mod workspace_root;
