//! The projects of a client, each with its own state, so that none affects another.
//!
//! As on the command line, a file belongs to the nearest folder above it with a project file;
//! otherwise to its workspace folder; otherwise it is a project of its own. A project is created
//! when one of its documents is opened or the workspace is searched. It is removed with its last
//! document, unless it belongs to the workspace.

use super::open_documents::DocumentBuffer;
use super::project::{PROJECT_FILE, ProjectState};
use crate::base::fs::{self, ReadFs, RealFs};
use gen_lsp_types::Uri;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open document.
#[derive(Clone, Debug)]
struct OpenDocument {
    /// The key of its project.
    home: PathBuf,
    /// Its name in the project.
    name: Arc<str>,
}

/// The diagnostics of a document that were pushed to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum PushedState {
    /// A list of diagnostics, possibly empty.
    Pushed,
    /// Nothing was pushed.
    Nothing,
}

/// All projects by their folders; a single file is its own key.
#[derive(Debug, Default)]
pub(in crate::lsp) struct LspWorkspace {
    all: BTreeMap<PathBuf, ProjectState>,
    /// The workspace folders as the client spells them; unsaved documents belong to the first.
    folders: Vec<PathBuf>,
    /// Open documents by their URIs.
    open: BTreeMap<String, OpenDocument>,
    /// The folders whose files the client watches.
    watched: Vec<PathBuf>,
    /// Files of removed projects whose findings must be cleared.
    cleared: Vec<Uri>,
    /// True if a document belongs to another project than when its findings were last sent.
    is_rearranged: bool,
}

impl LspWorkspace {
    /// Creates the projects of a workspace.
    pub(in crate::lsp) fn new(folders: Vec<PathBuf>) -> Self {
        let mut workspace = Self {
            folders,
            ..Self::default()
        };
        workspace.create_folder_projects();
        workspace
    }

    /// Returns every project.
    pub(in crate::lsp) fn projects(&self) -> impl Iterator<Item = &ProjectState> {
        self.all.values()
    }

    /// Returns every project for changes.
    pub(in crate::lsp) fn projects_mut(&mut self) -> impl Iterator<Item = &mut ProjectState> {
        self.all.values_mut()
    }

    /// Returns the projects of the workspace, ordered by folder.
    pub(in crate::lsp) fn workspace_projects(&self) -> impl Iterator<Item = &ProjectState> {
        self.all
            .iter()
            .filter(|(key, _)| self.is_in_workspace(key))
            .map(|(_, project)| project)
    }

    /// Returns an open document with its project and its name there.
    pub(in crate::lsp) fn document(
        &self,
        uri: &Uri,
    ) -> Option<(&ProjectState, Arc<str>, &DocumentBuffer)> {
        let OpenDocument { home, name } = self.open.get(&uri.0)?;
        let project = self.all.get(home)?;
        Some((project, Arc::clone(name), project.open.get(name)?))
    }

    /// Returns the project of an open document for changes.
    pub(in crate::lsp) fn document_mut(
        &mut self,
        uri: &Uri,
    ) -> Option<(&mut ProjectState, Arc<str>)> {
        let OpenDocument { home, name } = self.open.get(&uri.0)?;
        Some((self.all.get_mut(home)?, Arc::clone(name)))
    }

    /// Returns the project of a file on disk, if it is loaded, and the file's name there.
    pub(in crate::lsp) fn project_of_file(&self, path: &Path) -> Option<(&ProjectState, Arc<str>)> {
        let project = self.all.get(&self.home_of_path(path))?;
        Some((project, project.name_of_path(path)))
    }

    /// Handles a change of a file or folder on disk. Returns true if the change may matter to a
    /// project.
    pub(in crate::lsp) fn handle_disk_change(&mut self, path: &Path) -> bool {
        let home = self.home_of_path(path);
        let mut is_known = false;
        // A template matters only to its own project. A text, an ignore file or a folder matters to
        // every project that contains it.
        let is_template = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        for project in self.all.values_mut() {
            is_known |= project.note_package_change(path);
        }
        let is_in = |(key, project): &(&PathBuf, &mut ProjectState)| {
            **key == home || (!is_template && path.starts_with(&project.root))
        };
        for (_, project) in self.all.iter_mut().filter(is_in) {
            let name = project.name_of_path(path);
            let below = project.known_below(&name);
            if below.is_empty() && !project.is_known(&name) {
                continue;
            }
            is_known = true;
            // The editor's text of an open document has precedence over the file.
            for name in below.into_iter().chain([name]) {
                if !project.open.contains_key(&name) {
                    project.mark_changed(&name);
                }
            }
            project.schedule_walk();
        }
        is_known
    }

