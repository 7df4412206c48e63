//! The state of a project in the editor: its compiled files and their findings. Edits only mark
//! changes; `settle` applies them. Writes nothing.

use super::buffer::Buffer;
use super::overlay::{Open, Overlay};
use super::read_cache::ReadCache;
use crate::base::contained_path;
use crate::base::diagnostic::{self, Diagnostic, Label};
use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::base::rule_meta::RuleMeta;
use crate::base::source::LineIndex;
use crate::project::config::{Config, Input};
use crate::project::index::Index;
use crate::project::suppressions::{FILE as SUPPRESSIONS, Suppressions};
use crate::registry::Registry;
use crate::registry::compile::{Compiled, Compiler, Scratch};
use crate::registry::workspace::documents::Documents;
use crate::registry::workspace::request::name_in;
use crate::rules::check::{Active, Identity};
use crate::rules::input::stale_suppression;
use crate::rules::list;
use crate::rules::names::fault_location::IN_TEXT;
use crate::rules::rule::Scope;
use crate::rules::scenario::cx::TaskSignature;
use crate::scenario::load::Loaded;
use crate::syntax::decode;
use crate::template::names::{Source, SourceKind};
use crate::template::scope::Purpose;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The project file.
pub(in crate::lsp) const PROJECT: &str = "ctxc.toml";

/// Findings by file.
pub(in crate::lsp) type Found = BTreeMap<Arc<str>, Vec<Diagnostic>>;

/// A pending update.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum Change {
    /// Files on disk may have changed without a notification.
    Disk,
    /// The project file, or one that it includes.
    Config,
    /// Files were added or removed.
    Files,
    /// A template, or a text that it includes.
    Document(Arc<str>),
    /// An input of the checks of scenarios.
    Scenarios,
}

/// A project.
#[derive(Debug)]
pub(in crate::lsp) struct ProjectState {
    pub(in crate::lsp) root: PathBuf,
    pub(in crate::lsp) config: Arc<Config>,
    /// Open documents.
    pub(in crate::lsp) open: Arc<Open>,
    /// The templates of the project.
    pub(in crate::lsp) documents: Documents,
    /// Open templates outside the project: they use its names and define none for it.
    pub(in crate::lsp) outside: Documents,
    /// Templates that are checked for their structure only.
    pub(in crate::lsp) large: BTreeSet<Arc<str>>,
    /// The descriptions of each file's definitions, made on demand and kept until the file is
    /// compiled again.
    pub(in crate::lsp) docs: RefCell<BTreeMap<Arc<str>, Rc<Vec<String>>>>,
    /// True if the project file is currently invalid TOML, so that its earlier state is used.
    pub(in crate::lsp) is_config_broken: bool,
    /// Findings of the project file, of its included files, and of an unreadable suppressions file.
    pub(in crate::lsp) of_config: Vec<Diagnostic>,
    /// The suppressions with their text. Faults of the current text are in `of_config`.
    pub(in crate::lsp) suppressions: Option<(String, Suppressions)>,
    /// The scenarios of the project, open or not; `None` for a changed one that is not read yet.
    pub(in crate::lsp) suites: BTreeMap<Arc<str>, Option<Loaded>>,
    /// Findings of the open scenarios, and those of the project file that depend on scenarios.
    pub(in crate::lsp) of_scenarios: Found,
    /// Findings of the closed scenarios, computed on demand and kept until the next change.
    pub(in crate::lsp) of_closed: RefCell<Option<Rc<Found>>>,
    /// Trees of open documents and the variables of files, kept from one request to the next until
    /// anything changes.
    pub(in crate::lsp) read: ReadCache,
    /// Findings about names and references.
    pub(in crate::lsp) linked: Found,
    /// An upper bound, in bytes, of every definition with all that it refers to put in.
    pub(in crate::lsp) largest_expansion: u64,
    /// Tasks that scenarios need, by their names, with what they refer to; `None` for one that does
    /// not compile.
    pub(in crate::lsp) compiled: RefCell<BTreeMap<String, Option<Rc<Registry>>>>,
    /// The signatures of such tasks.
    pub(in crate::lsp) signatures: RefCell<BTreeMap<String, Option<Rc<TaskSignature>>>>,
    pub(in crate::lsp) active: Active,
    /// The rules that large files are checked with.
    pub(in crate::lsp) structure: Active,
    pub(in crate::lsp) scratch: Scratch,
    /// The state of files on disk when they were last read.
    pub(in crate::lsp) stamps: BTreeMap<Arc<str>, Option<Stamp>>,
    pub(in crate::lsp) pending: BTreeSet<Change>,
    /// The number of updates of templates or the project file. Token counts of another revision
    /// belong to another text.
    pub(in crate::lsp) revision: u64,
    /// The number of times that the project file was read.
    pub(in crate::lsp) config_revision: u32,
    /// True for a single file outside any project and workspace folder.
    pub(in crate::lsp) is_alone: bool,
    /// True if the client watches its files.
    pub(in crate::lsp) is_watched: bool,
    /// The folders of nested projects.
    pub(in crate::lsp) inner: Vec<PathBuf>,
    pub(in crate::lsp) shown: Shown,
}

