//! Floor 0: what all others rest on.

mod contained_path;
mod lines;
mod number;
mod write;
