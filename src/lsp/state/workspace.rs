//! The projects of a client, each with its own state, so that none affects another.
//!
//! As on the command line, a file belongs to the nearest folder above it with a project file;
//! otherwise to its workspace folder; otherwise it is a project of its own. A project is created
//! when one of its documents is opened or the workspace is searched. It is removed with its last
//! document, unless it belongs to the workspace.

use super::buffer::Buffer;
use super::project::{PROJECT, ProjectState};
use crate::base::fs::{self, ReadFs, RealFs};
use gen_lsp_types::Uri;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open document.
#[derive(Clone, Debug)]
struct Document {
    /// The key of its project.
    home: PathBuf,
    /// Its name in the project.
    name: Arc<str>,
}

/// The diagnostics of a document that were pushed to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum Shown {
    /// A list of diagnostics, possibly empty.
    Pushed,
    /// Nothing was pushed.
    Nothing,
}

/// All projects by their folders; a single file is its own key.
#[derive(Debug, Default)]
pub(in crate::lsp) struct Workspace {
    all: BTreeMap<PathBuf, ProjectState>,
    /// The workspace folders as the client spells them; unsaved documents belong to the first.
    folders: Vec<PathBuf>,
    /// Open documents by their URIs.
    open: BTreeMap<String, Document>,
    /// The client watches the files below these folders.
    watched: Vec<PathBuf>,
    /// Files of projects that have gone, whose findings are to be cleared.
    cleared: Vec<Uri>,
    /// Documents belong to other projects than the client was shown.
    is_rearranged: bool,
}

impl Workspace {
    /// Creates the projects of a workspace.
    pub(in crate::lsp) fn new(folders: Vec<PathBuf>) -> Self {
        let mut workspace = Self {
            folders,
            ..Self::default()
        };
        workspace.found();
        workspace
    }

    /// Returns every project.
    pub(in crate::lsp) fn all(&self) -> impl Iterator<Item = &ProjectState> {
        self.all.values()
    }

    /// Returns every project for changes.
    pub(in crate::lsp) fn all_mut(&mut self) -> impl Iterator<Item = &mut ProjectState> {
        self.all.values_mut()
    }

    /// Returns the projects of the workspace, ordered by folder.
    pub(in crate::lsp) fn of_workspace(&self) -> impl Iterator<Item = &ProjectState> {
        self.all
            .iter()
            .filter(|(key, _)| self.is_of_workspace(key))
            .map(|(_, project)| project)
    }

    /// Returns an open document with its project and its name there.
    pub(in crate::lsp) fn document(&self, uri: &Uri) -> Option<(&ProjectState, Arc<str>, &Buffer)> {
        let Document { home, name } = self.open.get(&uri.0)?;
        let project = self.all.get(home)?;
        Some((project, Arc::clone(name), project.open.get(name)?))
    }

    /// Returns the project of an open document for changes.
    pub(in crate::lsp) fn document_mut(
        &mut self,
        uri: &Uri,
    ) -> Option<(&mut ProjectState, Arc<str>)> {
        let Document { home, name } = self.open.get(&uri.0)?;
        Some((self.all.get_mut(home)?, Arc::clone(name)))
    }

    /// Returns the project of a file on disk, if it is loaded, and the file's name there.
    pub(in crate::lsp) fn file(&self, path: &Path) -> Option<(&ProjectState, Arc<str>)> {
        let project = self.all.get(&self.home(path))?;
        Some((project, project.name(path)))
    }

    /// A file changed on disk, came or went, or a folder. Returns whether it may matter to a
    /// project.
    pub(in crate::lsp) fn changed(&mut self, path: &Path) -> bool {
        let home = self.home(path);
        let mut is_known = false;
        // A template counts in its own project; a text, a list of what is ignored, a folder in
        // every one that it is in.
        let is_template = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        let is_in = |(key, project): &(&PathBuf, &mut ProjectState)| {
            **key == home || (!is_template && path.starts_with(&project.root))
        };
        for (_, project) in self.all.iter_mut().filter(is_in) {
            let name = project.name(path);
            let below = project.known_below(&name);
            if below.is_empty() && !project.is_known(&name) {
                continue;
            }
            is_known = true;
            // What is open counts as the editor has it.
            for name in below.into_iter().chain([name]) {
                if !project.open.contains_key(&name) {
                    project.touch(&name);
                }
            }
            project.rewalk();
        }
        is_known
    }

