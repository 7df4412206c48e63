//! The projects that a client works in: a project for each, so that nothing of one counts in another.
//!
//! A file belongs to the nearest folder above it that has a project file, as on the command line; else to the folder of the
//! workspace that it is in; else to nobody but itself. A project is made when something of it is opened or the workspace is
//! looked at, and goes with its last document unless the workspace has it.

use super::buffer::Buffer;
use super::project::{PROJECT, ProjectState};
use crate::base::fs::{self, ReadFs, RealFs};
use gen_lsp_types::Uri;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A document that is open.
#[derive(Clone, Debug)]
struct Document {
    /// The key of its project.
    home: PathBuf,
    /// What its project calls it.
    name: Arc<str>,
}

/// What a client was shown of a document without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lsp) enum Shown {
    /// Diagnostics, perhaps none.
    Pushed,
    /// Nothing yet.
    Nothing,
}

/// All projects, by their folders; a file that is a project of its own has itself for a key.
#[derive(Debug, Default)]
pub(in crate::lsp) struct Workspace {
    all: BTreeMap<PathBuf, ProjectState>,
    /// The folders of the workspace, as the client says them; the first is where documents are that are no files.
    folders: Vec<PathBuf>,
    /// Open documents by their addresses.
    open: BTreeMap<String, Document>,
    /// Below these the client watches the files for us.
    watched: Vec<PathBuf>,
    /// Files of projects that have gone, whose findings are to be cleared.
    cleared: Vec<Uri>,
    /// Documents belong to other projects than the client was shown.
    is_rearranged: bool,
}

impl Workspace {
    /// The projects of a workspace.
    pub(in crate::lsp) fn new(folders: Vec<PathBuf>) -> Self {
        let mut workspace = Self { folders, ..Self::default() };
        workspace.found();
        workspace
    }

    /// Every project.
    pub(in crate::lsp) fn all(&self) -> impl Iterator<Item = &ProjectState> {
        self.all.values()
    }

    /// Every project, to change it.
    pub(in crate::lsp) fn all_mut(&mut self) -> impl Iterator<Item = &mut ProjectState> {
        self.all.values_mut()
    }

    /// The projects of the workspace, in the order of their folders.
    pub(in crate::lsp) fn of_workspace(&self) -> impl Iterator<Item = &ProjectState> {
        self.all.iter().filter(|(key, _)| self.is_of_workspace(key)).map(|(_, project)| project)
    }

    /// The project of an open document, with the name that it has there.
    pub(in crate::lsp) fn document(&self, uri: &Uri) -> Option<(&ProjectState, Arc<str>, &Buffer)> {
        let Document { home, name } = self.open.get(&uri.0)?;
        let project = self.all.get(home)?;
        Some((project, Arc::clone(name), project.open.get(name)?))
    }

    /// The same, to change it.
    pub(in crate::lsp) fn document_mut(&mut self, uri: &Uri) -> Option<(&mut ProjectState, Arc<str>)> {
        let Document { home, name } = self.open.get(&uri.0)?;
        Some((self.all.get_mut(home)?, Arc::clone(name)))
    }

    /// The project that a file on disk belongs to, if it is known, with the name that it has there.
    pub(in crate::lsp) fn file(&self, path: &Path) -> Option<(&ProjectState, Arc<str>)> {
        let project = self.all.get(&self.home(path))?;
        Some((project, project.name(path)))
    }

    /// A file changed on disk, came or went, or a folder. Returns whether it may matter to a project.
    pub(in crate::lsp) fn changed(&mut self, path: &Path) -> bool {
        let home = self.home(path);
        let mut is_known = false;
        // A template counts in its own project; a text, a list of what is ignored, a folder in every one that it is in.
        let is_template = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        let is_in =
            |(key, project): &(&PathBuf, &mut ProjectState)| **key == home || (!is_template && path.starts_with(&project.root));
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
        path.file_name().is_some_and(|name| name == PROJECT) || self.all.values().any(|project| project.root.starts_with(path))
    }

    /// Whether documents belong to other projects since this was last asked.
    pub(in crate::lsp) fn take_rearranged(&mut self) -> bool {
        std::mem::take(&mut self.is_rearranged)
    }

    /// The files whose findings have gone with their projects, and were pushed.
    pub(in crate::lsp) fn take_cleared(&mut self) -> Vec<Uri> {
        std::mem::take(&mut self.cleared)
    }

    /// A document was opened, or takes the place of another state of itself.
    pub(in crate::lsp) fn open(&mut self, buffer: Buffer) {
        self.put(Arc::new(buffer));
    }

