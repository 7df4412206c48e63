//! What agents would receive: counted and rendered on a thread of its own, and worded.

pub(super) mod counts;
pub(super) mod docs;
mod memory;
pub(super) mod render;
