//! The registry: reading, comparing, building.

mod diff;
mod hashes;
mod library;
mod read;