/// The results of a project that the client has received.
#[derive(Debug, Default)]
pub(in crate::lsp) struct Shown {
    /// True if something was updated since diagnostics were pushed.
    pub(in crate::lsp) is_stale: bool,
    /// The last pushed diagnostics.
    pub(in crate::lsp) pushed: BTreeMap<Arc<str>, Vec<gen_lsp_types::Diagnostic>>,
    /// Files whose findings changed since the last refresh.
    pub(in crate::lsp) changed: BTreeSet<Arc<str>>,
    /// Documents that the client has edited since then.
    pub(in crate::lsp) edited: BTreeSet<Arc<str>>,
    /// The config revision at the last refresh; 0 before the first.
    pub(in crate::lsp) config_revision: u32,
    /// Messages that were shown for each document.
    pub(in crate::lsp) said: RefCell<BTreeSet<(Arc<str>, &'static str)>>,
}

impl ProjectState {
    /// Creates the project of a folder. Reads nothing until the first `settle`.
    pub(in crate::lsp) fn new(root: PathBuf) -> Self {
        let config = Arc::new(Config::default());
        let (active, structure) = actives(&config, Identity::Unwanted);
        Self {
            root,
            config,
            open: Arc::default(),
            documents: Documents::default(),
            outside: Documents::default(),
            large: BTreeSet::new(),
            docs: RefCell::default(),
            is_config_broken: false,
            of_config: Vec::new(),
            suppressions: None,
            suites: BTreeMap::new(),
            of_scenarios: Found::new(),
            of_closed: RefCell::default(),
            read: ReadCache::default(),
            linked: Found::new(),
            largest_expansion: 0,
            compiled: RefCell::default(),
            signatures: RefCell::default(),
            active,
            structure,
            scratch: Scratch::new(),
            stamps: BTreeMap::new(),
            pending: BTreeSet::from([Change::Config]),
            revision: 0,
            config_revision: 0,
            is_alone: false,
            is_watched: false,
            inner: Vec::new(),
            shown: Shown::default(),
        }
    }

    /// Returns the name of a path in findings.
    pub(in crate::lsp) fn name(&self, path: &Path) -> Arc<str> {
        let inside = || {
            if path.strip_prefix(&self.root).is_err() {
                self.by_links(path)
            } else {
                None
            }
        };
        Arc::from(name_in(&self.root, inside().as_deref().unwrap_or(path)))
    }

    /// Returns the path of a file inside the project's folder if it was given by way of other
    /// symbolic links.
    fn by_links(&self, path: &Path) -> Option<PathBuf> {
        let folder = RealFs.canonical(path.parent()?).ok()?;
        let inside = folder
            .strip_prefix(RealFs.canonical(&self.root).ok()?)
            .ok()?;
        Some(self.root.join(inside).join(path.file_name()?))
    }

    /// Returns the path of a name.
    pub(in crate::lsp) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Returns the file system with the editor's documents.
    pub(in crate::lsp) fn files(&self) -> Overlay<'_> {
        Overlay {
            root: &self.root,
            open: &self.open,
        }
    }

    /// Returns the text of a file, open or on disk.
    pub(in crate::lsp) fn read(&self, name: &str) -> Option<String> {
        let bytes = self
            .files()
            .read(&self.root.join(name), self.config.limits.file)
            .ok()?;
        decode::decode(&bytes)
            .ok()
            .map(std::borrow::Cow::into_owned)
    }

