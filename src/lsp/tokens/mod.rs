//! What agents would receive: counted and rendered on a thread of its own, and worded.

pub(super) mod counts;
pub(super) mod docs;
mod named_counters;
pub(super) mod render;
