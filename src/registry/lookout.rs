//! A selection that is looked at again and again: each look opens the files that changed since the last one, and links all.
//! What it finds is what [`super::survey`] would find. Writes nothing, waits for nothing.

use super::compile::{Chosen, Compiled, Compiler, Outcome, Scratch};
use super::link;
use super::survey::{NoSuchPath, Request, Surveyed};
use super::walk::{By, Found, Missing, Plan, Visit, stamp};
use super::watch::{self, Dependency, Watch, is_racy};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::{self, ReadFs, RealFs, Stamp};
use crate::base::hash::Hash;
use crate::project::config::Config;
use crate::project::index::{Entry, Index};
use crate::rules::check::Active;
use crate::rules::input::read_fault;
use crate::rules::rule::Scope;
use crate::template::names::FileFacts;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What is remembered from one look to the next.
#[derive(Debug, Default)]
pub struct Lookout {
    project: Option<Hash>,
    known: Files,
    /// Files beside the selection, from the last look that needed them.
    aside: Option<Files>,
}

type Files = BTreeMap<Arc<str>, Known>;

/// A file as it was looked at.
#[derive(Debug)]
struct Known {
    /// `None` for a file that must be opened again whatever its stamp says.
    stamp: Option<Stamp>,
    hash: Hash,
    chosen: Chosen,
    /// `None` for a file that is no template.
    taken: Option<Taken>,
}

#[derive(Debug)]
struct Taken {
    diagnostics: Vec<Diagnostic>,
    facts: FileFacts,
    texts: Vec<Dependency>,
    /// What the texts held, by name; `None` for one that could not be had.
    held: BTreeMap<String, Option<Hash>>,
}

/// What a look gave.
#[derive(Debug)]
pub struct Look {
    /// Everything that is found now.
    pub surveyed: Surveyed,
    /// Files that were opened.
    pub opened: usize,
    /// Templates, and texts that they pull in, that came, went, or hold other bytes than at the last look.
    pub changed: BTreeSet<String>,
    /// Folders in which a change may change what is found.
    pub folders: BTreeSet<PathBuf>,
}

impl Lookout {
    /// Looks. The request's `held`, `overlay`, `goal` and `least` do not count.
    ///
    /// # Errors
    /// A given path does not exist.
    pub fn look(&mut self, request: &Request<'_>) -> Result<Look, NoSuchPath> {
        let is_first = self.project.is_none();
        let project = project_hash(request.config);
        if self.project != Some(project) {
            // What they were found to hold stays known, what it meant does not.
            self.known
                .values_mut()
                .chain(self.aside.iter_mut().flat_map(BTreeMap::values_mut))
                .for_each(|file| file.stamp = None);
        }
        let active = Active::new(request.config).with_identity(request.identity);
        let plan = |given: &[PathBuf]| {
            let templates = &request.config.templates;
            Plan::new(request.root, given, templates.include.as_ref(), &templates.exclude)
                .map_err(|Missing(path)| NoSuchPath(path))
        };
        let (chosen, all) = (plan(request.given)?, plan(&[])?);
        self.project = Some(project);
        let mut pass = Pass::new(request, &active, std::mem::take(&mut self.known));
        let asked = pass.walk(&chosen);
        let mut rest = None;
        if !request.given.is_empty() && pass.points_elsewhere() {
            let is_new = self.aside.is_none();
            pass.old = self.aside.take().unwrap_or_default();
            let others: BTreeSet<Arc<str>> = pass.walk(&all).into_iter().filter(|path| !asked.contains(path)).collect();
            if is_new {
                // They did not change: nobody asked about them before.
                pass.changed.retain(|path| !others.contains(path.as_str()));
            }
            rest = Some(others);
        }
        let Pass { new, opened, changed, folders, .. } = pass;
        let folders = folders.into_iter().chain(chosen.absent).chain(new.values().flat_map(text_folders)).collect();
        let surveyed = summed(request, &new, &asked, rest.as_ref());
        let (known, aside): (Files, Files) = new.into_iter().partition(|(path, _)| asked.contains(path));
        self.known = known;
        if rest.is_some() {
            self.aside = Some(aside);
        }
        let changed = if is_first { BTreeSet::new() } else { changed };
        Ok(Look { surveyed, opened, changed, folders })
    }
}

/// Everything of a project that decides what is found in a file.
fn project_hash(config: &Config) -> Hash {
    let files: Vec<_> = config.files.iter().map(|file| (&file.path, file.hash)).collect();
    // A shared file that cannot be read is a fault and no file.
    Hash::of(format!("{files:?}{:?}{:?}{:?}", config.faults, config.limits, config.tested).as_bytes())
}

/// The folders of the texts that a file pulls in.
fn text_folders(file: &Known) -> impl Iterator<Item = PathBuf> + use<'_> {
    let texts = file.taken.iter().flat_map(|taken| &taken.texts);
    texts.filter_map(|text| Path::new(&*text.path).parent().map(Path::to_path_buf))
}

