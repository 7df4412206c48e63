//! The project as the editor has it: every template's facts and findings, brought up to date when somebody asks.
//!
//! Edits only mark what they touch; [`World::settle`] compiles it. Writes nothing.

use super::buffer::Buffer;
use super::files::{Open, Overlay};
use super::place;
use super::refresh::are_alike;
use super::scenarios::{self, Taken};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::{self, ReadFs, RealFs, Stamp};
use crate::base::rule_meta::RuleMeta;
use crate::base::source::LineIndex;
use crate::project::config::{Config, Input};
use crate::project::index::{Entry, Index};
use crate::registry::compile::{Chosen, Compiled, Compiler, Outcome, Scratch};
use crate::registry::survey;
use crate::rules::check::{self, Active, Identity};
use crate::rules::list;
use crate::rules::rule::Scope;
use crate::syntax::decode;
use crate::template::names::FileFacts;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The project file.
pub(super) const PROJECT: &str = "ctxc.toml";
/// Beyond this a text is looked at for its structure alone: 5 MB.
pub(super) const LARGE: usize = 5_000_000;

/// A template with what compiling it gave.
#[derive(Debug, Default)]
pub(super) struct Template {
    pub(super) facts: FileFacts,
    pub(super) found: Vec<Diagnostic>,
    /// It belongs to the project; others are only looked at since they are open.
    pub(super) member: bool,
    /// It was looked at for its structure alone.
    pub(super) is_large: bool,
    /// The file on disk when it was last looked at; `None` while it is open.
    pub(super) stamp: Option<Stamp>,
    /// What each definition is about; made when somebody asks.
    pub(super) told: OnceCell<Vec<String>>,
}

/// A project.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is work of its own that waits until somebody asks")]
pub(super) struct World {
    pub(super) root: PathBuf,
    pub(super) config: Arc<Config>,
    pub(super) open: Arc<Open>,
    pub(super) templates: BTreeMap<Arc<str>, Template>,
    /// Findings of the project file, and of files it shares.
    pub(super) project: Vec<Diagnostic>,
    /// Findings of scenarios that are open, by file.
    pub(super) scenarios: BTreeMap<Arc<str>, Vec<Diagnostic>>,
    pub(super) taken: Taken,
    /// Something moved that scenarios are held against.
    unjudged: bool,
    /// Findings about names and references, by file.
    pub(super) linked: BTreeMap<Arc<str>, Vec<Diagnostic>>,
    pub(super) active: Active,
    pub(super) structure: Active,
    scratch: Scratch,
    dirty: BTreeSet<Arc<str>>,
    unlinked: bool,
    unread: bool,
    /// What belongs to the project has to be looked for.
    unwalked: bool,
    /// Files on disk may have changed without anybody saying so.
    unwatched: bool,
    /// Files whose findings changed since anything was shown.
    pub(super) changed: BTreeSet<Arc<str>>,
    /// How often anything was brought up to date: figures of another state are those of another text.
    pub(super) state: u64,
    /// How often the project file was read.
    pub(super) reads: u32,
    /// How often it had been read when anything was shown.
    pub(super) known: u32,
    /// What was pushed last.
    pub(super) pushed: BTreeMap<Arc<str>, Vec<gen_lsp_types::Diagnostic>>,
    /// Something was brought up to date since diagnostics were pushed.
    pub(super) unshown: bool,
    /// Documents that the client edited since anything was shown.
    pub(super) edited: BTreeSet<Arc<str>>,
    /// What was said of which document.
    pub(super) said: RefCell<BTreeSet<(Arc<str>, &'static str)>>,
    /// It is one file that belongs to no project, and to no folder that is open.
    pub(super) is_alone: bool,
    /// The client watches its files.
    pub(super) is_watched: bool,
    /// Folders whose project files may be on no disk yet.
    pub(super) unsaved: BTreeSet<PathBuf>,
    /// Files that are no templates, as they were when they were last looked at.
    pub(super) others: BTreeMap<Arc<str>, Option<Stamp>>,
}

impl World {
    /// A project in a folder. Nothing is read before somebody asks.
    pub(super) fn new(root: PathBuf) -> Self {
        let config = Arc::new(Config::default());
        let (active, structure) = actives(&config);
        Self {
            root,
            config,
            open: Arc::default(),
            templates: BTreeMap::new(),
            project: Vec::new(),
            scenarios: BTreeMap::new(),
            taken: Taken::default(),
            unjudged: false,
            linked: BTreeMap::new(),
            active,
            structure,
            scratch: Scratch::new(),
            dirty: BTreeSet::new(),
            unlinked: true,
            unread: true,
            unwalked: true,
            unwatched: false,
            changed: BTreeSet::new(),
            state: 0,
            reads: 0,
            known: 0,
            pushed: BTreeMap::new(),
            unshown: false,
            edited: BTreeSet::new(),
            said: RefCell::default(),
            is_alone: false,
            is_watched: false,
            unsaved: BTreeSet::new(),
            others: BTreeMap::new(),
        }
    }

