//! The contexts of agents, counted and rendered on a separate thread.

pub(super) mod counts;
pub(super) mod docs;
pub(super) mod render;
