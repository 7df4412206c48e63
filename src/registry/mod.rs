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
pub mod files;
#[cfg(feature = "fs")]
pub mod inspect;
mod json;
mod layout;
pub mod library;
pub mod link;
#[cfg(feature = "cli")]
pub(crate) mod listed;
#[cfg(feature = "fs")]
pub mod lookout;
#[cfg(feature = "fs")]
pub mod mend;
mod merkle;
pub mod node;
mod paths;
#[cfg(feature = "fs")]
mod place;
pub(crate) mod raw;
pub mod read;
pub(crate) mod results;
#[cfg(feature = "fs")]
pub mod scenarios;
mod settings;
#[cfg(feature = "fs")]
pub mod sound;
pub(crate) mod sources;
#[cfg(feature = "fs")]
pub mod survey;
mod takes;
#[cfg(feature = "fs")]
pub mod tally;
mod tree;
#[cfg(feature = "fs")]
mod walk;
#[cfg(feature = "fs")]
mod watch;
mod whole;

pub use artifact::{Fragment, NoTask, Parameter, Reference, ReferenceKind, Registry, Source, Task, Warning};
#[cfg(feature = "assemble")]
pub(crate) use body::{is_use, preserves};
pub use node::{Child, Node};
pub use raw::{ReadError, SCHEMA};
