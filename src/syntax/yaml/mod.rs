//! YAML, and thus JSON, as a tree in which every node and key has its span. Independent of the
//! meaning of the data.
//!
//! Never fails and never recurses on the depth of the text: faults are returned beside the tree of
//! everything before them. Aliases are replaced by their nodes, and weighed, so that no file grows
//! beyond [`MAX_WEIGHT`]. The only door to the parser.

mod build;
mod fault;
mod keys;
mod node;
mod scalar;

pub use build::parse_tree;
pub use fault::{MAX_DEPTH, MAX_WEIGHT, YamlFault, YamlFaultKind};
pub use node::{YamlEntry, YamlNode, YamlValue};