    /// Returns true if a path is that of a project file, or of a folder that may contain one.
    pub(in crate::lsp) fn may_hold_project(&self, path: &Path) -> bool {
        path.file_name().is_some_and(|name| name == PROJECT_FILE)
            || self
                .all
                .values()
                .any(|project| project.root.starts_with(path))
    }

    /// Returns true if documents have moved to other projects since the last call.
    pub(in crate::lsp) fn take_rearranged(&mut self) -> bool {
        std::mem::take(&mut self.is_rearranged)
    }

    /// Returns the files of removed projects whose findings were pushed, and forgets them.
    pub(in crate::lsp) fn take_cleared(&mut self) -> Vec<Uri> {
        std::mem::take(&mut self.cleared)
    }

    /// Handles a document that was opened or replaced.
    pub(in crate::lsp) fn open_document(&mut self, buffer: DocumentBuffer) {
        self.put_document(Arc::new(buffer));
    }

    /// Handles a closed document. Returns the kind of its last push, or `None` if it was not open.
    pub(in crate::lsp) fn close_document(&mut self, uri: &Uri) -> Option<PushedState> {
        let OpenDocument { home, name } = self.open.remove(&uri.0)?;
        let project = self.all.get_mut(&home)?;
        project.close_buffer(&name)?;
        project
            .shown
            .shown_messages
            .borrow_mut()
            .retain(|(of, _)| *of != name);
        project.shown.edited.insert(Arc::clone(&name));
        let shown = if project.shown.pushed.remove(&name).is_some() {
            PushedState::Pushed
        } else {
            PushedState::Nothing
        };
        self.remove_unused();
        Some(shown)
    }

    /// Handles changes of the workspace folders.
    pub(in crate::lsp) fn change_folders(&mut self, removed: &[PathBuf], added: Vec<PathBuf>) {
        self.folders
            .retain(|folder| !removed.contains(folder) && !added.contains(folder));
        self.folders.extend(added);
        self.create_folder_projects();
        self.reassign_documents();
    }

    /// Assigns open documents to their projects again after project files were added or removed.
    pub(in crate::lsp) fn reassign_documents(&mut self) {
        self.create_folder_projects();
        let open_documents: Vec<(String, OpenDocument)> = self
            .open
            .iter()
            .map(|(uri, document)| (uri.clone(), document.clone()))
            .collect();
        for (uri, OpenDocument { home, name }) in open_documents {
            if self.home_of_uri(&Uri(uri)) == home {
                continue;
            }
            let Some(project) = self.all.get_mut(&home) else {
                continue;
            };
            self.is_rearranged = true;
            project.shown.pushed.remove(&name);
            if let Some(buffer) = project.close_buffer(&name) {
                self.put_document(buffer);
            }
        }
        self.all.values_mut().for_each(ProjectState::schedule_walk);
        self.remove_unused();
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
        open.any(|(uri, document)| self.home_of_uri(&Uri(uri.clone())) != document.home)
            || self
                .all
                .keys()
                .any(|key| !used.contains(key) && !self.stays_loaded(key))
    }

    /// Returns true if some files must be polled.
    pub(in crate::lsp) fn needs_polling(&self) -> bool {
        self.projects().any(ProjectState::has_unwatched)
    }

