//! Records the folders and file contents that a check read. `watch` compares two records to detect
//! changes. Never affects findings.

use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::base::hash::Hash;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The inputs of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckInputs {
    /// The requested templates.
    pub templates: BTreeMap<String, Hash>,
    /// The other files, namely texts and templates read only for their names; `None` for a file
    /// that could not be read.
    pub others: BTreeMap<String, Option<Hash>>,
    /// Folders in which a change can affect the findings.
    pub folders: BTreeSet<PathBuf>,
}

impl CheckInputs {
    /// Adds the inputs that another thread read.
    pub(super) fn merge(&mut self, other: Self) {
        self.templates.extend(other.templates);
        self.others.extend(other.others);
        self.folders.extend(other.folders);
    }

    /// Adds the inputs that were read beside the requested files.
    pub(super) fn add_others(&mut self, other: Self) {
        let templates = other
            .templates
            .into_iter()
            .filter(|(name, _)| !self.templates.contains_key(name));
        self.others
            .extend(templates.map(|(name, hash)| (name, Some(hash))));
        self.others.extend(other.others);
        self.folders.extend(other.folders);
    }

    /// Adds the files of packages that were read.
    pub(super) fn add_reads(&mut self, reads: BTreeMap<PathBuf, Option<Hash>>) {
        for (path, hash) in reads {
            self.folders.extend(path.parent().map(Path::to_path_buf));
            self.others
                .insert(path.to_string_lossy().into_owned(), hash);
        }
    }

    /// The files that were added, removed or changed since `before`.
    pub fn changed_files(&self, before: &Self) -> BTreeSet<String> {
        let templates = before.templates.keys().chain(self.templates.keys());
        let templates =
            templates.filter(|name| before.templates.get(*name) != self.templates.get(*name));
        // A new reference to a text is not a change of that text.
        let is_changed = |(name, hash): &(&String, &Option<Hash>)| {
            before.others.get(*name).is_some_and(|was| was != *hash)
        };
        let others = self.others.iter().filter(is_changed).map(|(name, _)| name);
        templates.chain(others).cloned().collect()
    }
}

/// The machine's files, with a record of the reads.
#[derive(Debug, Default)]
pub(super) struct RecordingFs {
    read: Mutex<BTreeMap<PathBuf, Option<Hash>>>,
}

impl RecordingFs {
    /// Takes the reads since the last call.
    pub(super) fn take_reads(&self) -> BTreeMap<PathBuf, Option<Hash>> {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn record_read(&self, path: &Path, hash: Option<Hash>) {
        self.read
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_path_buf(), hash);
    }
}

impl ReadFs for RecordingFs {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let read = RealFs.read(path, limit);
        self.record_read(path, read.as_ref().ok().map(|bytes| Hash::digest(bytes)));
        read
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        RealFs.stamp(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        let is_regular = RealFs.is_regular(path);
        if !is_regular {
            self.record_read(path, None);
        }
        is_regular
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let real = RealFs.canonicalize(path);
        if real.is_err() {
            self.record_read(path, None);
        }
        real
    }

    fn entry_names(&self, folder: &Path) -> Vec<String> {
        RealFs.entry_names(folder)
    }

    fn plain_file_names(&self, folder: &Path) -> Vec<String> {
        RealFs.plain_file_names(folder)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/workspace/inputs.rs"]
mod tests;
