//! YAML, and JSON with it, as a tree in which every node and key has its place. Knows nothing of what is read.
//!
//! Never fails and never recurses on the depth of the text: what is wrong comes back as data beside the tree of all that
//! stands before it. Aliases are put in place, and weighed, so that no file grows beyond [`WEIGHT`]. The only door to the parser.

mod build;
mod fault;
mod keys;
mod node;
mod scalar;

pub use build::read;
pub use fault::{DEPTH, Fault, FaultKind, WEIGHT};
pub use node::{Entry, Node, Value};
