//! A parallel walk from the paths given to a command to their files; each file is passed on as soon
//! as it is found.
//!
//! Decides by name alone (`*.xml`, `.gitignore`, the project's globs); the visitor reads the
//! contents. Ignores all settings of the machine (no global ignore file), so that every machine
//! finds the same files.

use super::request::{name_in, with_slashes};
use crate::base::contained_path::link_out_error;
use crate::base::fs::{self, irregular_file_error};
use crate::base::parallel::spawn_deep;
use crate::base::patterns::SkippedFolders;
use crate::project::config::Templates;
use crate::project::glob::{self, Globs};
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Fewer given files than this are visited by one thread, since a thread costs more than a few
/// files.
const MIN_PARALLEL_FILES: usize = 8;

/// The number of batches that the walk may be ahead of the visiting threads.
const MAX_QUEUED_BATCHES: usize = 64;
/// A path where a walk starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WalkStart {
    /// The path to open.
    pub(super) path: PathBuf,
    /// Its name, see [`name_in`]: without a trailing slash; empty for the root itself.
    pub(super) name: String,
}

/// The files and folders to walk.
#[derive(Clone, Debug, Default)]
pub(super) struct WalkPlan {
    /// The project's folder; the names of ignore files are relative to it.
    root: PathBuf,
    /// The project's folder and the given folders; links must not lead out of them.
    homes: Vec<PathBuf>,
    /// Folders of the project behind a link that leads out of it.
    outside: Vec<WalkStart>,
    /// Given files: visited whatever their names and contents.
    pub(super) files: Vec<WalkStart>,
    /// Folders to walk.
    pub(super) folders: Vec<WalkStart>,
    /// The configured template folders that do not exist yet.
    pub(super) absent: Vec<PathBuf>,
    /// The files to visit in folders; all if `None`.
    pub(super) include: Option<Globs>,
    /// The files to skip in folders.
    pub(super) exclude: Globs,
}

/// A file that was found.
#[derive(Debug)]
pub(super) struct FoundFile<'a> {
    pub(super) path: &'a Path,
    pub(super) name: &'a str,
    /// The way it was selected.
    pub(super) by: SelectedBy,
}

impl FoundFile<'_> {
    /// Reads its bytes. A pipe is read only if the caller named it.
    pub(super) fn read(&self, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.name.contains(char::REPLACEMENT_CHARACTER) && self.path.to_str().is_none() {
            return Err(io::Error::other(fs::NAME_NOT_UTF8));
        }
        let read = if self.by == SelectedBy::Name {
            fs::read_into
        } else {
            fs::read_regular
        };
        read(self.path, limit, bytes).map(drop)
    }
}

/// The way a file was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectedBy {
    /// Found in a folder.
    Walk,
    /// Named by the caller.
    Name,
}

/// The visitor of one thread.
pub(super) trait FileVisitor: Send {
    /// Visits a file.
    fn visit_file(&mut self, found: &FoundFile<'_>);

    /// Reports a folder or file that could not be read.
    fn report_unreadable(&mut self, name: &str, error: io::Error);

    /// Enters a folder.
    fn enter_folder(&mut self, _path: &Path) {}

    /// Reports a file that is a link to another one; it is visited too.
    fn visit_link(&mut self, _path: &Path) {}
}

/// A path that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingPath(pub(super) PathBuf);

impl WalkPlan {
    /// The plan for the paths of a command; if none is given, for those that the project
    /// configures.
    pub(super) fn new(
        root: &Path,
        given: &[PathBuf],
        templates: &Templates,
    ) -> Result<Self, MissingPath> {
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
                return Err(MissingPath(path.clone()));
            }
            let start = WalkStart {
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
            let starts = include.as_ref().map_or_else(
                || vec![default_start(root)],
                |globs| start_folders(root, globs),
            );
            // A pattern can name a folder that does not exist yet.
            let (there, absent): (Vec<WalkStart>, Vec<WalkStart>) = starts
                .into_iter()
                .partition(|start| fs::exists(&start.path));
            (plan.outside, plan.folders) = there
                .into_iter()
                .partition(|start| plan.outside_error(&start.path).is_some());
            plan.absent = absent.into_iter().map(|start| start.path).collect();
        }
        plan.files.sort_by(|a, b| a.name.cmp(&b.name));
        plan.files.dedup_by(|a, b| a.name == b.name);
        Ok(plan)
    }