    /// Whether a path is that of a project file, or of a folder around one.
    pub(in crate::lsp) fn may_hold_project(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == PROJECT)
            || self
                .all
                .values()
                .any(|project| project.root.starts_with(path))
    }

    /// Whether documents belong to other projects since this was last asked.
    pub(in crate::lsp) fn take_rearranged(&mut self) -> bool {
        std::mem::take(&mut self.is_rearranged)
    }

    /// The files whose findings have gone with their projects, and were pushed.
    pub(in crate::lsp) fn take_cleared(&mut self) -> Vec<Uri> {
        std::mem::take(&mut self.cleared)
    }

    /// Handles a document that was opened or replaced.
    pub(in crate::lsp) fn open(&mut self, buffer: Buffer) {
        self.put(Arc::new(buffer));
    }

    /// Handles a closed document. Returns the kind of its last push, or `None` if it was not open.
    pub(in crate::lsp) fn close(&mut self, uri: &Uri) -> Option<Shown> {
        let Document { home, name } = self.open.remove(&uri.0)?;
        let project = self.all.get_mut(&home)?;
        project.close(&name)?;
        project
            .shown
            .said
            .borrow_mut()
            .retain(|(of, _)| *of != name);
        project.shown.edited.insert(Arc::clone(&name));
        let shown = if project.shown.pushed.remove(&name).is_some() {
            Shown::Pushed
        } else {
            Shown::Nothing
        };
        self.tidy();
        Some(shown)
    }

    /// Handles changes of the workspace folders.
    pub(in crate::lsp) fn change_folders(&mut self, removed: &[PathBuf], added: Vec<PathBuf>) {
        self.folders
            .retain(|folder| !removed.contains(folder) && !added.contains(folder));
        self.folders.extend(added);
        self.found();
        self.rehome();
    }

    /// Assigns open documents to their projects again after project files were added or removed.
    pub(in crate::lsp) fn rehome(&mut self) {
        self.found();
        let moved: Vec<(String, Document)> = self
            .open
            .iter()
            .map(|(uri, document)| (uri.clone(), document.clone()))
            .collect();
        for (uri, Document { home, name }) in moved {
            if self.home_of(&Uri(uri)) == home {
                continue;
            }
            let Some(project) = self.all.get_mut(&home) else {
                continue;
            };
            self.is_rearranged = true;
            project.shown.pushed.remove(&name);
            if let Some(buffer) = project.close(&name) {
                self.put(buffer);
            }
        }
        self.all.values_mut().for_each(ProjectState::rewalk);
        self.tidy();
    }

    /// Returns true if project files were added or removed without a notification.
    pub(in crate::lsp) fn is_stale(&self) -> bool {
        let used: BTreeSet<&PathBuf> = self.open.values().map(|document| &document.home).collect();
        let mut seen = BTreeSet::new();
        // Documents in one folder belong to one project, except single files.
        let mut open = self.open.iter().filter(|(uri, document)| {
            seen.insert((
                uri.rsplit_once('/').map(|(folder, _)| folder),
                &document.home,
            ))
        });
        open.any(|(uri, document)| self.home_of(&Uri(uri.clone())) != document.home)
            || self
                .all
                .keys()
                .any(|key| !used.contains(key) && !self.is_wanted(key))
    }

    /// Returns true if some files must be polled.
    pub(in crate::lsp) fn are_polled(&self) -> bool {
        self.all().any(ProjectState::has_unwatched)
    }

    /// Polls the files that the client does not watch. Returns true if any changed.
    pub(in crate::lsp) fn poll(&mut self) -> bool {
        let is_stale = self.is_stale();
        if is_stale {
            self.rehome();
        }
        let poll = |project: &mut ProjectState| {
            if project.is_watched {
                project.poll_unwatched()
            } else {
                project.poll()
            }
        };
        self.all
            .values_mut()
            .fold(is_stale, |is_changed, project| poll(project) || is_changed)
    }

    /// Updates all projects, including nested ones that are discovered on the way.
    pub(in crate::lsp) fn settle(&mut self) {
        let mut found: Vec<PathBuf> = Vec::new();
        for project in self.all.values_mut() {
            found.append(&mut project.settle());
        }
        while let Some(root) = found.pop() {
            if self.is_of_workspace(&root) && self.known(&root).is_none() {
                self.begin(root.clone());
                found.extend(
                    self.all
                        .get_mut(&root)
                        .map(ProjectState::settle)
                        .unwrap_or_default(),
                );
            }
        }
    }

    /// Returns the project folders of the workspace, and the workspace folders themselves.
    pub(in crate::lsp) fn bases(&self) -> (Vec<PathBuf>, &[PathBuf]) {
        let mut bases: Vec<PathBuf> = self.folders.iter().map(|folder| holder(folder)).collect();
        bases.sort();
        bases.dedup();
        (bases, &self.folders)
    }

    /// Records the folders that the client watches from now on.
    pub(in crate::lsp) fn are_watched(&mut self, below: Vec<PathBuf>) {
        self.watched = below;
        for project in self.all.values_mut() {
            project.is_watched = self
                .watched
                .iter()
                .any(|base| project.root.starts_with(base));
        }
    }

    fn put(&mut self, buffer: Arc<Buffer>) {
        let path = crate::lsp::uri::path(&buffer.uri);
        // A document that is not a file has its URI as name.
        let home = self.home_of(&buffer.uri);
        self.begin(home.clone());
        let Some(project) = self.all.get_mut(&home) else {
            return;
        };
        let name = path.map_or_else(
            || Arc::from(buffer.uri.0.as_str()),
            |path| project.name(&path),
        );
        // A file opened under two URIs has its name only under the first.
        let is_taken = project
            .open
            .get(&name)
            .is_some_and(|other| other.uri != buffer.uri);
        let name = if is_taken {
            Arc::from(buffer.uri.0.as_str())
        } else {
            name
        };
        self.open.insert(
            buffer.uri.0.clone(),
            Document {
                home,
                name: Arc::clone(&name),
            },
        );
        project.shown.edited.insert(Arc::clone(&name));
        project.put(&name, buffer);
    }

    /// Creates the projects of all workspace folders.
    fn found(&mut self) {
        for folder in self.folders.clone() {
            let root = holder(&folder);
            self.begin(root);
        }
    }

    /// Creates the project of a key, unless it exists.
    fn begin(&mut self, key: PathBuf) {
        if self.all.contains_key(&key) {
            return;
        }
        // A single file gets a project without other files.
        let is_alone = !holds_project(&key) && !self.folders.contains(&key);
        let folder = key.parent().filter(|folder| is_alone && folder.has_root());
        let mut project = ProjectState::new(folder.unwrap_or(&key).to_path_buf());
        project.is_alone = is_alone;
        project.is_watched = self
            .watched
            .iter()
            .any(|base| project.root.starts_with(base));
        self.all.insert(key, project);
    }

    /// Removes projects outside of the workspace of which nothing is open, and those whose file has
    /// gone.
    fn tidy(&mut self) {
        let used: BTreeSet<&PathBuf> = self.open.values().map(|document| &document.home).collect();
        let gone = self
            .all
            .keys()
            .filter(|key| !used.contains(key) && !self.is_wanted(key));
        let gone: Vec<PathBuf> = gone.cloned().collect();
        for project in gone.into_iter().filter_map(|key| self.all.remove(&key)) {
            let pushed = project
                .shown
                .pushed
                .iter()
                .filter(|(_, found)| !found.is_empty());
            self.cleared
                .extend(pushed.map(|(name, _)| crate::lsp::uri::of(&project.path(name))));
        }
    }

    /// Returns true if a project stays loaded without open documents.
    fn is_wanted(&self, key: &Path) -> bool {
        let is_folder = || {
            self.folders
                .iter()
                .any(|folder| folder == key && holder(folder) == *key)
        };
        self.is_of_workspace(key) && (holds_project(key) || is_folder())
    }

    /// Returns true if the project of a key belongs to the workspace.
    fn is_of_workspace(&self, key: &Path) -> bool {
        self.folders.iter().any(|folder| {
            key.starts_with(folder) || (folder.starts_with(key) && holder(folder) == *key)
        })
    }

    /// Returns the key of a document's project. An unsaved document can use the names of the first
    /// folder; other URIs without a file (an old version, a web page) are projects of their own.
    fn home_of(&self, uri: &Uri) -> PathBuf {
        if let Some(path) = crate::lsp::uri::path(uri) {
            return self.home(&path);
        }
        let first = self
            .folders
            .first()
            .filter(|_| uri.0.starts_with("untitled:"));
        first.map_or_else(|| PathBuf::from(&uri.0), |folder| holder(folder))
    }

    /// Returns the key of a file's project.
    fn home(&self, path: &Path) -> PathBuf {
        if let Some(holder) = path
            .ancestors()
            .skip(1)
            .find(|folder| holds_project(folder))
        {
            return self.known(holder).unwrap_or_else(|| holder.to_path_buf());
        }
        let parent = path.parent().unwrap_or(path);
        let around = self
            .folders
            .iter()
            .filter(|folder| parent.starts_with(folder));
        if let Some(folder) = around.max_by_key(|folder| folder.components().count()) {
            return folder.clone();
        }
        let real = RealFs.canonical(parent).unwrap_or_default();
        let by_links = |folder: &&PathBuf| {
            RealFs
                .canonical(folder)
                .is_ok_and(|folder| real.starts_with(folder))
        };
        self.folders
            .iter()
            .find(by_links)
            .map_or_else(|| path.to_path_buf(), |folder| holder(folder))
    }

    /// Returns the key of the loaded project with this folder, even if it is reached by other
    /// symbolic links.
    fn known(&self, folder: &Path) -> Option<PathBuf> {
        if self.all.contains_key(folder) {
            return Some(folder.to_path_buf());
        }
        let real = RealFs.canonical(folder).ok()?;
        self.all
            .keys()
            .find(|key| RealFs.canonical(key).is_ok_and(|own| own == real))
            .cloned()
    }
}

/// Returns the project folder of a workspace folder: the nearest one above it with a project file.
fn holder(folder: &Path) -> PathBuf {
    folder
        .ancestors()
        .find(|above| holds_project(above))
        .unwrap_or(folder)
        .to_path_buf()
}

/// Returns true if a folder contains a project file on disk.
fn holds_project(folder: &Path) -> bool {
    fs::is_file(&folder.join(PROJECT))
}
