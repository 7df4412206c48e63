//! The registry: reading, comparing, building.

mod diff;
mod incremental;
mod library;
mod read;
