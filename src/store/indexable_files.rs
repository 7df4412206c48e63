//! Which files can be looked up: documents and source of the project, or what its patterns name, and documents that are registered. Never
//! those that are named as keys are, that a role protects, or, unless they are registered, that `.gitignore` hides.
//!
//! Reads no file. Links are not followed, so nothing outside the project comes in by one; nothing of the machine counts (no
//! global ignore file). The result is sorted by name, whatever order the folders were walked in.

use super::default_types::is_document_or_source;
use crate::base::fs::IRREGULAR;
use crate::base::fs::{self, ReadFs, RealFs, Stamp};
use crate::base::patterns::SkippedFolders;
use crate::base::secrets::key_files::is_key_file;
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
    /// Only files that these match, whatever their types; `None` for all documents and source files.
    pub include: Option<Globs>,
    /// No file that these match.
    pub exclude: Globs,
    /// Files taken besides, whatever hides or excludes them.
    pub documents: Globs,
    /// Files that are no context: the templates themselves, which would answer their own questions best.
    pub apart: BTreeSet<String>,
    /// Files that the tools of a role may not touch, by the names of roles.
    pub protected: BTreeMap<String, Globs>,
}

impl Scope {
    /// Whether a file can be looked up, by its name alone; `None` where nobody would think so.
    pub fn verdict(&self, name: &str) -> Option<Result<(), Why>> {
        if self.documents.matches(name) {
            return Some(allow(name));
        }
        let is_included = self.include.as_ref().is_none_or(|globs| globs.matches(name));
        if !is_included || self.exclude.matches(name) || self.apart.contains(name) {
            return None;
        }
        let is_type = || if self.include.is_some() || is_document_or_source(name) { Ok(()) } else { Err(Why::Type) };
        Some(allow(name).and_then(|()| is_type()))
    }

    /// The role that keeps a file from an agent: the agent's own; where it has none, each that protects some files and not all.
    pub(super) fn protector(&self, role: Option<&str>, path: &str) -> Option<&str> {
        let protects = |(name, globs): &(&String, &Globs)| {
            role.map_or_else(|| !globs.matches_everything(), |role| role == *name) && globs.matches(path)
        };
        self.protected.iter().find(protects).map(|(name, _)| name.as_str())
    }
}

/// Refuses a file that no pattern of the project brings in.
fn allow(name: &str) -> Result<(), Why> {
    if is_key_file(name) { Err(Why::KeyName) } else { Ok(()) }
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
    /// It is neither a document nor source, and no pattern names it.
    #[error("its type is not looked up unless `[context] include` names it")]
    Type,
    /// It is named as keys, credentials and environment files are.
    #[error("its name is that of a key, a credential or an environment file")]
    KeyName,
    /// Its text is a key or credentials.
    #[error("it holds a key or credentials")]
    KeyText,
    /// It is protected.
    #[error("role `{role}` protects it")]
    Protected {
        /// Whose tools may not touch it.
        role: String,
    },
    /// A pattern names what `.gitignore` hides.
    #[error("`.gitignore` names it; `[context] documents` takes files that it names")]
    Ignored,
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
    let mut found = Files::default();
    let real_root = RealFs.canonical(&scope.root);
    // A link that a pattern names, or leads through, is followed where it stays in the project.
    let leaves = |start: &Path| match (&real_root, RealFs.canonical(start)) {
        (Ok(root), Ok(real)) => !real.starts_with(root),
        _ => false,
    };
    let barred = SkippedFolders::default();
    let mut starts = Vec::new();
    match &scope.include {
        None => starts.push(scope.root.clone()),
        Some(include) => {
            for pattern in include.written() {
                let start = scope.root.join(fixed(pattern));
                if leaves(&start) {
                    skipped.push(Skipped { path: pattern.clone(), why: Why::Outside });
                } else if barred.lets_begin(&start) && is_ignored(&scope.root, &start) {
                    skipped.push(Skipped { path: pattern.clone(), why: Why::Ignored });
                } else {
                    starts.push(start);
                }
            }
        }
    }
    let verdict = |name: &str| scope.verdict(name);
    for start in starts.iter().filter(|start| fs::exists(start) && barred.lets_begin(start)) {
        walk(scope, start, Hidden::LeftOut(&barred), FOUND, &verdict, &mut found);
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
        let mut registered = Files::default();
        if fs::exists(&start) {
            let verdict = |name: &str| globs.matches(name).then(|| allow(name));
            walk(scope, &start, Hidden::Taken, REGISTERED, &verdict, &mut registered);
        }
        if registered.taken.is_empty() && registered.left_out.is_empty() {
            skipped.push(Skipped { path: pattern.clone(), why: Why::Missing });
        }
        found.taken.append(&mut registered.taken);
        found.left_out.append(&mut registered.left_out);
    }
    let Files { taken: found, left_out } = found;
    skipped.extend(left_out.into_iter().map(|(path, why)| Skipped { path, why }));
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

/// Files by their names.
#[derive(Debug, Default)]
struct Files {
    taken: BTreeMap<String, Candidate>,
    left_out: BTreeMap<String, Why>,
}

/// Whether a file can be looked up, by its name; `None` where nobody would think so.
type Verdict<'v> = &'v (dyn Fn(&str) -> Option<Result<(), Why>> + Sync);

/// Whether `.gitignore` hides where a walk is to begin, which no walk that begins there asks.
fn is_ignored(root: &Path, start: &Path) -> bool {
    let (Ok(root), Ok(start)) = (RealFs.canonical(root), RealFs.canonical(start)) else { return false };
    let Ok(inside) = start.strip_prefix(&root) else { return false };
    let depth = inside.components().count();
    if depth == 0 {
        return false;
    }
    let mut walk = WalkBuilder::new(&root);
    walk.standard_filters(true).hidden(false).require_git(false).git_global(false).git_exclude(false).max_depth(Some(depth));
    let end = start.clone();
    walk.filter_entry(move |entry| end.starts_with(entry.path()));
    !walk.build().flatten().any(|entry| entry.path() == start)
}

fn walk(scope: &Scope, start: &Path, hidden: Hidden<'_>, limit: u64, verdict: Verdict<'_>, found: &mut Files) {
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
            let file = entry.ok().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
            if let Some(entry) = file {
                let name = named(scope, entry.path());
                let verdict = verdict(&name).map(|verdict| verdict.map(|()| candidate(&entry, &name, limit)));
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

fn candidate(entry: &DirEntry, name: &str, limit: u64) -> Option<Candidate> {
    let stamp = RealFs.stamp(entry.path()).ok()?;
    Some(Candidate { name: name.to_owned(), path: entry.path().to_path_buf(), stamp, limit })
}

/// A path relative to the project's folder, with `/`.
fn named(scope: &Scope, path: &Path) -> String {
    let inside = path.strip_prefix(&scope.root).unwrap_or(path);
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
