//! Selects the files for lookups: documents and source files of the project, or those that its
//! patterns match, and registered documents. Never includes files with names of keys, files that a
//! role protects, or, unless they are registered, files that `.gitignore` excludes.
//!
//! Reads no file. Does not follow links, so that nothing outside the project is included, and
//! ignores settings of the machine such as a global ignore file. The result is sorted by name,
//! independent of the order of the file walk.

use super::default_types::is_document_or_source;
use crate::base::fs::{self, NOT_A_REGULAR_FILE, ReadFs, RealFs, Stamp};
use crate::base::patterns::SkippedFolders;
use crate::base::secrets::key_files::is_key_file;
use crate::project::glob::{Globs, fixed_prefix};
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The maximum size in bytes of a file that is found by a file walk.
const MAX_FOUND_BYTES: u64 = 1 << 20;
/// The maximum size in bytes of a registered file, which is larger because it was chosen
/// explicitly.
const MAX_REGISTERED_BYTES: u64 = 16 << 20;

/// The configuration of the files for lookups.
#[derive(Clone, Debug, Default)]
pub struct IndexScope {
    /// The project's folder.
    pub root: PathBuf,
    /// The folder of the index; `None` for an index in memory, for one run.
    pub cache_folder: Option<PathBuf>,
    /// Only files that match, of any type; `None` for all documents and source files.
    pub include: Option<Globs>,
    /// Excludes files that match.
    pub exclude: Globs,
    /// Additional files, even if they are hidden or excluded.
    pub documents: Globs,
    /// Excluded files: the templates themselves, which would match their own queries best.
    pub excluded_files: BTreeSet<String>,
    /// Files that the tools of a role may not touch, by role.
    pub protected: BTreeMap<String, Globs>,
}

impl IndexScope {
    /// Decides by the name if a file can be looked up; `None` for a file that is silently ignored.
    pub fn check_name(&self, name: &str) -> Option<Result<(), SkipReason>> {
        if self.documents.matches(name) {
            return Some(reject_key_name(name));
        }
        let is_included = self
            .include
            .as_ref()
            .is_none_or(|globs| globs.matches(name));
        if !is_included || self.exclude.matches(name) || self.excluded_files.contains(name) {
            return None;
        }
        let is_type = || {
            if self.include.is_some() || is_document_or_source(name) {
                Ok(())
            } else {
                Err(SkipReason::Type)
            }
        };
        Some(reject_key_name(name).and_then(|()| is_type()))
    }

    /// Returns the role that protects a file from an agent: the agent's own; for an agent without a
    /// role, any role that protects some files but not all.
    pub(super) fn protecting_role(&self, role: Option<&str>, path: &str) -> Option<&str> {
        let protects = |(name, globs): &(&String, &Globs)| {
            role.map_or_else(|| !globs.matches_everything(), |role| role == *name)
                && globs.matches(path)
        };
        self.protected
            .iter()
            .find(protects)
            .map(|(name, _)| name.as_str())
    }
}

/// Rejects files with names of keys.
fn reject_key_name(name: &str) -> Result<(), SkipReason> {
    if is_key_file(name) {
        Err(SkipReason::KeyName)
    } else {
        Ok(())
    }
}

/// A file that is excluded from lookups although a user might expect it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedFile {
    /// Its path, or the pattern that matches no file.
    pub path: String,
    /// The reason.
    pub why: SkipReason,
}