    /// The name that findings give to a path.
    pub(super) fn name(&self, path: &Path) -> Arc<str> {
        Arc::from(survey::name_in(&self.root, path))
    }

    /// The path behind a name.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The text of a file as the editor has it, with its lines.
    pub(super) fn text(&self, name: &str) -> Option<(String, LineIndex)> {
        if let Some(buffer) = self.open.get(name) {
            return Some((buffer.text.clone(), buffer.index.clone()));
        }
        let text = read(&self.root, &self.open, self.config.limits.file, name)?;
        let index = LineIndex::new(&text);
        Some((text, index))
    }

    /// A document was opened, or takes the place of another state of itself.
    pub(super) fn put(&mut self, name: &Arc<str>, buffer: Arc<Buffer>) {
        // One that is on no disk yet belongs to the project, too.
        self.unwalked |= is_template(name) && !self.templates.contains_key(name);
        Arc::make_mut(&mut self.open).insert(Arc::clone(name), buffer);
        self.touch(name);
    }

    /// A document was closed: what is on disk counts again.
    pub(super) fn close(&mut self, name: &str) -> Option<Arc<Buffer>> {
        let closed = Arc::make_mut(&mut self.open).remove(name)?;
        let name = Arc::from(name);
        self.touch(&name);
        // One that was on no disk is gone.
        self.unwalked |= is_template(&name) && !fs::exists(&self.root.join(&*name));
        if self.templates.get(&name).is_some_and(|template| !template.member) {
            self.templates.remove(&name);
            self.dirty.remove(&name);
        }
        Some(closed)
    }

    /// A file changed, in the editor or on disk.
    pub(super) fn touch(&mut self, name: &Arc<str>) {
        self.unjudged = true;
        let is_config = self.config.files.iter().any(|file| *file.path == **name) || **name == *PROJECT;
        if is_config {
            self.unread = true;
            return;
        }
        if self.takes(name) {
            self.dirty.insert(Arc::clone(name));
        }
        // Texts that others pull in.
        let base = name.rsplit('/').next().unwrap_or(name);
        let users = self.templates.iter().filter(|(_, template)| {
            template.facts.sources.iter().any(|source| source.path.rsplit('/').next().is_some_and(|own| own == base))
        });
        self.dirty.extend(users.map(|(user, _)| Arc::clone(user)));
    }

    /// Files on disk may have changed, at clients that watch none. They are looked at once however often this is said.
    pub(super) fn doubt(&mut self) {
        self.unwatched = true;
    }

    /// Files came or went.
    pub(super) fn rewalk(&mut self) {
        self.unwalked = true;
    }

