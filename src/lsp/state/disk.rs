//! The files of a project on disk, and their changes outside the editor.

use super::project::{PROJECT_FILE, ProjectState};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::project::read;
use crate::registry::workspace::files::{self, FileSelection};
use crate::scenario::table::NamedThingKind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The extensions of files that a client is asked to watch. Other files that templates reference
/// are polled.
pub(in crate::lsp) const WATCHED_EXTENSIONS: [&str; 12] = [
    "xml", "toml", "md", "txt", "json", "j2", "jinja", "jinja2", "yaml", "yml", "csv", "jsonl",
];

impl ProjectState {
    /// Compares all files on disk with their last read state and marks the changed ones. Returns
    /// true if any changed.
    pub(in crate::lsp) fn poll_all(&mut self) -> bool {
        let is_moved = self.poll_files(|_| true);
        let is_new = |name: &Arc<str>| self.documents.get(name).is_none();
        let is_gone = |on_disk: &BTreeSet<Arc<str>>| {
            let mut own = self
                .documents
                .iter()
                .map(|(name, _)| name)
                .filter(|name| !self.open.contains_key(*name));
            own.any(|name| !on_disk.contains(name))
        };
        let is_other = self
            .files_on_disk()
            .is_some_and(|(files, _)| files.iter().any(is_new) || is_gone(&files));
        let is_other = is_other || {
            let closed = |name: &&Arc<str>| !self.open.contains_key(*name);
            let on_disk = self.scenarios_on_disk(&self.inner);
            !on_disk
                .iter()
                .filter(closed)
                .eq(self.suites.keys().filter(closed))
        };
        let is_changed = is_other || is_moved;
        if is_changed {
            self.schedule_walk();
        }
        is_changed
    }

    /// Compares the files that the client does not watch with their last read state. Returns true
    /// if any changed.
    pub(in crate::lsp) fn poll_unwatched(&mut self) -> bool {
        self.poll_files(|name| !is_watched(name))
    }

    /// Returns true if the project references files that the client does not watch.
    pub(in crate::lsp) fn has_unwatched(&self) -> bool {
        !self.is_watched || self.stamps.keys().any(|name| !is_watched(name))
    }

    fn poll_files(&mut self, is_wanted: impl Fn(&str) -> bool) -> bool {
        let closed = self
            .stamps
            .iter()
            .filter(|(name, _)| is_wanted(name) && !self.open.contains_key(*name));
        let changed =
            closed.filter(|(name, seen)| RealFs.stamp(&self.root.join(&***name)).ok() != **seen);
        let changed: Vec<Arc<str>> = changed.map(|(name, _)| Arc::clone(name)).collect();
        for name in &changed {
            self.record_stamp(name);
            self.mark_changed(name);
        }
        !changed.is_empty()
    }

    /// Returns the possible templates of the project and the folders of nested projects, to which
    /// all files below them belong. `None` if the files cannot be listed.
    pub(in crate::lsp) fn files_on_disk(&self) -> Option<(BTreeSet<Arc<str>>, BTreeSet<PathBuf>)> {
        if self.is_alone {
            return Some((
                self.open
                    .keys()
                    .filter(|name| self.is_xml(name))
                    .cloned()
                    .collect(),
                BTreeSet::new(),
            ));
        }
        let files = files::list_names(FileSelection {
            root: &self.root,
            config: &self.config,
            given: &[],
            threads: None,
        })
        .ok()?;
        let mut known = BTreeMap::new();
        let mut inner = BTreeSet::new();
        let mut own = BTreeSet::new();
        for name in &files {
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            match self.nested_project_around(folder, &mut known) {
                Some(project) => drop(inner.insert(project)),
                None => drop(own.insert(Arc::clone(name))),
            }
        }
        Some((own, inner))
    }

    /// Returns the folder of the innermost nested project that contains a folder.
    fn nested_project_around<'n>(
        &self,
        folder: &'n str,
        known: &mut BTreeMap<&'n str, Option<PathBuf>>,
    ) -> Option<PathBuf> {
        if folder.is_empty() {
            return None;
        }
        if let Some(project) = known.get(folder) {
            return project.clone();
        }
        let path = self.root.join(folder);
        let found = if fs::is_file(&path.join(PROJECT_FILE)) {
            Some(path)
        } else {
            self.nested_project_around(
                folder.rsplit_once('/').map_or("", |(above, _)| above),
                known,
            )
        };
        known.insert(folder, found.clone());
        found
    }

    /// The files below a folder that were read.
    pub(in crate::lsp) fn known_below(&self, folder: &str) -> Vec<Arc<str>> {
        let below = format!("{folder}/");
        let known = self
            .stamps
            .range(Arc::from(below.as_str())..)
            .map(|(name, _)| name);
        known
            .take_while(|name| name.starts_with(&below))
            .cloned()
            .collect()
    }

    /// Returns true if the project may read a file of this name, or files in a folder of this name.
    pub(in crate::lsp) fn is_known(&self, name: &str) -> bool {
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_read = base == ".gitignore" || is_watched(name) || self.stamps.contains_key(name);
        let folder = format!("{base}/");
        let is_named = || {
            self.suites
                .values()
                .flatten()
                .any(|read| read.text.contains(&folder))
        };
        is_read
            || fs::is_dir(&self.root.join(name))
            || self.is_named_in_project_file(name)
            || is_named()
    }

    /// The files that the project file names, without patterns and folders.
    pub(in crate::lsp) fn named_in_project_file(&self) -> Vec<Arc<str>> {
        let Some(file) = self.config.files.first() else {
            return Vec::new();
        };
        let named = read::named_things::named_things(&file.text).into_iter();
        let is_file = |path: &str| {
            !path.contains('*')
                && path
                    .rsplit('/')
                    .next()
                    .is_some_and(|base| base.contains('.'))
        };
        named
            .filter(|own| own.thing == NamedThingKind::Path && is_file(&own.value))
            .map(|own| Arc::from(own.value))
            .collect()
    }

    /// Returns true if the project file names a file, or a file in a folder.
    pub(in crate::lsp) fn is_named_in_project_file(&self, name: &str) -> bool {
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_it = |own: &Arc<str>| {
            own.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_there = self
            .config
            .files
            .first()
            .is_some_and(|file| file.text.contains(base));
        is_there && self.named_in_project_file().iter().any(is_it)
    }

    /// Records the state of a file on disk.
    pub(in crate::lsp) fn record_stamp(&mut self, name: &Arc<str>) {
        let stamp = RealFs.stamp(&self.root.join(&**name)).ok();
        self.stamps.insert(Arc::clone(name), stamp);
    }
}

/// Returns true if a client that watches files is asked to watch this one.
fn is_watched(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| WATCHED_EXTENSIONS.contains(&ending))
}
