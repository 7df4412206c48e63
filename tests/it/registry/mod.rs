//! The registry: reading, comparing, building.

mod diff;
mod library;
mod read;