    /// Brings everything up to date. Gives the folders of other projects inside of this one, when it looked for files.
    pub(super) fn settle(&mut self) -> Vec<PathBuf> {
        let mut inner = Vec::new();
        if std::mem::take(&mut self.unwatched) {
            self.look();
        }
        let is_moved = self.unread || self.unwalked || self.unlinked || !self.dirty.is_empty();
        self.state += u64::from(is_moved);
        if std::mem::take(&mut self.unread) {
            self.reload();
        }
        if std::mem::take(&mut self.unwalked) {
            inner = self.walk();
        }
        let dirty = std::mem::take(&mut self.dirty);
        self.unshown |= self.unlinked || !dirty.is_empty();
        for name in dirty {
            self.compile(&name);
        }
        if std::mem::take(&mut self.unlinked) {
            self.link();
        }
        self.taken.borrow_mut().retain(|_, _| !is_moved);
        if std::mem::take(&mut self.unjudged) || is_moved {
            self.judge();
        }
        inner
    }

    /// The findings of one file.
    pub(super) fn found(&self, name: &str) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = self.project.iter().filter(|finding| *finding.path == *name).cloned().collect();
        found.extend(self.templates.get(name).into_iter().flat_map(|template| &template.found).cloned());
        found.extend(self.linked.get(name).into_iter().flatten().cloned());
        found.extend(self.scenarios.get(name).into_iter().flatten().cloned());
        diagnostic::sort(&mut found);
        found
    }

    /// Everything with findings or open, in order.
    pub(super) fn names(&self) -> BTreeSet<Arc<str>> {
        let own = self.project.iter().map(|finding| &finding.path);
        own.chain(self.linked.keys()).chain(self.templates.keys()).chain(self.open.keys()).cloned().collect()
    }

    /// Whether a name is one of those that findings are shown of.
    pub(super) fn is_ours(&self, name: &str) -> bool {
        self.takes(name)
            || scenarios::is_scenario(self, name)
            || *name == *PROJECT
            || self.config.files.iter().any(|file| *file.path == *name)
    }

    /// Whether a file may be a template: by its name, or since the editor says that it is XML.
    pub(super) fn takes(&self, name: &str) -> bool {
        is_template(name) || self.open.get(name).is_some_and(|buffer| buffer.is_xml)
    }

    /// How much of a project it is: a file that is alone knows nobody who would use what it defines.
    pub(super) const fn scope(&self) -> Scope {
        if self.is_alone { Scope::Part } else { Scope::Whole }
    }

