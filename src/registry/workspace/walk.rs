//! A parallel walk from the paths given to a command to their files; each file is passed on as soon
//! as it is found.
//!
//! Decides by name alone (`*.xml`, `.gitignore`, the project's globs); the visitor reads the
//! contents. Ignores all settings of the machine (no global ignore file), so that every machine
//! finds the same files.

use super::batch::Batch;
use super::names::{name_in, slashed};
use crate::base::contained_path::leads_out;
use crate::base::fs;
use crate::base::fs::irregular;
use crate::base::parallel::spawn_deep;
use crate::base::patterns::SkippedFolders;
use crate::project::config::Templates;
use crate::project::glob::Globs;
use crate::project::path_patterns;
use ignore::{DirEntry, WalkBuilder};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Fewer given files than this are visited by one thread, since a thread costs more than a few
/// files.
const FEW: usize = 8;

/// The number of batches that the walk may be ahead of the visiting threads.
const AHEAD: usize = 64;
/// A path where a walk starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The path to open.
    pub(super) path: PathBuf,
    /// Its name, see [`name_in`]: without a trailing slash; empty for the root itself.
    pub(super) name: String,
}

/// The files and folders to walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The project's folder; the names of ignore files are relative to it.
    root: PathBuf,
    /// The project's folder and the given folders; links must not lead out of them.
    homes: Vec<PathBuf>,
    /// Folders of the project behind a link that leads out of it.
    outside: Vec<Start>,
    /// Given files: visited whatever their names and contents.
    pub(super) files: Vec<Start>,
    /// Folders to walk.
    pub(super) folders: Vec<Start>,
    /// The configured template folders that do not exist yet.
    pub(super) absent: Vec<PathBuf>,
    /// The files to visit in folders; all if `None`.
    pub(super) include: Option<Globs>,
    /// The files to skip in folders.
    pub(super) exclude: Globs,
}

/// A file that was found.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) path: &'a Path,
    pub(super) name: &'a str,
    /// The way it was selected.
    pub(super) by: By,
}

impl Found<'_> {
    /// Reads its bytes. A pipe is read only if the caller named it.
    pub(super) fn read(&self, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.name.contains(char::REPLACEMENT_CHARACTER) && self.path.to_str().is_none() {
            return Err(io::Error::other(fs::STRANGE));
        }
        let read = if self.by == By::Name {
            fs::read_into
        } else {
            fs::read_own
        };
        read(self.path, limit, bytes).map(drop)
    }
}

/// The way a file was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Found in a folder.
    Walk,
    /// Named by the caller.
    Name,
}

/// The visitor of one thread.
pub(super) trait Visit: Send {
    /// Visits a file.
    fn file(&mut self, found: &Found<'_>);

    /// Reports a folder or file that could not be read.
    fn unreadable(&mut self, name: &str, error: io::Error);

    /// Enters a folder.
    fn folder(&mut self, _path: &Path) {}

    /// Reports a file that is a link to another one; it is visited too.
    fn link(&mut self, _path: &Path) {}
}

/// A path that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing(pub(super) PathBuf);

impl Plan {
    /// The plan for the paths of a command; if none is given, for those that the project
    /// configures.
    pub(super) fn new(
        root: &Path,
        given: &[PathBuf],
        templates: &Templates,
    ) -> Result<Self, Missing> {
        let Templates {
            include, exclude, ..
        } = templates;
        let mut plan = Self {
            root: root.to_path_buf(),
            exclude: exclude.clone(),
            ..Self::default()
        };
        plan.homes = std::iter::once(root)
            .chain(given.iter().map(PathBuf::as_path))
            .map(Path::to_path_buf)
            .collect();
        for path in given {
            if !fs::exists(path) {
                return Err(Missing(path.clone()));
            }
            let start = Start {
                path: path.clone(),
                name: name_in(root, path),
            };
            if fs::is_dir(path) {
                plan.folders.push(start);
            } else {
                plan.files.push(start);
            }
        }
        if given.is_empty() {
            plan.include.clone_from(include);
            let starts = include
                .as_ref()
                .map_or_else(|| vec![usual(root)], |globs| bases(root, globs));
            // A pattern can name a folder that does not exist yet.
            let (there, absent): (Vec<Start>, Vec<Start>) = starts
                .into_iter()
                .partition(|start| fs::exists(&start.path));
            (plan.outside, plan.folders) = there
                .into_iter()
                .partition(|start| plan.leads_out(&start.path).is_some());
            plan.absent = absent.into_iter().map(|start| start.path).collect();
        }
        plan.files.sort_by(|a, b| a.name.cmp(&b.name));
        plan.files.dedup_by(|a, b| a.name == b.name);
        Ok(plan)
    }

