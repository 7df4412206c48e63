//! What every agent of a project would receive, told before any run: segments with their tokens, what varies and how far.
//!
//! Made by the assembler itself, run dry, so that it tells of no other context than a run puts together. Holds no line number and no
//! place in a file: an edit that only moves white space changes nothing in it.

mod build;
mod change;
mod model;

pub use build::{Dry, of_project, of_task};
pub use change::{Change, Difference, Moved, difference};
pub use model::{Budget, Entry, Manifest, Part, SCHEMA, Source, SourceKind, Tokenizer, ToolPolicy, Total};
