//! The contexts of agents, counted and rendered on a separate thread.

pub(super) mod counts;
pub(super) mod docs;
mod named_counters;
pub(super) mod render;