    /// The number of threads for the walk. Counting the cores costs more than checking a file, so
    /// it is skipped for a few given files.
    pub(super) fn threads(&self, asked: Option<NonZeroUsize>) -> NonZeroUsize {
        if self.folders.is_empty() && self.files.len() < FEW {
            return NonZeroUsize::MIN;
        }
        asked
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }

    /// Visits every file once for each path that leads to it. `make` creates the visitor of each
    /// thread.
    pub(super) fn run<V: Visit>(&self, threads: NonZeroUsize, make: impl Fn() -> V + Sync) {
        self.named(threads, &make);
        for start in &self.outside {
            if let Some(error) = self.leads_out(&start.path) {
                make().unreadable(&start.name, error);
            }
        }
        if self.folders.is_empty() {
            return;
        }
        let barred = SkippedFolders::default();
        let Some(walk) = self.builder(threads, &barred) else {
            return self.barred(&barred, &make);
        };
        // The threads of the walk have small stacks, so other threads visit the files.
        let (send, found) = sync_channel(AHEAD);
        let found = Arc::new(Mutex::new(found));
        let visit = |found: Arc<Mutex<Receiver<_>>>| {
            let mut visitor = make();
            let next = || found.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok(batch) = next() {
                for entry in batch {
                    match entry {
                        Ok(entry) => self.entry(&entry, &mut visitor),
                        Err(error) => self.failed(error, &mut visitor),
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads.get() {
                let found = Arc::clone(&found);
                spawn_deep(scope, move || visit(found));
            }
            drop(found);
            walk.build_parallel().run(|| {
                let mut batch = Batch::new(send.clone());
                Box::new(move |entry| batch.add(entry))
            });
            drop(send);
        });
        self.barred(&barred, &make);
    }

    fn builder(&self, threads: NonZeroUsize, barred: &SkippedFolders) -> Option<WalkBuilder> {
        let mut starts = self
            .folders
            .iter()
            .filter(|start| barred.lets_begin(&start.path));
        let mut walk = WalkBuilder::new(&starts.next()?.path);
        for start in starts {
            walk.add(&start.path);
        }
        barred.guard(&mut walk);
        walk.threads(threads.get());
        Some(walk)
    }

    /// Reports the ignore files that kept the walk out of folders.
    fn barred<V: Visit>(&self, barred: &SkippedFolders, make: &impl Fn() -> V) {
        let met = barred.met();
        let Some(mut visitor) = (!met.is_empty()).then(make) else {
            return;
        };
        for path in met {
            visitor.unreadable(&name_in(&self.root, &path), irregular());
        }
    }

    fn entry(&self, entry: &DirEntry, visitor: &mut impl Visit) {
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            visitor.folder(entry.path());
            return;
        }
        if entry.path_is_symlink() && fs::is_dir(entry.path()) {
            return self.link_to_folder(entry, visitor);
        }
        if !is_xml(entry) {
            return;
        }
        let name = self.name(entry.path());
        if self.exclude.matches(&name)
            || self
                .include
                .as_ref()
                .is_some_and(|globs| !globs.matches(&name))
        {
            return;
        }
        // A pipe or a socket is not a template, and opening one can block forever.
        let is_irregular = entry
            .file_type()
            .is_none_or(|kind| !kind.is_file() && !kind.is_symlink());
        if is_irregular
            || entry.path_is_symlink() && fs::exists(entry.path()) && !fs::is_file(entry.path())
        {
            return visitor.unreadable(&name, irregular());
        }
        if entry.path_is_symlink() {
            if let Some(error) = self.leads_out(entry.path()) {
                return visitor.unreadable(&name, error);
            }
            visitor.link(entry.path());
        }
        visitor.file(&Found {
            path: entry.path(),
            name: &name,
            by: By::Walk,
        });
    }

    /// Links to folders are not followed. A link out of the project is reported only within the
    /// template folders: elsewhere in a project such links belong to builds or packages.
    fn link_to_folder(&self, entry: &DirEntry, visitor: &mut impl Visit) {
        let is_among_templates = self
            .folders
            .iter()
            .any(|start| !start.name.is_empty() && entry.path().starts_with(&start.path));
        let name = self.name(entry.path());
        if is_among_templates
            && !self.exclude.matches(&name)
            && let Some(error) = self.leads_out(entry.path())
        {
            visitor.unreadable(&name, error);
        }
    }

    /// The error for a link that leads out of the project and of every given folder.
    fn leads_out(&self, path: &Path) -> Option<io::Error> {
        let out = self
            .homes
            .iter()
            .map(|home| leads_out(&fs::RealFs, home, path))
            .collect::<Option<Vec<_>>>();
        out?.pop()
    }

    fn failed(&self, error: ignore::Error, visitor: &mut impl Visit) {
        let name = path_of(&error)
            .map(|path| self.name(path))
            .unwrap_or_default();
        // An invalid line in a `.gitignore` only disables that line.
        if let Some(error) = error.into_io_error() {
            visitor.unreadable(if name.is_empty() { "." } else { &name }, error);
        }
    }

    /// The name of a file below one of the folders.
    fn name(&self, path: &Path) -> String {
        let mut folders = self.folders.iter();
        let below = folders
            .find_map(|start| Some((start.name.as_str(), path.strip_prefix(&start.path).ok()?)));
        let Some((prefix, rest)) = below else {
            return slashed(path);
        };
        let rest = slashed(rest);
        if prefix.is_empty() || rest.is_empty() {
            format!("{prefix}{rest}")
        } else {
            format!("{prefix}/{rest}")
        }
    }

    fn named<V: Visit>(&self, threads: NonZeroUsize, make: &(impl Fn() -> V + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut visitor = make();
            while let Some(file) = self.files.get(next.fetch_add(1, Ordering::Relaxed)) {
                visitor.file(&Found {
                    path: &file.path,
                    name: &file.name,
                    by: By::Name,
                });
            }
        };
        match self.files.len() {
            0 => {}
            1..FEW => work(),
            _ => std::thread::scope(|scope| {
                for _ in 0..threads.get() {
                    spawn_deep(scope, work);
                }
            }),
        }
    }
}

fn is_xml(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().ends_with(b".xml")
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Loop { child, .. } => Some(child),
        ignore::Error::Partial(_)
        | ignore::Error::Io(_)
        | ignore::Error::Glob { .. }
        | ignore::Error::UnrecognizedFileType(_)
        | ignore::Error::InvalidDefinition => None,
    }
}

/// `templates/` if it exists, or the project's folder.
fn usual(root: &Path) -> Start {
    let templates = root.join("templates");
    if fs::is_dir(&templates) {
        return Start {
            path: templates,
            name: "templates".to_owned(),
        };
    }
    Start {
        path: root.to_path_buf(),
        name: String::new(),
    }
}

/// The folders that contain every possible match of some globs.
fn bases(root: &Path, globs: &Globs) -> Vec<Start> {
    let place = |name: &str| {
        if name.is_empty() {
            root.to_path_buf()
        } else {
            root.join(name)
        }
    };
    base_names(globs)
        .into_iter()
        .map(|name| Start {
            path: place(&name),
            name,
        })
        .collect()
}

/// The names of those folders in the project.
pub(super) fn base_names(globs: &Globs) -> Vec<String> {
    let mut names: Vec<String> = globs
        .written()
        .iter()
        .map(|pattern| path_patterns::fixed(pattern))
        .collect();
    names.sort();
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        let is_below = |above: &String| {
            above.is_empty() || name == *above || name.starts_with(&format!("{above}/"))
        };
        if !kept.iter().any(is_below) {
            kept.push(name);
        }
    }
    kept
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/workspace/walk.rs"]
mod tests;