    /// All names of the project.
    pub(super) fn index(&self) -> Index<'_> {
        let members = self.templates.iter().filter(|(_, template)| template.member);
        Index::new(members.map(|(path, template)| Entry { path, facts: &template.facts }))
    }

    /// The project that a text of its file makes.
    pub(super) fn project_of(&self, text: &str) -> Config {
        let rules: Vec<&'static RuleMeta> = list::all().map(|rule| &rule.meta).collect();
        let files = Overlay { root: &self.root, open: &self.open };
        Config::read(&Input { path: PROJECT, text, root: &self.root, files: &files, rules: &rules })
    }

    fn reload(&mut self) {
        self.reads += 1;
        self.note(&Arc::from(PROJECT));
        let text = self.text(PROJECT).map(|(text, _)| text);
        self.config = Arc::new(text.map_or_else(Config::default, |text| self.project_of(&text)));
        self.note_project();
        let project = check::config(&self.config);
        let before = std::mem::replace(&mut self.project, project);
        if !are_alike(&before, &self.project) {
            self.changed.extend(before.iter().chain(&self.project).map(|finding| Arc::clone(&finding.path)));
        }
        (self.active, self.structure) = actives(&self.config);
        self.unwalked = true;
        self.unlinked = true;
        self.dirty.extend(self.templates.keys().cloned());
    }

    fn walk(&mut self) -> Vec<PathBuf> {
        let Some((there, inner)) = self.files() else { return Vec::new() };
        let is_new = |name: &Arc<str>| !fs::exists(&self.root.join(&**name)) && !Path::new(&**name).is_absolute();
        let unsaved: BTreeSet<Arc<str>> = self.open.keys().filter(|name| is_template(name) && is_new(name)).cloned().collect();
        self.templates.retain(|name, template| {
            template.member = there.contains(name) || unsaved.contains(name);
            template.member || self.open.contains_key(name)
        });
        let known = &self.templates;
        self.dirty.extend(there.iter().chain(&unsaved).filter(|name| !known.contains_key(*name)).cloned());
        for name in there.into_iter().chain(unsaved) {
            self.templates.entry(name).or_default().member = true;
        }
        self.unlinked = true;
        inner.into_iter().collect()
    }

    fn compile(&mut self, name: &Arc<str>) {
        let known = self.templates.get(name);
        let member = known.is_some_and(|template| template.member);
        if known.is_none() && !self.open.contains_key(name) {
            return;
        }
        let stamp = if self.open.contains_key(name) { None } else { RealFs.stamp(&self.root.join(&**name)).ok() };
        let compiled = self.compiled(name);
        let old = self.templates.get(name);
        let Some((compiled, length)) = compiled else {
            self.unlinked |= old.is_some_and(|old| old.facts != FileFacts::default());
            if old.is_some_and(|old| !old.found.is_empty()) {
                self.changed.insert(Arc::clone(name));
            }
            // A file that is no template any more may become one again.
            self.templates.insert(Arc::clone(name), Template { member, stamp, ..Template::default() });
            return;
        };
        self.unlinked |= old.is_none_or(|old| old.facts != compiled.facts) || self.linked.contains_key(name);
        if !are_alike(old.map_or(&[][..], |old| &old.found), &compiled.diagnostics) {
            self.changed.insert(Arc::clone(name));
        }
        let (facts, found, is_large) = (compiled.facts, compiled.diagnostics, length > LARGE);
        self.templates.insert(Arc::clone(name), Template { facts, found, member, is_large, stamp, told: OnceCell::new() });
        self.note_sources(name);
    }

    /// What compiling a file gives, and how long its text is; `None` for what is no template, or is not there.
    fn compiled(&mut self, name: &Arc<str>) -> Option<(Compiled, usize)> {
        let read;
        let text = if let Some(buffer) = self.open.get(name) {
            buffer.text.as_str()
        } else {
            read = self.disk(name)?;
            match read {
                Ok(ref text) => text,
                Err(finding) => return Some((Compiled { diagnostics: vec![finding], ..Compiled::default() }, 0)),
            }
        };
        if !is_template(name) && !place::is_template(text, &self.config.limits) {
            return None;
        }
        let files = Overlay { root: &self.root, open: &self.open };
        let active = if text.len() > LARGE { &self.structure } else { &self.active };
        let compiler = Compiler { config: &self.config, active, root: &self.root, files: &files, entries: None };
        match compiler.compile_text(name, text, Chosen::Found, &mut self.scratch) {
            Outcome::Skipped => None,
            Outcome::Taken(made) => Some((*made, text.len())),
        }
    }

    /// A text from disk, or the finding that says why there is none; `None` when there is no such file.
    fn disk(&self, name: &Arc<str>) -> Option<Result<String, Diagnostic>> {
        let limit = self.config.limits.file;
        match RealFs.read(&self.root.join(&**name), limit) {
            Ok(bytes) => Some(match decode::decode(&bytes) {
                Ok(text) => Ok(text.into_owned()),
                Err(fault) => Err(crate::rules::syntax::undecodable::word(name, &fault)),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(crate::rules::input::read_fault::word(name, &error, limit))),
        }
    }
}

/// All rules, and those that large files are held against.
fn actives(config: &Config) -> (Active, Active) {
    let active = || Active::new(config).with_identity(Identity::Unwanted);
    (active(), active().structure())
}

/// Whether a name is one that templates have.
pub(super) fn is_template(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"))
}

pub(super) fn read(root: &Path, open: &Open, limit: u64, name: &str) -> Option<String> {
    let bytes = Overlay { root, open }.read(&root.join(name), limit).ok()?;
    decode::decode(&bytes).ok().map(std::borrow::Cow::into_owned)
}
