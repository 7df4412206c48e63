//! Floor 6: from checked templates to `registry.json`, and back.
//!
//! The registry needs no resolution at run time: every node carries its four settings with their origins. Same
//! inputs give the same bytes on every machine and thread count; no absolute path, no time stamp.

pub mod artifact;
mod body;
mod cache;
mod codec;
pub mod compile;
pub mod diff;
pub mod entry;
mod facts;
mod findings;
mod json;
mod layout;
pub mod link;
mod merkle;
pub mod node;
mod read;
mod settings;
mod texts;
mod tree;
#[cfg(feature = "fs")]
pub mod survey;
#[cfg(feature = "fs")]
mod walk;

pub use artifact::{Fragment, Parameter, Reference, Registry, Source, Task, Warning};
pub use read::ReadError;
