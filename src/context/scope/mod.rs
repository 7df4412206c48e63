//! The values that a node's texts may name, and which of them are untrusted.

mod binder;
mod trust;

pub(super) use binder::{Binder, content, earlier, place, placed};
