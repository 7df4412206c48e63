//! Ignore files (`.gitignore` and `.ignore`) that a file walk must not open, such as a pipe, which
//! would block for ever.
//!
//! The patterns in such a file are unknown, so its folder is skipped, and the caller reports it.

use super::fs::{self, ReadFs};
use ignore::WalkBuilder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The ignore files that a walk reads, in order of precedence.
pub const IGNORE_FILE_NAMES: [&str; 2] = [".ignore", ".gitignore"];

/// Folders of installed packages and of caches, which are not the project's own files.
pub const PACKAGE_FOLDERS: [&str; 12] = [
    ".cache",
    ".git",
    ".next",
    ".nox",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
    "site-packages",
    "target",
    "vendor",
    "venv",
];

/// The ignore files that made a walk skip their folders.
#[derive(Clone, Debug, Default)]
pub struct SkippedFolders(Arc<Mutex<BTreeSet<PathBuf>>>);

impl SkippedFolders {
    /// Returns true if a walk may enter a folder.
    pub fn allows_folder(&self, folder: &Path) -> bool {
        let Some(bar) = blocking_ignore_file(folder) else {
            return true;
        };
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(bar);
        false
    }

    /// Returns true if a walk may begin at a folder: the ignore files of its parents count, too.
    pub fn allows_start(&self, start: &Path) -> bool {
        let real = fs::RealFs
            .canonicalize(start)
            .unwrap_or_else(|_| start.to_path_buf());
        self.allows_folder(start)
            && real
                .ancestors()
                .skip(1)
                .all(|above| self.allows_folder(above))
    }

    /// Configures a walk to apply only the ignore files in its folders, none of git's global ones,
    /// and to skip folders whose ignore file would block.
    pub fn guard_walk(&self, walk: &mut WalkBuilder) {
        walk.require_git(false).git_global(false).git_exclude(false);
        let barred = self.clone();
        walk.filter_entry(move |entry| {
            entry.file_type().is_none_or(|kind| !kind.is_dir())
                || barred.allows_folder(entry.path())
        });
    }

    /// Does the same, and skips folders of installed packages below the start.
    pub fn guard_own_files(&self, walk: &mut WalkBuilder) {
        self.guard_walk(walk);
        let barred = self.clone();
        walk.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_package = || {
                PACKAGE_FOLDERS
                    .iter()
                    .any(|name| entry.file_name() == *name)
            };
            !is_folder || !is_package() && barred.allows_folder(entry.path())
        });
    }

    /// The ignore files that made the walk skip their folders.
    pub fn blocking_files(&self) -> Vec<PathBuf> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}

/// An ignore file of a folder whose opening may block for ever.
fn blocking_ignore_file(folder: &Path) -> Option<PathBuf> {
    // Most folders have none, and one call suffices to detect that.
    let waits = |path: &PathBuf| fs::exists(path) && !fs::is_file(path) && !fs::is_dir(path);
    IGNORE_FILE_NAMES
        .iter()
        .map(|name| folder.join(name))
        .find(waits)
}

/// Returns true if an ignore file in a folder, or in one between it and a path inside it, matches
/// the path or one of its parent folders.
pub fn is_ignored(folder: &Path, inside: &Path) -> bool {
    let depth = inside.components().count();
    let end = folder.join(inside);
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(true)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .max_depth(Some(depth));
    let (barred, towards) = (SkippedFolders::default(), end.clone());
    walk.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        towards.starts_with(entry.path()) && (!is_folder || barred.allows_folder(entry.path()))
    });
    !walk.build().flatten().any(|entry| entry.path() == end)
}
