//! Floor 6: from checked templates to `registry.json`, and back.
//!
//! The registry needs no resolution at run time: every node carries its four settings with their origins. Same
//! inputs give the same bytes on every machine and thread count; no absolute path, no time stamp.

pub mod artifact;
mod body;
#[allow(dead_code, reason = "the incremental build, which is next, reads and writes it")]
mod cache;
#[allow(dead_code, reason = "the incremental build, which is next, reads and writes it")]
mod codec;
pub mod compile;
pub mod diff;
pub mod entry;
#[allow(dead_code, reason = "the incremental build, which is next, reads and writes it")]
mod facts;
#[allow(dead_code, reason = "the incremental build, which is next, reads and writes it")]
mod findings;
#[cfg(feature = "fs")]
pub mod inspect;
mod json;
mod layout;
pub mod library;
pub mod link;
mod merkle;
pub mod node;
mod read;
mod settings;
mod sources;
#[cfg(feature = "fs")]
pub mod survey;
mod texts;
mod tree;
#[cfg(feature = "fs")]
mod walk;
mod whole;

pub use artifact::{Fragment, Parameter, Reference, Registry, Source, Task, Warning};
pub use read::ReadError;