    /// A document was closed. Gives what was last pushed of it, if anything was.
    pub(in crate::lsp) fn close(&mut self, uri: &Uri) -> Option<Shown> {
        let Document { home, name } = self.open.remove(&uri.0)?;
        let project = self.all.get_mut(&home)?;
        project.close(&name)?;
        project.shown.said.borrow_mut().retain(|(of, _)| *of != name);
        project.shown.edited.insert(Arc::clone(&name));
        let shown = if project.shown.pushed.remove(&name).is_some() { Shown::Pushed } else { Shown::Nothing };
        self.tidy();
        Some(shown)
    }

    /// Folders came to the workspace, and went.
    pub(in crate::lsp) fn change_folders(&mut self, removed: &[PathBuf], added: Vec<PathBuf>) {
        self.folders.retain(|folder| !removed.contains(folder) && !added.contains(folder));
        self.folders.extend(added);
        self.found();
        self.rehome();
    }

    /// Project files came or went: what is open may belong somewhere else now.
    pub(in crate::lsp) fn rehome(&mut self) {
        self.found();
        let moved: Vec<(String, Document)> = self.open.iter().map(|(uri, document)| (uri.clone(), document.clone())).collect();
        for (uri, Document { home, name }) in moved {
            if self.home_of(&Uri(uri)) == home {
                continue;
            }
            let Some(project) = self.all.get_mut(&home) else { continue };
            self.is_rearranged = true;
            project.shown.pushed.remove(&name);
            if let Some(buffer) = project.close(&name) {
                self.put(buffer);
            }
        }
        self.all.values_mut().for_each(ProjectState::rewalk);
        self.tidy();
    }

    /// Whether project files came or went without anybody saying so.
    pub(in crate::lsp) fn is_stale(&self) -> bool {
        let used: BTreeSet<&PathBuf> = self.open.values().map(|document| &document.home).collect();
        let mut seen = BTreeSet::new();
        // Documents of one folder have one home, but for those that are nobody's.
        let mut open = self
            .open
            .iter()
            .filter(|(uri, document)| seen.insert((uri.rsplit_once('/').map(|(folder, _)| folder), &document.home)));
        open.any(|(uri, document)| self.home_of(&Uri(uri.clone())) != document.home)
            || self.all.keys().any(|key| !used.contains(key) && !self.is_wanted(key))
    }

    /// Whether it is us who look at the files of some project.
    pub(in crate::lsp) fn are_polled(&self) -> bool {
        self.all().any(ProjectState::has_unwatched)
    }

    /// Poll at the files that nobody watches for us. Whether anything is not as it was.
    pub(in crate::lsp) fn poll(&mut self) -> bool {
        let is_stale = self.is_stale();
        if is_stale {
            self.rehome();
        }
        let poll = |project: &mut ProjectState| if project.is_watched { project.poll_unwatched() } else { project.poll() };
        self.all.values_mut().fold(is_stale, |is_changed, project| poll(project) || is_changed)
    }

    /// Brings everything up to date, projects that were found on the way among it.
    pub(in crate::lsp) fn settle(&mut self) {
        let mut found: Vec<PathBuf> = Vec::new();
        for project in self.all.values_mut() {
            found.append(&mut project.settle());
        }
        while let Some(root) = found.pop() {
            if self.is_of_workspace(&root) && self.known(&root).is_none() {
                self.begin(root.clone());
                found.extend(self.all.get_mut(&root).map(ProjectState::settle).unwrap_or_default());
            }
        }
    }

    /// The folders of the projects of the workspace, and those of the workspace itself.
    pub(in crate::lsp) fn bases(&self) -> (Vec<PathBuf>, &[PathBuf]) {
        let mut bases: Vec<PathBuf> = self.folders.iter().map(|folder| holder(folder)).collect();
        bases.sort();
        bases.dedup();
        (bases, &self.folders)
    }

    /// From now on the client watches the files below these folders.
    pub(in crate::lsp) fn are_watched(&mut self, below: Vec<PathBuf>) {
        self.watched = below;
        for project in self.all.values_mut() {
            project.is_watched = self.watched.iter().any(|base| project.root.starts_with(base));
        }
    }