    /// The number of threads for the walk. Counting the cores costs more than checking a file, so
    /// it is skipped for a few given files.
    pub(super) fn thread_count(&self, requested: Option<NonZeroUsize>) -> NonZeroUsize {
        if self.folders.is_empty() && self.files.len() < MIN_PARALLEL_FILES {
            return NonZeroUsize::MIN;
        }
        requested
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }

    /// Visits every file once for each path that leads to it. `make` creates the visitor of each
    /// thread.
    pub(super) fn run<V: FileVisitor>(&self, threads: NonZeroUsize, make: impl Fn() -> V + Sync) {
        self.visit_named_files(threads, &make);
        for start in &self.outside {
            if let Some(error) = self.outside_error(&start.path) {
                make().report_unreadable(&start.name, error);
            }
        }
        if self.folders.is_empty() {
            return;
        }
        let barred = SkippedFolders::default();
        let Some(walk) = self.walk_builder(threads, &barred) else {
            return self.report_skipped_folders(&barred, &make);
        };
        // The threads of the walk have small stacks, so other threads visit the files.
        let (send, found) = sync_channel(MAX_QUEUED_BATCHES);
        let found = Arc::new(Mutex::new(found));
        let visit = |found: Arc<Mutex<Receiver<_>>>| {
            let mut visitor = make();
            let next = || found.lock().unwrap_or_else(PoisonError::into_inner).recv();
            while let Ok(batch) = next() {
                for entry in batch {
                    match entry {
                        Ok(entry) => self.visit_entry(&entry, &mut visitor),
                        Err(error) => self.report_error(error, &mut visitor),
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
                let mut batch = EntryBatch::new(send.clone());
                Box::new(move |entry| batch.push(entry))
            });
            drop(send);
        });
        self.report_skipped_folders(&barred, &make);
    }

    fn walk_builder(&self, threads: NonZeroUsize, barred: &SkippedFolders) -> Option<WalkBuilder> {
        let mut starts = self
            .folders
            .iter()
            .filter(|start| barred.allows_start(&start.path));
        let mut walk = WalkBuilder::new(&starts.next()?.path);
        for start in starts {
            walk.add(&start.path);
        }
        barred.guard_walk(&mut walk);
        walk.threads(threads.get());
        Some(walk)
    }

    /// Reports the ignore files that kept the walk out of folders.
    fn report_skipped_folders<V: FileVisitor>(
        &self,
        barred: &SkippedFolders,
        make: &impl Fn() -> V,
    ) {
        let met = barred.blocking_files();
        let Some(mut visitor) = (!met.is_empty()).then(make) else {
            return;
        };
        for path in met {
            visitor.report_unreadable(&name_in(&self.root, &path), irregular_file_error());
        }
    }