    /// Polls the files that the client does not watch. Returns true if any changed.
    pub(in crate::lsp) fn poll_projects(&mut self) -> bool {
        let is_stale = self.is_stale();
        if is_stale {
            self.reassign_documents();
        }
        let poll = |project: &mut ProjectState| {
            if project.is_watched {
                project.poll_unwatched()
            } else {
                project.poll_all()
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
            if self.is_in_workspace(&root) && self.loaded_key(&root).is_none() {
                self.create_project(root.clone());
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
    pub(in crate::lsp) fn base_folders(&self) -> (Vec<PathBuf>, &[PathBuf]) {
        let mut bases: Vec<PathBuf> = self
            .folders
            .iter()
            .map(|folder| project_folder(folder))
            .collect();
        bases.sort();
        bases.dedup();
        (bases, &self.folders)
    }

    /// Records the folders that the client watches from now on.
    pub(in crate::lsp) fn set_watched_folders(&mut self, below: Vec<PathBuf>) {
        self.watched = below;
        for project in self.all.values_mut() {
            project.is_watched = self
                .watched
                .iter()
                .any(|base| project.root.starts_with(base));
        }
    }

    fn put_document(&mut self, buffer: Arc<DocumentBuffer>) {
        let path = crate::lsp::uri::to_path(&buffer.uri);
        // A document that is not a file has its URI as name.
        let home = self.home_of_uri(&buffer.uri);
        self.create_project(home.clone());
        let Some(project) = self.all.get_mut(&home) else {
            return;
        };
        let name = path.map_or_else(
            || Arc::from(buffer.uri.0.as_str()),
            |path| project.name_of_path(&path),
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
            OpenDocument {
                home,
                name: Arc::clone(&name),
            },
        );
        project.shown.edited.insert(Arc::clone(&name));
        project.put_buffer(&name, buffer);
    }

    /// Creates the projects of all workspace folders.
    fn create_folder_projects(&mut self) {
        for folder in self.folders.clone() {
            let root = project_folder(&folder);
            self.create_project(root);
        }
    }

    /// Creates the project of a key, unless it exists.
    fn create_project(&mut self, key: PathBuf) {
        if self.all.contains_key(&key) {
            return;
        }
        // A single file gets a project without other files.
        let is_alone = !has_project_file(&key) && !self.folders.contains(&key);
        let folder = key.parent().filter(|folder| is_alone && folder.has_root());
        let mut project = ProjectState::new(folder.unwrap_or(&key).to_path_buf());
        project.is_alone = is_alone;
        project.is_watched = self
            .watched
            .iter()
            .any(|base| project.root.starts_with(base));
        self.all.insert(key, project);
    }

    /// Removes projects outside of the workspace without open documents, and projects whose file no
    /// longer exists.
    fn remove_unused(&mut self) {
        let used: BTreeSet<&PathBuf> = self.open.values().map(|document| &document.home).collect();
        let deleted = self
            .all
            .keys()
            .filter(|key| !used.contains(key) && !self.stays_loaded(key));
        let deleted: Vec<PathBuf> = deleted.cloned().collect();
        for project in deleted.into_iter().filter_map(|key| self.all.remove(&key)) {
            let pushed = project
                .shown
                .pushed
                .iter()
                .filter(|(_, found)| !found.is_empty());
            self.cleared
                .extend(pushed.map(|(name, _)| crate::lsp::uri::from_path(&project.path(name))));
        }
    }

    /// Returns true if a project stays loaded without open documents.
    fn stays_loaded(&self, key: &Path) -> bool {
        let is_folder = || {
            self.folders
                .iter()
                .any(|folder| folder == key && project_folder(folder) == *key)
        };
        self.is_in_workspace(key) && (has_project_file(key) || is_folder())
    }

    /// Returns true if the project of a key belongs to the workspace.
    fn is_in_workspace(&self, key: &Path) -> bool {
        self.folders.iter().any(|folder| {
            key.starts_with(folder) || (folder.starts_with(key) && project_folder(folder) == *key)
        })
    }

    /// Returns the key of a document's project. An unsaved document can use the names of the first
    /// folder; other URIs without a file (an old version, a web page) are projects of their own.
    fn home_of_uri(&self, uri: &Uri) -> PathBuf {
        if let Some(path) = crate::lsp::uri::to_path(uri) {
            return self.home_of_path(&path);
        }
        let first = self
            .folders
            .first()
            .filter(|_| uri.0.starts_with("untitled:"));
        first.map_or_else(|| PathBuf::from(&uri.0), |folder| project_folder(folder))
    }

    /// Returns the key of a file's project.
    fn home_of_path(&self, path: &Path) -> PathBuf {
        if let Some(holder) = path
            .ancestors()
            .skip(1)
            .find(|folder| has_project_file(folder))
        {
            return self
                .loaded_key(holder)
                .unwrap_or_else(|| holder.to_path_buf());
        }
        let parent = path.parent().unwrap_or(path);
        let around = self
            .folders
            .iter()
            .filter(|folder| parent.starts_with(folder));
        if let Some(folder) = around.max_by_key(|folder| folder.components().count()) {
            return folder.clone();
        }
        let real = RealFs.canonicalize(parent).unwrap_or_default();
        let by_links = |folder: &&PathBuf| {
            RealFs
                .canonicalize(folder)
                .is_ok_and(|folder| real.starts_with(folder))
        };
        self.folders
            .iter()
            .find(by_links)
            .map_or_else(|| path.to_path_buf(), |folder| project_folder(folder))
    }

    /// Returns the key of the loaded project with this folder, even if it is reached by other
    /// symbolic links.
    fn loaded_key(&self, folder: &Path) -> Option<PathBuf> {
        if self.all.contains_key(folder) {
            return Some(folder.to_path_buf());
        }
        let real = RealFs.canonicalize(folder).ok()?;
        self.all
            .keys()
            .find(|key| RealFs.canonicalize(key).is_ok_and(|own| own == real))
            .cloned()
    }
}

/// Returns the project folder of a workspace folder: the nearest one above it with a project file.
fn project_folder(folder: &Path) -> PathBuf {
    folder
        .ancestors()
        .find(|above| has_project_file(above))
        .unwrap_or(folder)
        .to_path_buf()
}

/// Returns true if a folder contains a project file on disk.
fn has_project_file(folder: &Path) -> bool {
    fs::is_file(&folder.join(PROJECT_FILE))
}
