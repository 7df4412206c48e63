//! Ignore files, `.gitignore` and `.ignore`, that a walk must not open, such as a pipe, which would block for ever.
//!
//! What such a file ignores is not known, so its folder is skipped, and the caller reports it.

use super::fs::{self, ReadFs};
use ignore::WalkBuilder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The files of patterns that a walk reads, those that count more first.
pub const NAMES: [&str; 2] = [".ignore", ".gitignore"];

/// Folders of installed packages and of caches: other people's files.
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

/// What kept a walk out of folders.
#[derive(Clone, Debug, Default)]
pub struct SkippedFolders(Arc<Mutex<BTreeSet<PathBuf>>>);

impl SkippedFolders {
    /// Whether a walk may look into a folder.
    pub fn lets_in(&self, folder: &Path) -> bool {
        let Some(bar) = bar(folder) else { return true };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(bar);
        false
    }

    /// Whether a walk may begin at a folder: patterns count from above, too.
    pub fn lets_begin(&self, start: &Path) -> bool {
        let real = fs::RealFs.canonical(start).unwrap_or_else(|_| start.to_path_buf());
        self.lets_in(start) && real.ancestors().skip(1).all(|above| self.lets_in(above))
    }

    /// Has a walk go by the files of patterns in its folders alone, wherever else git keeps some, and look into no folder that this bars.
    pub fn guard(&self, walk: &mut WalkBuilder) {
        walk.require_git(false).git_global(false).git_exclude(false);
        let barred = self.clone();
        walk.filter_entry(move |entry| entry.file_type().is_none_or(|kind| !kind.is_dir()) || barred.lets_in(entry.path()));
    }

    /// The same, without folders of installed packages below the first.
    pub fn guard_own_files(&self, walk: &mut WalkBuilder) {
        self.guard(walk);
        let barred = self.clone();
        walk.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_package = || PACKAGE_FOLDERS.iter().any(|name| entry.file_name() == *name);
            !is_folder || !is_package() && barred.lets_in(entry.path())
        });
    }

    /// The files of patterns that were met.
    pub fn met(&self) -> Vec<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// A file of patterns of a folder whose opening may wait for ever.
fn bar(folder: &Path) -> Option<PathBuf> {
    // Most folders have none, and one question is enough to see that.
    let waits = |path: &PathBuf| fs::exists(path) && !fs::is_file(path) && !fs::is_dir(path);
    NAMES.iter().map(|name| folder.join(name)).find(waits)
}

/// Whether a file of patterns in a folder, or in one between it and a path inside it, names the path or a folder that it lies in.
pub fn is_ignored(folder: &Path, inside: &Path) -> bool {
    let depth = inside.components().count();
    let end = folder.join(inside);
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(true).hidden(false).require_git(false).git_global(false).git_exclude(false).max_depth(Some(depth));
    let (barred, towards) = (SkippedFolders::default(), end.clone());
    walk.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        towards.starts_with(entry.path()) && (!is_folder || barred.lets_in(entry.path()))
    });
    !walk.build().flatten().any(|entry| entry.path() == end)
}