/// The reason why a file is excluded from lookups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SkipReason {
    /// It holds no text.
    #[error("it holds no text")]
    Binary,
    /// It is too large.
    #[error("it is larger than {} MiB", .limit >> 20)]
    TooLarge {
        /// The maximum size in bytes.
        limit: u64,
    },
    /// It cannot be read.
    #[error("it cannot be read: {reason}")]
    Unreadable {
        /// The message of the system.
        reason: String,
    },
    /// A registered document does not exist.
    #[error("there is no such file")]
    Missing,
    /// A registered document or an included file is outside the project.
    #[error("it lies outside the project's folder")]
    Outside,
    /// The file is neither a document nor source, and no pattern includes it.
    #[error("its type is not looked up unless `[context] include` names it")]
    Type,
    /// The name is typical of keys, credentials and environment files.
    #[error("its name is that of a key, a credential or an environment file")]
    KeyName,
    /// The text contains a key or credentials.
    #[error("it holds a key or credentials")]
    KeyText,
    /// A role protects the file.
    #[error("role `{role}` protects it")]
    Protected {
        /// The role.
        role: String,
    },
    /// A pattern matches a file that `.gitignore` excludes.
    #[error("`.gitignore` names it; `[context] documents` takes files that it names")]
    Ignored,
}

/// A file that can be looked up.
#[derive(Clone, Debug)]
pub(super) struct IndexCandidate {
    /// Its path relative to the project's folder, with `/`.
    pub(super) name: String,
    /// The path to open it.
    pub(super) path: PathBuf,
    /// Its stamp during the file walk.
    pub(super) stamp: Stamp,
    /// The maximum size in bytes.
    pub(super) limit: u64,
}

/// Returns every file for lookups, by name, and the skipped files.
pub(super) fn select_files(scope: &IndexScope) -> (Vec<IndexCandidate>, Vec<SkippedFile>) {
    let mut skipped = Vec::new();
    let mut found = SelectedFiles::default();
    let real_root = RealFs.canonicalize(&scope.root);
    // A link in a pattern is followed if it stays in the project.
    let leaves = |start: &Path| match (&real_root, RealFs.canonicalize(start)) {
        (Ok(root), Ok(real)) => !real.starts_with(root),
        _ => false,
    };
    let barred = SkippedFolders::default();
    let mut starts = Vec::new();
    match &scope.include {
        None => starts.push(scope.root.clone()),
        Some(include) => {
            for pattern in include.patterns() {
                let start = scope.root.join(fixed_prefix(pattern));
                if leaves(&start) {
                    skipped.push(SkippedFile {
                        path: pattern.clone(),
                        why: SkipReason::Outside,
                    });
                } else if barred.allows_start(&start) && is_ignored(&scope.root, &start) {
                    skipped.push(SkippedFile {
                        path: pattern.clone(),
                        why: SkipReason::Ignored,
                    });
                } else {
                    starts.push(start);
                }
            }
        }
    }
    let verdict = |name: &str| scope.check_name(name);
    for start in starts
        .iter()
        .filter(|start| fs::exists(start) && barred.allows_start(start))
    {
        walk_files(
            scope,
            start,
            HiddenFiles::Skip(&barred),
            MAX_FOUND_BYTES,
            &verdict,
            &mut found,
        );
    }
    skipped.extend(barred.blocking_files().into_iter().map(|path| {
        let reason = format!("{NOT_A_REGULAR_FILE}, so nothing below its folder is looked up");
        SkippedFile {
            path: relative_name(scope, &path),
            why: SkipReason::Unreadable { reason },
        }
    }));
    for pattern in scope.documents.patterns() {
        let mut globs = Globs::default();
        // The pattern was valid when it was read.
        if globs.add_pattern(pattern).is_err() {
            continue;
        }
        let start = scope.root.join(fixed_prefix(pattern));
        if leaves(&start) {
            skipped.push(SkippedFile {
                path: pattern.clone(),
                why: SkipReason::Outside,
            });
            continue;
        }
        let mut registered = SelectedFiles::default();
        if fs::exists(&start) {
            let verdict = |name: &str| globs.matches(name).then(|| reject_key_name(name));
            walk_files(
                scope,
                &start,
                HiddenFiles::Include,
                MAX_REGISTERED_BYTES,
                &verdict,
                &mut registered,
            );
        }
        if registered.taken.is_empty() && registered.left_out.is_empty() {
            skipped.push(SkippedFile {
                path: pattern.clone(),
                why: SkipReason::Missing,
            });
        }
        found.taken.append(&mut registered.taken);
        found.left_out.append(&mut registered.left_out);
    }
    let SelectedFiles {
        taken: found,
        left_out,
    } = found;
    skipped.extend(
        left_out
            .into_iter()
            .map(|(path, why)| SkippedFile { path, why }),
    );
    let mut candidates = Vec::with_capacity(found.len());
    for (name, candidate) in found {
        if candidate.stamp.len > candidate.limit {
            skipped.push(SkippedFile {
                path: name,
                why: SkipReason::TooLarge {
                    limit: candidate.limit,
                },
            });
        } else {
            candidates.push(candidate);
        }
    }
    (candidates, skipped)
}

