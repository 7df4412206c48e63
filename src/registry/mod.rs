//! Floor 6: from checked templates to `registry.json`, and back.
//!
//! The registry needs no resolution at run time: every node carries its four settings with their origins. Same
//! inputs give the same bytes on every machine and thread count; no absolute path, no time stamp.

pub mod artifact;
pub mod body;
#[cfg(feature = "fs")]
pub mod build;
pub mod compile;
pub mod diff;
pub mod entry;
#[cfg(feature = "fs")]
pub mod inspect;
mod json;
mod layout;
pub mod library;
mod merkle;
pub mod node;
mod paths;
pub(crate) mod raw;
pub mod read;
pub(crate) mod results;
#[cfg(feature = "fs")]
pub mod scenarios;
mod settings;
pub(crate) mod sources;
mod takes;
#[cfg(feature = "fs")]
pub mod tally;
mod tree;
pub mod workspace;

pub use artifact::{Fragment, NoTask, Parameter, Reference, ReferenceKind, Registry, Source, Task, Warning};
#[cfg(feature = "assemble")]
pub(crate) use body::{is_use, preserves};
pub use node::{Child, Node};
pub use raw::{ReadError, SCHEMA};