    /// Returns the text of a file with its line index.
    pub(in crate::lsp) fn text(&self, name: &str) -> Option<(String, LineIndex)> {
        if let Some(buffer) = self.open.get(name) {
            return Some((buffer.text.clone(), buffer.index.clone()));
        }
        let text = self.read(name)?;
        let index = LineIndex::new(&text);
        Some((text, index))
    }

    /// Returns a template inside or outside the project.
    pub(in crate::lsp) fn template(&self, name: &str) -> Option<&Compiled> {
        self.documents.get(name).or_else(|| self.outside.get(name))
    }

    /// Returns all templates: those of the project by name, then the others.
    pub(in crate::lsp) fn templates(&self) -> impl Iterator<Item = (&Arc<str>, &Compiled)> {
        self.documents.iter().chain(self.outside.iter())
    }

    /// Returns true if only the structure of a template is checked.
    pub(in crate::lsp) fn is_large(&self, name: &str) -> bool {
        self.large.contains(name)
    }

    /// Returns the findings of one file without suppressed ones, as on the command line.
    pub(in crate::lsp) fn found(&self, name: &str) -> Vec<Diagnostic> {
        let mut found = self.with_suppressed(name);
        self.suppress(&mut found);
        if let Some((text, recorded)) = self
            .suppressions
            .as_ref()
            .filter(|_| *name == *SUPPRESSIONS && found.is_empty())
        {
            found = self.stale_suppressions(text, recorded);
        }
        found
    }

    /// Removes suppressed findings.
    pub(in crate::lsp) fn suppress(&self, found: &mut Vec<Diagnostic>) {
        if let Some((text, recorded)) = &self.suppressions {
            stale_suppression::apply(found, (text, recorded), |_| false);
        }
    }

