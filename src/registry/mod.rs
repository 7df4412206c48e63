//! Floor 6: from checked templates to `registry.json`, and back.
//!
//! The registry needs no resolution at run time: every node carries its four settings with their
//! provenance. Equal inputs give equal bytes on every machine and with every thread count; the
//! registry contains no absolute path and no time stamp.

#[cfg(any(feature = "compile", feature = "assemble"))]
pub(crate) mod agents;
pub mod artifact;
pub mod body;
#[cfg(feature = "fs")]
pub mod build;
#[cfg(feature = "compile")]
pub mod compile;
pub mod diff;
#[cfg(feature = "fs")]
pub mod finding_counts;
#[cfg(feature = "fs")]
pub mod inspect;
#[cfg(feature = "compile")]
pub mod library;
pub mod node;
pub(crate) mod raw;
pub mod read;
#[cfg(any(feature = "compile", feature = "assemble"))]
pub mod result_names;
#[cfg(feature = "compile")]
pub(crate) mod results;
#[cfg(feature = "fs")]
pub mod scenarios;
#[cfg(feature = "compile")]
mod task_signature;
#[cfg(feature = "compile")]
pub mod workspace;

pub use artifact::{
    DefinitionSource, Fragment, NoTask, Reference, ReferenceKind, Registry, RegistryParameter,
    Task, Warning,
};
#[cfg(all(feature = "assemble", feature = "compile"))]
pub(crate) use compile::{is_use, preserves_space};
pub use node::{Child, Node};
pub use raw::{ReadError, SCHEMA};