fn index(files: &Files) -> Index<'_> {
    Index::new(files.iter().filter_map(|(path, file)| Some(Entry { path, facts: &file.taken.as_ref()?.facts })))
}

/// All findings, those across files among them.
fn summed(request: &Request<'_>, all: &Files, asked: &BTreeSet<Arc<str>>, rest: Option<&BTreeSet<Arc<str>>>) -> Surveyed {
    let templates = |names: &BTreeSet<Arc<str>>| -> Vec<Arc<str>> {
        names.iter().filter(|path| all.get(*path).is_some_and(|file| file.taken.is_some())).cloned().collect()
    };
    let paths = templates(asked);
    let is_alone = rest.is_none_or(|rest| templates(rest).is_empty());
    let own = paths.iter().filter_map(|path| all.get(path)?.taken.as_ref());
    let mut found: Vec<Diagnostic> = own.flat_map(|taken| taken.diagnostics.iter().cloned()).collect();
    let scope = if request.given.is_empty() { Scope::Whole } else { Scope::Part };
    let linked = link::link(request.config, &index(all), scope, |path| request.text(path));
    let is_asked = |finding: &Diagnostic| is_alone || paths.binary_search(&finding.path).is_ok();
    found.extend(linked.into_iter().filter(is_asked));
    diagnostic::sort(&mut found);
    let skipped = asked.len() - paths.len();
    Surveyed { diagnostics: found, files: paths.len(), paths, skipped, ..Surveyed::default() }
}

/// One look.
struct Pass<'p> {
    request: &'p Request<'p>,
    active: &'p Active,
    /// When it began.
    now: i128,
    real_root: PathBuf,
    old: Files,
    new: Files,
    opened: usize,
    changed: BTreeSet<String>,
    folders: BTreeSet<PathBuf>,
}

impl<'p> Pass<'p> {
    fn new(request: &'p Request<'p>, active: &'p Active, old: Files) -> Self {
        Self {
            request,
            active,
            now: fs::now(),
            real_root: RealFs.canonical(request.root).unwrap_or_default(),
            old,
            new: Files::new(),
            opened: 0,
            changed: BTreeSet::new(),
            folders: BTreeSet::new(),
        }
    }

    /// Looks at what a plan leads to; gives the names of all files there. What is left of the old is gone.
    fn walk(&mut self, plan: &Plan) -> BTreeSet<Arc<str>> {
        let all = Mutex::new(Batch::default());
        let pass: &Self = self;
        plan.run(plan.threads(pass.request.threads), || Worker {
            pass,
            texts: Texts { watch: Watch::new(pass.now), held: Mutex::default() },
            scratch: Scratch::new(),
            bytes: Vec::new(),
            done: Batch::default(),
            all: &all,
        });
        let Batch { files, folders } = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.folders.extend(folders);
        let mut names = BTreeSet::new();
        for (path, seen) in files {
            names.insert(Arc::clone(&path));
            self.take(path, seen);
        }
        let gone = std::mem::take(&mut self.old).into_iter().filter(|(_, file)| file.taken.is_some());
        self.changed.extend(gone.map(|(path, _)| path.to_string()));
        names
    }

    fn take(&mut self, path: Arc<str>, seen: Seen) {
        let old = self.old.remove(&path);
        let file = match (seen, old) {
            (Seen::Same, Some(old)) => {
                self.new.entry(path).or_insert(old);
                return;
            }
            (Seen::Same, None) => return,
            (Seen::Opened(file), old) => {
                self.opened += 1;
                self.compare(&path, old.as_ref(), &file);
                *file
            }
        };
        // One that two ways lead to is opened twice, and is a template when it is one by either of them.
        let is_better = self.new.get(&path).is_none_or(|there| there.taken.is_none() && file.taken.is_some());
        if is_better {
            self.new.insert(path, file);
        }
    }

    /// Notes what changed in a file that was opened.
    fn compare(&mut self, path: &Arc<str>, old: Option<&Known>, new: &Known) {
        let is_template = |file: &Known| file.taken.is_some();
        let is_changed = match old {
            Some(old) => old.hash != new.hash && (is_template(old) || is_template(new)),
            None => is_template(new) && !self.new.contains_key(path),
        };
        if is_changed {
            self.changed.insert(path.to_string());
        }
        self.changed.extend(old.map(|old| changed_texts(old, new)).unwrap_or_default());
    }

    /// Whether some reference leads to nothing among the files themselves.
    fn points_elsewhere(&self) -> bool {
        let index = index(&self.new);
        index.references().any(|(_, _, reference)| index.target(reference).is_none())
    }
}

/// Texts that a file pulled in then and pulls in now, and that hold something else.
fn changed_texts(old: &Known, new: &Known) -> Vec<String> {
    let (Some(old), Some(new)) = (&old.taken, &new.taken) else { return Vec::new() };
    let is_changed = |(name, hash): &(&String, &Option<Hash>)| old.held.get(*name).is_some_and(|before| before != *hash);
    new.held.iter().filter(is_changed).map(|(name, _)| name.clone()).collect()
}

