//! Which files can be looked up: those of the project that `.gitignore` does not hide, and documents that are registered.
//!
//! Reads no file. Links are not followed, so nothing outside the project comes in by one; nothing of the machine counts (no
//! global ignore file). The result is sorted by name, whatever order the folders were walked in.

use crate::base::fs::IRREGULAR;
use crate::base::fs::{self, ReadFs, RealFs, Stamp};
use crate::base::patterns::SkippedFolders;
use crate::project::glob::Globs;
use crate::project::path_patterns::fixed;
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Bytes of a file that is found.
const FOUND: u64 = 1 << 20;
/// Bytes of a file that is registered: somebody meant it.
const REGISTERED: u64 = 16 << 20;

/// What can be looked up.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The project's folder.
    pub root: PathBuf,
    /// The folder that the index is kept in; `None` where it is made for one run, in memory.
    pub kept_in: Option<PathBuf>,
    /// Only files that these match; `None` for all.
    pub include: Option<Globs>,
    /// No file that these match.
    pub exclude: Globs,
    /// Files taken besides, whatever hides or excludes them.
    pub documents: Globs,
    /// Files that are no context: the templates themselves, which would answer their own questions best.
    pub apart: BTreeSet<String>,
}

/// A file that is not looked up although one might think so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Its path, or the pattern that names none.
    pub path: String,
    /// Why.
    pub why: Why,
}

/// Why a file is not looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Why {
    /// It holds no text.
    #[error("it holds no text")]
    Binary,
    /// It is too large.
    #[error("it is larger than {} MiB", .limit >> 20)]
    TooLarge {
        /// Bytes that it may have.
        limit: u64,
    },
    /// It cannot be read.
    #[error("it cannot be read: {reason}")]
    Unreadable {
        /// What the system says.
        reason: String,
    },
    /// A registered document that is not there.
    #[error("there is no such file")]
    Missing,
    /// Registered documents, or files to look up, outside the project.
    #[error("it lies outside the project's folder")]
    Outside,
}

/// A file that can be looked up.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Its path relative to the project's folder, with `/`.
    pub(super) name: String,
    /// As it is opened.
    pub(super) path: PathBuf,
    /// Its stamp when it was found.
    pub(super) stamp: Stamp,
    /// Bytes that it may have.
    pub(super) limit: u64,
}

/// Every file that can be looked up, by name, and what was left out.
pub(super) fn survey(scope: &Scope) -> (Vec<Candidate>, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let mut found = BTreeMap::new();
    let real_root = RealFs.canonical(&scope.root);
    // A link that a pattern names, or leads through, is followed where it stays in the project.
    let leaves = |start: &Path| match (&real_root, RealFs.canonical(start)) {
        (Ok(root), Ok(real)) => !real.starts_with(root),
        _ => false,
    };
    let mut starts = Vec::new();
    match &scope.include {
        None => starts.push(scope.root.clone()),
        Some(include) => {
            for pattern in include.written() {
                let start = scope.root.join(fixed(pattern));
                if leaves(&start) {
                    skipped.push(Skipped { path: pattern.clone(), why: Why::Outside });
                } else {
                    starts.push(start);
                }
            }
        }
    }
    let is_meant = |name: &str| {
        let included = scope.include.as_ref().is_none_or(|globs| globs.matches(name));
        included && !scope.exclude.matches(name) && !scope.apart.contains(name)
    };
    let barred = SkippedFolders::default();
    for start in starts.iter().filter(|start| fs::exists(start) && barred.lets_begin(start)) {
        walk(scope, start, Hidden::LeftOut(&barred), FOUND, &is_meant, &mut found);
    }
    skipped.extend(barred.met().into_iter().map(|path| {
        let reason = format!("{IRREGULAR}, so nothing below its folder is looked up");
        Skipped { path: named(scope, &path), why: Why::Unreadable { reason } }
    }));
    for pattern in scope.documents.written() {
        let mut globs = Globs::default();
        // It was taken from patterns that were read.
        if globs.add(pattern).is_err() {
            continue;
        }
        let start = scope.root.join(fixed(pattern));
        if leaves(&start) {
            skipped.push(Skipped { path: pattern.clone(), why: Why::Outside });
            continue;
        }
        let mut registered = BTreeMap::new();
        if fs::exists(&start) {
            walk(scope, &start, Hidden::Taken, REGISTERED, &|name| globs.matches(name), &mut registered);
        }
        if registered.is_empty() {
            skipped.push(Skipped { path: pattern.clone(), why: Why::Missing });
        }
        found.append(&mut registered);
    }
    let mut candidates = Vec::with_capacity(found.len());
    for (name, candidate) in found {
        if candidate.stamp.len > candidate.limit {
            skipped.push(Skipped { path: name, why: Why::TooLarge { limit: candidate.limit } });
        } else {
            candidates.push(candidate);
        }
    }
    (candidates, skipped)
}

/// What becomes of files that are hidden, by a dot or by `.gitignore`.
#[derive(Clone, Copy)]
enum Hidden<'b> {
    LeftOut(&'b SkippedFolders),
    Taken,
}

fn walk(
    scope: &Scope,
    start: &Path,
    hidden: Hidden<'_>,
    limit: u64,
    is_meant: &(dyn Fn(&str) -> bool + Sync),
    found: &mut BTreeMap<String, Candidate>,
) {
    let mut walk = WalkBuilder::new(start);
    let barred = match hidden {
        Hidden::LeftOut(barred) => Some(barred.clone()),
        Hidden::Taken => None,
    };
    walk.standard_filters(barred.is_some()).require_git(false).git_global(false).git_exclude(false);
    walk.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_open = || barred.as_ref().is_none_or(|barred| !is_folder || barred.lets_in(entry.path()));
        entry.file_name() != ".git" && is_open()
    });
    let all = Mutex::new(found);
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            // What cannot be looked into has no files; a folder that is gone meanwhile has none either.
            let candidate = entry.ok().and_then(|entry| candidate(scope, &entry, limit, is_meant));
            if let Some(candidate) = candidate {
                all.lock().unwrap_or_else(PoisonError::into_inner).insert(candidate.name.clone(), candidate);
            }
            WalkState::Continue
        })
    });
}

fn candidate(scope: &Scope, entry: &DirEntry, limit: u64, is_meant: &dyn Fn(&str) -> bool) -> Option<Candidate> {
    if !entry.file_type().is_some_and(|kind| kind.is_file()) {
        return None;
    }
    let name = named(scope, entry.path());
    if !is_meant(&name) {
        return None;
    }
    let stamp = RealFs.stamp(entry.path()).ok()?;
    Some(Candidate { name, path: entry.path().to_path_buf(), stamp, limit })
}

/// A path relative to the project's folder, with `/`.
fn named(scope: &Scope, path: &Path) -> String {
    let inside = path.strip_prefix(&scope.root).unwrap_or(path);
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
