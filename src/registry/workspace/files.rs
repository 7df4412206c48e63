//! The files of a selection, by name alone, or each passed to a function on any thread; results are
//! sorted by name. Never interprets the contents of files.

use super::request::NoSuchPath;
use super::walk::{FileVisitor, FoundFile, MissingPath, SelectedBy, WalkPlan};
use crate::project::config::Config;
use crate::registry::compile::CompileReason;
use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file that was selected.
#[derive(Debug)]
pub struct SelectedFile<'f> {
    /// Its name in findings.
    pub name: &'f str,
    /// Its path on disk.
    pub path: &'f Path,
    /// The reason for its selection: it was named, or found in a folder.
    pub chosen: CompileReason,
    /// Its contents.
    pub bytes: io::Result<&'f [u8]>,
}

/// The folders and files of a selection.
#[derive(Clone, Copy, Debug)]
pub struct FileSelection<'w> {
    /// The project's folder.
    pub root: &'w Path,
    /// The project.
    pub config: &'w Config,
    /// Files and folders; if empty, those that the project configures.
    pub given: &'w [PathBuf],
    /// The maximum number of threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
}

/// Lists the files that may be templates, judged by their names alone.
///
/// # Errors
/// A given path does not exist.
pub fn list_names(place: FileSelection<'_>) -> Result<Vec<Arc<str>>, NoSuchPath> {
    let FileSelection {
        root,
        config,
        given,
        threads,
    } = place;
    let plan = WalkPlan::new(root, given, &config.templates)
        .map_err(|MissingPath(path)| NoSuchPath(path))?;
    let all = Mutex::new(Vec::new());
    plan.run(plan.thread_count(threads), || NameLister {
        found: Vec::new(),
        all: &all,
    });
    let mut files: Vec<Arc<str>> = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    files.sort();
    files.dedup();
    Ok(files)
}

struct NameLister<'w> {
    found: Vec<Arc<str>>,
    all: &'w Mutex<Vec<Arc<str>>>,
}

impl FileVisitor for NameLister<'_> {
    fn visit_file(&mut self, found: &FoundFile<'_>) {
        self.found.push(Arc::from(found.name));
    }

    fn report_unreadable(&mut self, _: &str, _: io::Error) {}
}

impl Drop for NameLister<'_> {
    fn drop(&mut self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut self.found);
    }
}

/// Calls `take` for every file, each once by name, and collects the results.
///
/// # Errors
/// A given path does not exist.
pub fn map_files<T: Send>(
    place: FileSelection<'_>,
    take: &(dyn Fn(&SelectedFile<'_>) -> Option<T> + Sync),
) -> Result<Vec<(String, T)>, NoSuchPath> {
    let FileSelection {
        root,
        config,
        given,
        threads,
    } = place;
    let plan = WalkPlan::new(root, given, &config.templates)
        .map_err(|MissingPath(path)| NoSuchPath(path))?;
    let all = Mutex::new(Vec::new());
    let seen = Mutex::new(BTreeSet::new());
    plan.run(plan.thread_count(threads), || FileWorker {
        limit: config.limits.file,
        take,
        seen: &seen,
        bytes: Vec::new(),
        done: Vec::new(),
        all: &all,
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(all)
}

struct FileWorker<'w, T: Send> {
    limit: u64,
    take: &'w (dyn Fn(&SelectedFile<'_>) -> Option<T> + Sync),
    /// The names already passed on: a file that is named and also lies in a given folder counts
    /// once.
    seen: &'w Mutex<BTreeSet<String>>,
    bytes: Vec<u8>,
    done: Vec<(String, T)>,
    all: &'w Mutex<Vec<(String, T)>>,
}

impl<T: Send> FileWorker<'_, T> {
    fn pass_on(&mut self, file: &SelectedFile<'_>) {
        let is_new = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(file.name.to_owned());
        if !is_new {
            return;
        }
        if let Some(taken) = (self.take)(file) {
            self.done.push((file.name.to_owned(), taken));
        }
    }
}

impl<T: Send> FileVisitor for FileWorker<'_, T> {
    fn visit_file(&mut self, found: &FoundFile<'_>) {
        let mut bytes = std::mem::take(&mut self.bytes);
        let read = found.read(self.limit, &mut bytes);
        let chosen = if found.by == SelectedBy::Name {
            CompileReason::Named
        } else {
            CompileReason::Found
        };
        let bytes_read = read.map(|()| bytes.as_slice());
        self.pass_on(&SelectedFile {
            name: found.name,
            path: found.path,
            chosen,
            bytes: bytes_read,
        });
        self.bytes = bytes;
    }

    fn report_unreadable(&mut self, name: &str, error: io::Error) {
        self.pass_on(&SelectedFile {
            name,
            path: Path::new(name),
            chosen: CompileReason::Named,
            bytes: Err(error),
        });
    }
}

impl<T: Send> Drop for FileWorker<'_, T> {
    fn drop(&mut self) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut self.done);
    }
}