enum Seen {
    /// As it was.
    Same,
    /// Opened, for the first time or again.
    Opened(Box<Known>),
}

/// What one thread, or all, came by.
#[derive(Default)]
struct Batch {
    files: Vec<(Arc<str>, Seen)>,
    folders: BTreeSet<PathBuf>,
}

/// A door to the texts that remembers what they held.
struct Texts {
    watch: Watch,
    held: Mutex<BTreeMap<PathBuf, Option<Hash>>>,
}

impl Texts {
    fn note(&self, path: &Path, hash: Option<Hash>) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), hash);
    }
}

impl ReadFs for Texts {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let read = self.watch.read(path, limit);
        self.note(path, read.as_ref().ok().map(|bytes| Hash::of(bytes)));
        read
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.watch.stamp(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        let is_regular = self.watch.is_regular(path);
        if !is_regular {
            self.note(path, None);
        }
        is_regular
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let real = self.watch.canonical(path);
        if real.is_err() {
            self.note(path, None);
        }
        real
    }
}

struct Worker<'w> {
    pass: &'w Pass<'w>,
    texts: Texts,
    scratch: Scratch,
    bytes: Vec<u8>,
    done: Batch,
    all: &'w Mutex<Batch>,
}

impl Worker<'_> {
    fn is_same(&self, found: &Found<'_>, now: Option<Stamp>, chosen: Chosen) -> bool {
        let Some(known) = self.pass.old.get(found.name) else {
            // The first of two walks has been here; only a file that is no template may be one when it is named.
            return self.pass.new.contains_key(found.name) && chosen == Chosen::Found;
        };
        let fits = known.chosen == chosen || known.taken.is_some() && known.chosen == Chosen::Found;
        let texts = known.taken.iter().flat_map(|taken| &taken.texts);
        fits && now.is_some() && known.stamp == now && texts.into_iter().all(watch::holds)
    }

    fn open(&mut self, path: &Arc<str>, stamp: Option<Stamp>, chosen: Chosen) -> Known {
        let hash = Hash::of(&self.bytes);
        let Request { config, root, .. } = *self.pass.request;
        let compiler = Compiler { config, active: self.pass.active, root, files: &self.texts, entries: None };
        let outcome = compiler.compile(path, &self.bytes, chosen, &mut self.scratch);
        let texts = self.texts.watch.take();
        let held = std::mem::take(&mut *self.texts.held.lock().unwrap_or_else(PoisonError::into_inner));
        let held = held.into_iter().map(|(path, hash)| (self.name(&path), hash)).collect();
        match outcome {
            Outcome::Skipped => Known { stamp, hash, chosen, taken: None },
            Outcome::Taken(made) => {
                let Compiled { mut diagnostics, facts, .. } = *made;
                diagnostics.shrink_to_fit();
                Known { stamp, hash, chosen, taken: Some(Taken { diagnostics, facts, texts, held }) }
            }
        }
    }

    /// The name of a text.
    fn name(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.pass.real_root).or_else(|_| path.strip_prefix(self.pass.request.root));
        inside.unwrap_or(path).to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    }
}

impl Visit for Worker<'_> {
    fn file(&mut self, found: &Found<'_>) {
        let chosen = if found.by == By::Name { Chosen::Named } else { Chosen::Found };
        let now = stamp(found.path).ok().filter(|now| !is_racy(*now, self.pass.now));
        let path: Arc<str> = Arc::from(found.name);
        if self.is_same(found, now, chosen) {
            self.done.files.push((path, Seen::Same));
            return;
        }
        match fs::read_into(found.path, self.pass.request.config.limits.file, &mut self.bytes) {
            Ok(_) => {
                let known = self.open(&path, now, chosen);
                self.done.files.push((path, Seen::Opened(Box::new(known))));
            }
            Err(error) => self.unreadable(found.name, error),
        }
        (self.pass.request.tick)();
    }

    fn unreadable(&mut self, name: &str, error: io::Error) {
        let path: Arc<str> = Arc::from(name);
        let finding = read_fault::word(&path, &error, self.pass.request.config.limits.file);
        let hash = Hash::of(finding.message.as_bytes());
        let taken = Taken { diagnostics: vec![finding], facts: FileFacts::default(), texts: Vec::new(), held: BTreeMap::new() };
        let known = Known { stamp: None, hash, chosen: Chosen::Named, taken: Some(taken) };
        self.done.files.push((path, Seen::Opened(Box::new(known))));
    }

    fn folder(&mut self, path: &Path) {
        self.done.folders.insert(path.to_path_buf());
    }

    fn link(&mut self, path: &Path) {
        // What it leads to changes somewhere else.
        let folder = RealFs.canonical(path).ok().and_then(|real| real.parent().map(Path::to_path_buf));
        self.done.folders.extend(folder);
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut self.done.files);
        all.folders.append(&mut self.done.folders);
    }
}
