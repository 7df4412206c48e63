//! The registry: reading, comparing, building.

mod diff;
mod read;