    /// Returns the findings about suppressions that match nothing.
    pub(in crate::lsp) fn stale_suppressions(
        &self,
        text: &str,
        recorded: &Suppressions,
    ) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = recorded
            .paths()
            .into_iter()
            .flat_map(|path| self.with_suppressed(path))
            .collect();
        stale_suppression::apply(&mut found, (text, recorded), |_| true);
        found.retain(|finding| *finding.path == *SUPPRESSIONS);
        found
    }

    /// Returns all findings of one file.
    fn with_suppressed(&self, name: &str) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = self
            .of_config
            .iter()
            .filter(|finding| *finding.path == *name)
            .cloned()
            .collect();
        if !self.is_xml(name) {
            found.extend(self.in_text(name));
            found.extend(self.of_request(name));
        }
        found.extend(
            self.template(name)
                .into_iter()
                .flat_map(|template| &template.diagnostics)
                .cloned(),
        );
        if self.is_config_broken && self.is_config(name) {
            // Other findings belong to the earlier text.
            return found;
        }
        found.extend(self.linked.get(name).into_iter().flatten().cloned());
        if self.suites.contains_key(name) && !self.open.contains_key(name) {
            found.extend(
                self.closed_scenarios()
                    .get(name)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        } else {
            found.extend(self.of_scenarios.get(name).into_iter().flatten().cloned());
        }
        diagnostic::sort(&mut found);
        found
    }

    /// Returns the names of all files that are open or can have findings.
    pub(in crate::lsp) fn names(&self) -> BTreeSet<Arc<str>> {
        let own = self.of_config.iter().map(|finding| &finding.path);
        let suppressions = self.suppressions.as_ref().map(|_| Arc::from(SUPPRESSIONS));
        let templates = self.templates().map(|(name, _)| name);
        let scenarios = self.of_scenarios.keys().chain(self.suites.keys());
        let findings = self
            .templates()
            .flat_map(|(_, template)| &template.diagnostics);
        let texts = findings
            .flat_map(|finding| &finding.labels)
            .filter(|label| label.text == IN_TEXT);
        let texts = texts.filter_map(|label| label.path.as_ref());
        own.chain(self.linked.keys())
            .chain(templates)
            .chain(scenarios)
            .chain(texts)
            .chain(self.open.keys())
            .cloned()
            .chain(suppressions)
            .collect()
    }

    /// Returns true if findings of this file are shown.
    pub(in crate::lsp) fn is_ours(&self, name: &str) -> bool {
        self.is_xml(name)
            || self.is_scenario(name)
            || self.is_config(name)
            || self.is_text(name)
            || self.is_request(name)
    }

    /// Returns true if a template includes this file as a text.
    pub(in crate::lsp) fn is_text(&self, name: &str) -> bool {
        self.users(name).next().is_some()
    }

    /// Returns the templates that include a text, each with the place of its path.
    pub(in crate::lsp) fn users(&self, name: &str) -> impl Iterator<Item = (&Arc<str>, &Source)> {
        self.templates().flat_map(move |(path, template)| {
            let own = template
                .facts
                .sources
                .iter()
                .filter(|source| source.kind == SourceKind::Text);
            own.filter(|source| contained_path::beside(path, &source.path).as_deref() == Some(name))
                .map(move |source| (path, source))
        })
    }

    /// Returns the findings of templates in a text that they include: at its place there, with the
    /// template as a label.
    pub(in crate::lsp) fn in_text(&self, name: &str) -> Vec<Diagnostic> {
        let found = self
            .templates()
            .flat_map(|(_, template)| &template.diagnostics)
            .chain(self.linked.values().flatten());
        let is_here = |label: &&Label| label.path.as_deref() == Some(name) && label.text == IN_TEXT;
        let templates = found
            .filter(|finding| finding.labels.iter().any(|label| is_here(&label)))
            .map(|finding| &finding.path);
        let templates: BTreeSet<&Arc<str>> = templates.collect();
        let one = |finding: Diagnostic| {
            let label = finding.labels.iter().find(is_here)?;
            let place = format!("in {name}:{}:{}: ", label.start.line, label.start.column);
            let message = finding
                .message
                .strip_prefix(&place)
                .unwrap_or(&finding.message)
                .to_owned();
            let mut own = finding.clone();
            own.message = message;
            own.span = label.span;
            own.path = Arc::from(name);
            own.fixes.clear();
            own.labels.clear();
            Some(own.label_in(
                Arc::clone(&finding.path),
                finding.span,
                finding.start,
                "pulled in here",
            ))
        };
        templates
            .into_iter()
            .flat_map(|template| self.found(template))
            .filter_map(one)
            .collect()
    }

    /// Returns true for the project file, the files it includes, and the suppressions file.
    pub(in crate::lsp) fn is_config(&self, name: &str) -> bool {
        *name == *PROJECT
            || *name == *SUPPRESSIONS
            || self.config.files.iter().any(|file| *file.path == *name)
    }

    /// Returns true if a file may be a template: by its name, or because the editor declares it as
    /// XML.
    pub(in crate::lsp) fn is_xml(&self, name: &str) -> bool {
        is_template(name)
            || self
                .open
                .get(name)
                .is_some_and(|buffer| buffer.is_xml && !is_other(name))
    }

    /// Returns the scope of the checks: a single file has unknown users of its definitions.
    pub(in crate::lsp) const fn scope(&self) -> Scope {
        if self.is_alone {
            Scope::Part
        } else {
            Scope::Whole
        }
    }

    /// Returns the index of all names of the project.
    pub(in crate::lsp) fn index(&self) -> Index<'_> {
        self.documents.index()
    }

    /// Returns a compiler for a text: with all rules, or those of the structure for a large text.
    pub(in crate::lsp) fn compiler<'c>(
        &'c self,
        files: &'c Overlay<'c>,
        text: &str,
    ) -> Compiler<'c> {
        let active = if Buffer::is_large_text(text) {
            &self.structure
        } else {
            &self.active
        };
        Compiler {
            config: &self.config,
            active,
            root: &self.root,
            files,
            purpose: Purpose::Findings,
        }
    }

    /// Parses a text as the project file.
    pub(in crate::lsp) fn project_of(&self, text: &str) -> Config {
        let rules: Vec<&'static RuleMeta> = list::all().map(|rule| &rule.meta).collect();
        Config::read(&Input {
            path: PROJECT,
            text,
            root: &self.root,
            files: &self.files(),
            rules: &rules,
        })
    }
}

/// Returns all active rules, and those for large files.
pub(in crate::lsp) fn actives(config: &Config, identity: Identity) -> (Active, Active) {
    let active = || Active::new(config).with_identity(identity);
    (active(), active().structure())
}

/// Returns true if the name's extension excludes XML, regardless of the editor.
fn is_other(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    [
        "md", "txt", "j2", "jinja", "jinja2", "toml", "yaml", "yml", "json", "csv", "jsonl",
    ]
    .contains(&ending)
}

/// Returns true if a name has the extension of templates.
pub(in crate::lsp) fn is_template(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("xml"))
}
