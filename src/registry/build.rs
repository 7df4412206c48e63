//! The registry on disk: compared with the expected bytes, and replaced atomically.

use crate::base::fs;
use std::io;
use std::path::Path;

/// The action on the registry file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMode {
    /// Write the registry if it differs.
    Write,
    /// Only compare; write nothing.
    Compare,
}

/// The outcome for the registry on disk.
#[derive(Debug)]
pub enum WriteOutcome {
    /// Not touched, since a finding is an error or there is no template.
    Untouched,
    /// Already up to date.
    Current,
    /// Missing or different, and the goal was to compare only.
    Stale,
    /// Written, with this number of bytes.
    Written(u64),
    /// Not written because of this error; the old file is unchanged.
    Failed(io::Error),
}

/// Makes a file contain a registry, or compares the two.
pub fn write_registry(output: &Path, registry: &[u8], goal: WriteMode) -> WriteOutcome {
    let mut existing = Vec::new();
    if fs::read_regular(output, registry.len() as u64, &mut existing).is_ok()
        && existing == registry
    {
        return WriteOutcome::Current;
    }
    if goal == WriteMode::Compare {
        return WriteOutcome::Stale;
    }
    fs::write_atomic(output, registry).map_or_else(WriteOutcome::Failed, |_| {
        WriteOutcome::Written(registry.len() as u64)
    })
}
