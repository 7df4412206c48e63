//! The values that a node's texts may name, and which of them are untrusted.

mod binder;
#[cfg(feature = "eval")]
pub(crate) mod node_values;
mod trust;

pub(super) use binder::{Binder, content, earlier, place, placed};