    fn visit_entry(&self, entry: &DirEntry, visitor: &mut impl FileVisitor) {
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            visitor.enter_folder(entry.path());
            return;
        }
        if entry.path_is_symlink() && fs::is_dir(entry.path()) {
            return self.visit_folder_link(entry, visitor);
        }
        if !is_xml(entry) {
            return;
        }
        let name = self.file_name(entry.path());
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
            return visitor.report_unreadable(&name, irregular_file_error());
        }
        if entry.path_is_symlink() {
            if let Some(error) = self.outside_error(entry.path()) {
                return visitor.report_unreadable(&name, error);
            }
            visitor.visit_link(entry.path());
        }
        visitor.visit_file(&FoundFile {
            path: entry.path(),
            name: &name,
            by: SelectedBy::Walk,
        });
    }

    /// Links to folders are not followed. A link out of the project is reported only within the
    /// template folders: elsewhere in a project such links belong to builds or packages.
    fn visit_folder_link(&self, entry: &DirEntry, visitor: &mut impl FileVisitor) {
        let is_among_templates = self
            .folders
            .iter()
            .any(|start| !start.name.is_empty() && entry.path().starts_with(&start.path));
        let name = self.file_name(entry.path());
        if is_among_templates
            && !self.exclude.matches(&name)
            && let Some(error) = self.outside_error(entry.path())
        {
            visitor.report_unreadable(&name, error);
        }
    }

    /// The error for a link that leads out of the project and of every given folder.
    fn outside_error(&self, path: &Path) -> Option<io::Error> {
        let out = self
            .homes
            .iter()
            .map(|home| link_out_error(&fs::RealFs, home, path))
            .collect::<Option<Vec<_>>>();
        out?.pop()
    }

    fn report_error(&self, error: ignore::Error, visitor: &mut impl FileVisitor) {
        let name = error_path(&error)
            .map(|path| self.file_name(path))
            .unwrap_or_default();
        // An invalid line in a `.gitignore` only disables that line.
        if let Some(error) = error.into_io_error() {
            visitor.report_unreadable(if name.is_empty() { "." } else { &name }, error);
        }
    }

    /// The name of a file below one of the folders.
    fn file_name(&self, path: &Path) -> String {
        let mut folders = self.folders.iter();
        let below = folders
            .find_map(|start| Some((start.name.as_str(), path.strip_prefix(&start.path).ok()?)));
        let Some((prefix, rest)) = below else {
            return with_slashes(path);
        };
        let rest = with_slashes(rest);
        if prefix.is_empty() || rest.is_empty() {
            format!("{prefix}{rest}")
        } else {
            format!("{prefix}/{rest}")
        }
    }

    fn visit_named_files<V: FileVisitor>(
        &self,
        threads: NonZeroUsize,
        make: &(impl Fn() -> V + Sync),
    ) {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut visitor = make();
            while let Some(file) = self.files.get(next.fetch_add(1, Ordering::Relaxed)) {
                visitor.visit_file(&FoundFile {
                    path: &file.path,
                    name: &file.name,
                    by: SelectedBy::Name,
                });
            }
        };
        match self.files.len() {
            0 => {}
            1..MIN_PARALLEL_FILES => work(),
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

fn error_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            error_path(err)
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
fn default_start(root: &Path) -> WalkStart {
    let templates = root.join("templates");
    if fs::is_dir(&templates) {
        return WalkStart {
            path: templates,
            name: "templates".to_owned(),
        };
    }
    WalkStart {
        path: root.to_path_buf(),
        name: String::new(),
    }
}

/// The folders that contain every possible match of some globs.
fn start_folders(root: &Path, globs: &Globs) -> Vec<WalkStart> {
    let place = |name: &str| {
        if name.is_empty() {
            root.to_path_buf()
        } else {
            root.join(name)
        }
    };
    base_names(globs)
        .into_iter()
        .map(|name| WalkStart {
            path: place(&name),
            name,
        })
        .collect()
}

/// The folders that contain every possible match of some globs, by their paths in the project. None
/// of them is inside another one.
pub(super) fn base_names(globs: &Globs) -> Vec<String> {
    let mut names: Vec<String> = globs
        .patterns()
        .iter()
        .map(|pattern| glob::fixed_prefix(pattern))
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

/// A directory entry, or the error in its place.
pub(super) type WalkEntry = Result<DirEntry, ignore::Error>;

/// Entries in a batch.
const BATCH_SIZE: usize = 64;

/// The entries that one thread of a walk has found and not passed on yet.
pub(super) struct EntryBatch {
    entries: Vec<WalkEntry>,
    send: SyncSender<Vec<WalkEntry>>,
}

impl EntryBatch {
    /// An empty batch that is sent to `send`.
    pub(super) fn new(send: SyncSender<Vec<WalkEntry>>) -> Self {
        Self {
            entries: Vec::new(),
            send,
        }
    }

    /// Adds an entry, and sends the batch once it is full; ends the walk if no receiver is left.
    pub(super) fn push(&mut self, entry: WalkEntry) -> WalkState {
        self.entries.push(entry);
        if self.entries.len() < BATCH_SIZE {
            WalkState::Continue
        } else {
            self.send_entries()
        }
    }

    fn send_entries(&mut self) -> WalkState {
        self.send
            .send(std::mem::take(&mut self.entries))
            .map_or(WalkState::Quit, |()| WalkState::Continue)
    }
}

impl Drop for EntryBatch {
    fn drop(&mut self) {
        self.send_entries();
    }
}
