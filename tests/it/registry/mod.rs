//! The registry: reading, comparing, building.

mod diff;
mod edits;
mod incremental;
mod library;
mod lookout;
mod read;