/// The treatment of files that are hidden, by a dot or by `.gitignore`.
#[derive(Clone, Copy)]
enum HiddenFiles<'b> {
    Skip(&'b SkippedFolders),
    Include,
}

/// Files by their names.
#[derive(Debug, Default)]
struct SelectedFiles {
    taken: BTreeMap<String, IndexCandidate>,
    left_out: BTreeMap<String, SkipReason>,
}

/// Decides by the name if a file can be looked up; `None` for a file that is silently ignored.
type NameFilter<'v> = &'v (dyn Fn(&str) -> Option<Result<(), SkipReason>> + Sync);

/// Returns true if `.gitignore` excludes the start of a file walk, which the file walk itself does
/// not check.
fn is_ignored(root: &Path, start: &Path) -> bool {
    let (Ok(root), Ok(start)) = (RealFs.canonicalize(root), RealFs.canonicalize(start)) else {
        return false;
    };
    let Ok(inside) = start.strip_prefix(&root) else {
        return false;
    };
    let depth = inside.components().count();
    if depth == 0 {
        return false;
    }
    let mut walk = WalkBuilder::new(&root);
    walk.standard_filters(true)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .max_depth(Some(depth));
    let end = start.clone();
    walk.filter_entry(move |entry| end.starts_with(entry.path()));
    !walk.build().flatten().any(|entry| entry.path() == start)
}

fn walk_files(
    scope: &IndexScope,
    start: &Path,
    hidden: HiddenFiles<'_>,
    limit: u64,
    verdict: NameFilter<'_>,
    found: &mut SelectedFiles,
) {
    let mut walk = WalkBuilder::new(start);
    let barred = match hidden {
        HiddenFiles::Skip(barred) => Some(barred.clone()),
        HiddenFiles::Include => None,
    };
    walk.standard_filters(barred.is_some())
        .require_git(false)
        .git_global(false)
        .git_exclude(false);
    walk.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_open = || {
            barred
                .as_ref()
                .is_none_or(|barred| !is_folder || barred.allows_folder(entry.path()))
        };
        entry.file_name() != ".git" && is_open()
    });
    let all = Mutex::new(found);
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            // An unreadable or deleted folder contains no files.
            let file = entry
                .ok()
                .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
            if let Some(entry) = file {
                let name = relative_name(scope, entry.path());
                let verdict = verdict(&name)
                    .map(|verdict| verdict.map(|()| new_candidate(&entry, &name, limit)));
                let all = || all.lock().unwrap_or_else(PoisonError::into_inner);
                match verdict {
                    Some(Ok(Some(candidate))) => drop(all().taken.insert(name, candidate)),
                    Some(Err(why)) => drop(all().left_out.insert(name, why)),
                    Some(Ok(None)) | None => {}
                }
            }
            WalkState::Continue
        })
    });
}

fn new_candidate(entry: &DirEntry, name: &str, limit: u64) -> Option<IndexCandidate> {
    let stamp = RealFs.stamp(entry.path()).ok()?;
    Some(IndexCandidate {
        name: name.to_owned(),
        path: entry.path().to_path_buf(),
        stamp,
        limit,
    })
}

/// Returns a path relative to the project's folder, with `/`.
fn relative_name(scope: &IndexScope, path: &Path) -> String {
    let inside = path.strip_prefix(&scope.root).unwrap_or(path);
    let parts: Vec<_> = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
