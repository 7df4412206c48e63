//! The project around the templates. Reads `ctxc.toml` from a text passed in. Everything has a
//! default, so the file is optional. Faults are returned as data; only rules write their messages.

#[cfg(feature = "compile")]
pub mod config;
#[cfg(feature = "compile")]
pub mod dependencies;
#[cfg(feature = "compile")]
pub mod dependency_edits;
#[cfg(feature = "compile")]
pub mod eval;
#[cfg(feature = "compile")]
pub mod flat_keys;
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod glob;
#[cfg(feature = "compile")]
pub mod index;
#[cfg(feature = "compile")]
pub mod linked_names;
#[cfg(feature = "compile")]
pub mod linked_parts;
#[cfg(feature = "compile")]
pub mod linked_tools;
#[cfg(feature = "compile")]
pub mod linked_trust;
#[cfg(feature = "compile")]
pub mod lints;
#[cfg(feature = "compile")]
pub mod lock_file;
pub mod models;
#[cfg(feature = "compile")]
pub mod package_section;
#[cfg(feature = "compile")]
pub mod project_fault;
#[cfg(feature = "compile")]
pub mod read;
#[cfg(feature = "compile")]
pub mod require;
#[cfg(feature = "compile")]
pub mod required_version;
pub mod roles;
pub mod routing;
#[cfg(feature = "compile")]
pub mod suppressions;
#[cfg(feature = "compile")]
pub mod table;
pub mod tools;
