//! The projects that a client works in: a world for each, so that nothing of one counts in another.
//!
//! A file belongs to the nearest folder above it that has a project file, as on the command line; else to the folder of the
//! workspace that it is in; else to nobody but itself. A world is made when something of it is opened or the workspace is
//! looked at, and goes with its last document unless the workspace has it.

use super::buffer::Buffer;
use super::world::{PROJECT, World};
use crate::base::fs::{self, ReadFs, RealFs};
use gen_lsp_types::Uri;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A document that is open.
#[derive(Clone, Debug)]
struct Document {
    /// The key of its world.
    home: PathBuf,
    /// What its world calls it.
    name: Arc<str>,
}

/// What a client was shown of a document without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Diagnostics, perhaps none.
    Pushed,
    /// Nothing yet.
    Nothing,
}

/// All projects, by their folders; a file that is a project of its own has itself for a key.
#[derive(Debug, Default)]
pub(super) struct Worlds {
    all: BTreeMap<PathBuf, World>,
    /// The folders of the workspace, as the client says them; the first is where documents are that are no files.
    folders: Vec<PathBuf>,
    /// Open documents by their addresses.
    open: BTreeMap<String, Document>,
    /// Below these the client watches the files for us.
    watched: Vec<PathBuf>,
}

impl Worlds {
    /// The projects of a workspace.
    pub(super) fn new(folders: Vec<PathBuf>) -> Self {
        let mut worlds = Self { folders, ..Self::default() };
        worlds.found();
        worlds
    }

    /// Every project.
    pub(super) fn all(&self) -> impl Iterator<Item = &World> {
        self.all.values()
    }