    fn put(&mut self, buffer: Arc<Buffer>) {
        let path = crate::lsp::uri::path(&buffer.uri);
        // What is no file has its address for a name.
        let home = self.home_of(&buffer.uri);
        self.begin(home.clone());
        let Some(project) = self.all.get_mut(&home) else { return };
        let name = path.map_or_else(|| Arc::from(buffer.uri.0.as_str()), |path| project.name(&path));
        // A file that is open twice, by two spellings, is of the project under the first.
        let is_taken = project.open.get(&name).is_some_and(|other| other.uri != buffer.uri);
        let name = if is_taken { Arc::from(buffer.uri.0.as_str()) } else { name };
        self.open.insert(buffer.uri.0.clone(), Document { home, name: Arc::clone(&name) });
        project.shown.edited.insert(Arc::clone(&name));
        project.put(&name, buffer);
    }

    /// The projects of all folders are there.
    fn found(&mut self) {
        for folder in self.folders.clone() {
            let root = holder(&folder);
            self.begin(root);
        }
    }

    /// A project for a key.
    fn begin(&mut self, key: PathBuf) {
        if self.all.contains_key(&key) {
            return;
        }
        // A file has no project of which anything else is.
        let is_alone = !holds_project(&key) && !self.folders.contains(&key);
        let folder = key.parent().filter(|folder| is_alone && folder.has_root());
        let mut project = ProjectState::new(folder.unwrap_or(&key).to_path_buf());
        project.is_alone = is_alone;
        project.is_watched = self.watched.iter().any(|base| project.root.starts_with(base));
        self.all.insert(key, project);
    }

    /// Removes projects outside of the workspace of which nothing is open, and those whose file has gone.
    fn tidy(&mut self) {
        let used: BTreeSet<&PathBuf> = self.open.values().map(|document| &document.home).collect();
        let gone = self.all.keys().filter(|key| !used.contains(key) && !self.is_wanted(key));
        let gone: Vec<PathBuf> = gone.cloned().collect();
        for project in gone.into_iter().filter_map(|key| self.all.remove(&key)) {
            let pushed = project.shown.pushed.iter().filter(|(_, found)| !found.is_empty());
            self.cleared.extend(pushed.map(|(name, _)| crate::lsp::uri::of(&project.path(name))));
        }
    }

    /// Whether a project is one of the workspace whatever is open.
    fn is_wanted(&self, key: &Path) -> bool {
        let is_folder = || self.folders.iter().any(|folder| folder == key && holder(folder) == *key);
        self.is_of_workspace(key) && (holds_project(key) || is_folder())
    }

    /// Whether what is in a folder is of the workspace.
    fn is_of_workspace(&self, key: &Path) -> bool {
        self.folders.iter().any(|folder| key.starts_with(folder) || (folder.starts_with(key) && holder(folder) == *key))
    }

    /// The key of the project that a document belongs to. One that is not saved yet may use the names of the first folder;
    /// what is no file at all (an old version, a page) is nobody's.
    fn home_of(&self, uri: &Uri) -> PathBuf {
        if let Some(path) = crate::lsp::uri::path(uri) {
            return self.home(&path);
        }
        let first = self.folders.first().filter(|_| uri.0.starts_with("untitled:"));
        first.map_or_else(|| PathBuf::from(&uri.0), |folder| holder(folder))
    }

    /// The key of the project that a file belongs to.
    fn home(&self, path: &Path) -> PathBuf {
        if let Some(holder) = path.ancestors().skip(1).find(|folder| holds_project(folder)) {
            return self.known(holder).unwrap_or_else(|| holder.to_path_buf());
        }
        let parent = path.parent().unwrap_or(path);
        let around = self.folders.iter().filter(|folder| parent.starts_with(folder));
        if let Some(folder) = around.max_by_key(|folder| folder.components().count()) {
            return folder.clone();
        }
        let real = RealFs.canonical(parent).unwrap_or_default();
        let by_links = |folder: &&PathBuf| RealFs.canonical(folder).is_ok_and(|folder| real.starts_with(folder));
        self.folders.iter().find(by_links).map_or_else(|| path.to_path_buf(), |folder| holder(folder))
    }

    /// The key of a project whose folder this is, by whichever links it is reached.
    fn known(&self, folder: &Path) -> Option<PathBuf> {
        if self.all.contains_key(folder) {
            return Some(folder.to_path_buf());
        }
        let real = RealFs.canonical(folder).ok()?;
        self.all.keys().find(|key| RealFs.canonical(key).is_ok_and(|own| own == real)).cloned()
    }
}

/// The folder of the project that a folder of the workspace is in: a project file above it speaks for it.
fn holder(folder: &Path) -> PathBuf {
    folder.ancestors().find(|above| holds_project(above)).unwrap_or(folder).to_path_buf()
}

/// Whether a folder has a project file on disk.
fn holds_project(folder: &Path) -> bool {
    fs::is_file(&folder.join(PROJECT))
}
