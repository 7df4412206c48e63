//! Records the folders and the file contents that a check read. `watch` compares two records to see whether anything changed.
//! Decides nothing about findings.

use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::base::hash::Hash;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The inputs of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// The templates that were asked for.
    pub templates: BTreeMap<String, Hash>,
    /// The other files: templates of which only the names were needed, and texts; `None` for one that could not be read.
    pub others: BTreeMap<String, Option<Hash>>,
    /// Folders in which a change may change what is found.
    pub folders: BTreeSet<PathBuf>,
}

impl Inputs {
    /// Takes what another thread has read.
    pub(super) fn add(&mut self, other: Self) {
        self.templates.extend(other.templates);
        self.others.extend(other.others);
        self.folders.extend(other.folders);
    }

    /// Takes what was read beside the files that were asked for.
    pub(super) fn add_others(&mut self, other: Self) {
        let templates = other.templates.into_iter().filter(|(name, _)| !self.templates.contains_key(name));
        self.others.extend(templates.map(|(name, hash)| (name, Some(hash))));
        self.others.extend(other.others);
        self.folders.extend(other.folders);
    }

    /// The files that came, went, or hold something else than `before`.
    pub fn changed(&self, before: &Self) -> BTreeSet<String> {
        let templates = before.templates.keys().chain(self.templates.keys());
        let templates = templates.filter(|name| before.templates.get(*name) != self.templates.get(*name));
        // Another reference to a text is no change of that text.
        let is_changed = |(name, hash): &(&String, &Option<Hash>)| before.others.get(*name).is_some_and(|was| was != *hash);
        let others = self.others.iter().filter(is_changed).map(|(name, _)| name);
        templates.chain(others).cloned().collect()
    }
}

/// The machine's files, with what was read of them.
#[derive(Debug, Default)]
pub(super) struct RecordingFs {
    read: Mutex<BTreeMap<PathBuf, Option<Hash>>>,
}

impl RecordingFs {
    /// What was read since the last time.
    pub(super) fn take(&self) -> BTreeMap<PathBuf, Option<Hash>> {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, path: &Path, hash: Option<Hash>) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), hash);
    }
}

impl ReadFs for RecordingFs {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let read = RealFs.read(path, limit);
        self.note(path, read.as_ref().ok().map(|bytes| Hash::of(bytes)));
        read
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        RealFs.stamp(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        let is_regular = RealFs.is_regular(path);
        if !is_regular {
            self.note(path, None);
        }
        is_regular
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let real = RealFs.canonical(path);
        if real.is_err() {
            self.note(path, None);
        }
        real
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        RealFs.names(folder)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/workspace/inputs.rs"]
mod tests;