    /// Every project, to change it.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut World> {
        self.all.values_mut()
    }

    /// The projects of the workspace, in the order of their folders.
    pub(super) fn of_workspace(&self) -> impl Iterator<Item = &World> {
        self.all.iter().filter(|(key, _)| self.is_of_workspace(key)).map(|(_, world)| world)
    }

    /// The project of an open document, with the name that it has there.
    pub(super) fn document(&self, uri: &Uri) -> Option<(&World, Arc<str>, &Buffer)> {
        let Document { home, name } = self.open.get(&uri.0)?;
        let world = self.all.get(home)?;
        Some((world, Arc::clone(name), world.open.get(name)?))
    }

    /// The same, to change it.
    pub(super) fn document_mut(&mut self, uri: &Uri) -> Option<(&mut World, Arc<str>)> {
        let Document { home, name } = self.open.get(&uri.0)?;
        Some((self.all.get_mut(home)?, Arc::clone(name)))
    }

    /// The project that a file on disk belongs to, if it is known, with the name that it has there.
    pub(super) fn file(&self, path: &Path) -> Option<(&World, Arc<str>)> {
        let world = self.all.get(&self.home(path))?;
        Some((world, world.name(path)))
    }

    /// A file changed on disk, came or went.
    pub(super) fn changed(&mut self, path: &Path) {
        let home = self.home(path);
        // A template counts in its own project; a text, a list of what is ignored, a folder in every one that it is in.
        let is_template = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"));
        let is_in = |(key, world): &(&PathBuf, &mut World)| **key == home || (!is_template && path.starts_with(&world.root));
        for (_, world) in self.all.iter_mut().filter(is_in) {
            let name = world.name(path);
            // What is open counts as the editor has it.
            if !world.open.contains_key(&name) {
                world.touch(&name);
            }
            world.rewalk();
        }
    }

    /// A document was opened, or takes the place of another state of itself.
    pub(super) fn open(&mut self, buffer: Buffer) {
        let path = super::uri::path(&buffer.uri);
        self.put(Arc::new(buffer));
        if path.as_deref().is_some_and(is_unsaved_project) {
            self.rehome();
        }
    }

    /// A document was closed. Gives what was last pushed of it, if anything was.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<Shown> {
        let Document { home, name } = self.open.remove(&uri.0)?;
        let world = self.all.get_mut(&home)?;
        world.close(&name)?;
        world.said.borrow_mut().retain(|(of, _)| *of != name);
        world.edited.insert(Arc::clone(&name));
        let shown = if world.pushed.remove(&name).is_some() { Shown::Pushed } else { Shown::Nothing };
        if super::uri::path(uri).as_deref().is_some_and(is_unsaved_project) {
            self.rehome();
        }
        self.tidy();
        Some(shown)
    }

    /// Folders came to the workspace, and went.
    pub(super) fn change_folders(&mut self, removed: &[PathBuf], added: Vec<PathBuf>) {
        self.folders.retain(|folder| !removed.contains(folder) && !added.contains(folder));
        self.folders.extend(added);
        self.found();
        self.rehome();
    }

    /// Project files came or went: what is open may belong somewhere else now.
    pub(super) fn rehome(&mut self) {
        self.found();
        let moved: Vec<(String, Document)> = self.open.iter().map(|(uri, document)| (uri.clone(), document.clone())).collect();
        for (uri, Document { home, name }) in moved {
            if self.home_of(&Uri(uri)) == home {
                continue;
            }
            let Some(world) = self.all.get_mut(&home) else { continue };
            world.pushed.remove(&name);
            if let Some(buffer) = world.close(&name) {
                self.put(buffer);
            }
        }
        let unsaved: BTreeSet<PathBuf> = self.unsaved().collect();
        for world in self.all.values_mut() {
            world.unsaved.clone_from(&unsaved);
            world.rewalk();
        }
        self.tidy();
    }

    /// Whether project files came or went without anybody saying so.
    pub(super) fn is_stale(&self) -> bool {
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
    pub(super) fn are_ours(&self) -> bool {
        self.all().any(|world| !world.is_watched)
    }

    /// Looks at the files that nobody watches for us. Whether anything is not as it was.
    pub(super) fn look(&mut self) -> bool {
        let is_stale = self.is_stale();
        if is_stale {
            self.rehome();
        }
        let worlds = self.all.values_mut().filter(|world| !world.is_watched);
        worlds.fold(is_stale, |is_changed, world| world.look() || is_changed)
    }

    /// Brings everything up to date, projects that were found on the way among it.
    pub(super) fn settle(&mut self) {
        let mut found: Vec<PathBuf> = Vec::new();
        for world in self.all.values_mut() {
            found.append(&mut world.settle());
        }
        while let Some(root) = found.pop() {
            if self.is_of_workspace(&root) && self.known(&root).is_none() {
                self.begin(root.clone());
                found.extend(self.all.get_mut(&root).map(World::settle).unwrap_or_default());
            }
        }
    }

    /// The folders of the projects of the workspace, and those of the workspace itself.
    pub(super) fn bases(&self) -> (Vec<PathBuf>, &[PathBuf]) {
        let mut bases: Vec<PathBuf> = self.folders.iter().map(|folder| self.holder(folder)).collect();
        bases.sort();
        bases.dedup();
        (bases, &self.folders)
    }

    /// From now on the client watches the files below these folders.
    pub(super) fn are_watched(&mut self, below: Vec<PathBuf>) {
        self.watched = below;
        for world in self.all.values_mut() {
            world.is_watched = self.watched.iter().any(|base| world.root.starts_with(base));
        }
    }

    fn put(&mut self, buffer: Arc<Buffer>) {
        let path = super::uri::path(&buffer.uri);
        // What is no file has its address for a name.
        let home = self.home_of(&buffer.uri);
        self.begin(home.clone());
        let Some(world) = self.all.get_mut(&home) else { return };
        let name = path.map_or_else(|| Arc::from(buffer.uri.0.as_str()), |path| world.name(&path));
        self.open.insert(buffer.uri.0.clone(), Document { home, name: Arc::clone(&name) });
        world.edited.insert(Arc::clone(&name));
        world.put(&name, buffer);
    }

    /// The projects of all folders are there.
    fn found(&mut self) {
        for folder in self.folders.clone() {
            let root = self.holder(&folder);
            self.begin(root);
        }
    }

    /// A world for a key.
    fn begin(&mut self, key: PathBuf) {
        if self.all.contains_key(&key) {
            return;
        }
        // A file has no project of which anything else is.
        let is_alone = !self.holds_project(&key) && !self.folders.contains(&key);
        let folder = key.parent().filter(|folder| is_alone && folder.has_root());
        let mut world = World::new(folder.unwrap_or(&key).to_path_buf());
        world.is_alone = is_alone;
        world.is_watched = self.watched.iter().any(|base| world.root.starts_with(base));
        world.unsaved = self.unsaved().collect();
        self.all.insert(key, world);
    }

    /// The folders whose project files are open; these may be on no disk yet.
    fn unsaved(&self) -> impl Iterator<Item = PathBuf> {
        let paths = self.open.keys().filter_map(|uri| super::uri::path(&Uri(uri.clone())));
        paths.filter(|path| is_project(path)).filter_map(|path| path.parent().map(Path::to_path_buf))
    }

    /// Worlds outside of the workspace of which nothing is open are of no use to anybody.
    fn tidy(&mut self) {
        let used: BTreeSet<&PathBuf> = self.open.values().map(|document| &document.home).collect();
        let gone = self.all.keys().filter(|key| !used.contains(key) && !self.is_wanted(key));
        let gone: Vec<PathBuf> = gone.cloned().collect();
        for key in gone {
            self.all.remove(&key);
        }
    }

    /// Whether a world is one of the workspace whatever is open.
    fn is_wanted(&self, key: &Path) -> bool {
        let is_folder = || self.folders.iter().any(|folder| folder == key && self.holder(folder) == *key);
        self.is_of_workspace(key) && (self.holds_project(key) || is_folder())
    }

    /// Whether what is in a folder is of the workspace.
    fn is_of_workspace(&self, key: &Path) -> bool {
        self.folders.iter().any(|folder| key.starts_with(folder) || (folder.starts_with(key) && self.holder(folder) == *key))
    }

    /// The folder of the project that a folder of the workspace is in: a project file above it speaks for it.
    fn holder(&self, folder: &Path) -> PathBuf {
        folder.ancestors().find(|above| self.holds_project(above)).unwrap_or(folder).to_path_buf()
    }

    /// The key of the world that a document belongs to. One that is not saved yet may use the names of the first folder;
    /// what is no file at all (an old version, a page) is nobody's.
    fn home_of(&self, uri: &Uri) -> PathBuf {
        if let Some(path) = super::uri::path(uri) {
            return self.home(&path);
        }
        let first = self.folders.first().filter(|_| uri.0.starts_with("untitled:"));
        first.map_or_else(|| PathBuf::from(&uri.0), |folder| self.holder(folder))
    }

    /// The key of the world that a file belongs to.
    fn home(&self, path: &Path) -> PathBuf {
        if let Some(holder) = path.ancestors().skip(1).find(|folder| self.holds_project(folder)) {
            return self.known(holder).unwrap_or_else(|| holder.to_path_buf());
        }
        let parent = path.parent().unwrap_or(path);
        let around = self.folders.iter().filter(|folder| parent.starts_with(folder));
        if let Some(folder) = around.max_by_key(|folder| folder.components().count()) {
            return folder.clone();
        }
        let real = RealFs.canonical(parent).unwrap_or_default();
        let by_links = |folder: &&PathBuf| RealFs.canonical(folder).is_ok_and(|folder| real.starts_with(folder));
        self.folders.iter().find(by_links).map_or_else(|| path.to_path_buf(), |folder| self.holder(folder))
    }

    /// The key of a world whose folder this is, by whichever links it is reached.
    fn known(&self, folder: &Path) -> Option<PathBuf> {
        if self.all.contains_key(folder) {
            return Some(folder.to_path_buf());
        }
        let real = RealFs.canonical(folder).ok()?;
        self.all.keys().find(|key| RealFs.canonical(key).is_ok_and(|own| own == real)).cloned()
    }

    /// Whether a folder has a project file, on disk or in the editor.
    fn holds_project(&self, folder: &Path) -> bool {
        let file = folder.join(PROJECT);
        fs::is_file(&file) || self.open.contains_key(&super::uri::of(&file).0)
    }
}

/// Whether a path is that of a project file which is on no disk yet.
fn is_unsaved_project(path: &Path) -> bool {
    is_project(path) && !fs::is_file(path)
}

/// Whether a path is that of a project file.
pub(super) fn is_project(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PROJECT)
}
