//! The registry on disk: compared with what it should be, and replaced whole or not at all.

use crate::base::fs;
use std::io;
use std::path::Path;

/// What is done with the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// It is written when it differs.
    Write,
    /// It is compared; nothing is written.
    Compare,
}

/// What became of the registry on disk.
#[derive(Debug)]
pub enum State {
    /// Some finding is an error, or there is no template: it was not touched.
    Untouched,
    /// It holds what it should.
    Current,
    /// It does not exist or holds something else, and was to be compared only.
    Stale,
    /// It was written: so many bytes.
    Written(u64),
    /// It could not be written, and is as it was.
    Failed(io::Error),
}

/// Brings a file to hold a registry.
pub fn put(output: &Path, registry: &[u8], goal: Goal) -> State {
    let mut there = Vec::new();
    if fs::read_own(output, registry.len() as u64, &mut there).is_ok() && there == registry {
        return State::Current;
    }
    if goal == Goal::Compare {
        return State::Stale;
    }
    fs::write_atomic(output, registry).map_or_else(State::Failed, |_| State::Written(registry.len() as u64))
}
