//! Floor 0: the base of all others.

mod contained_path;
mod lines;
mod number;
mod write;
