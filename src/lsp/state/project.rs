//! A project as the editor has it: its files as they were compiled, and what is found in them. Edits only mark what they
//! change; `settle` brings it up to date. Writes nothing.

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

/// Something that has to be brought up to date.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum Change {
    /// Files on disk may have changed without a report.
    Disk,
    /// The project file, or one that it shares.
    Config,
    /// Files came or went.
    Files,
    /// A template, or a text that it pulls in.
    Document(Arc<str>),
    /// What scenarios are held against.
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
    /// Open templates that do not belong to the project: they use its names and give it none.
    pub(in crate::lsp) outside: Documents,
    /// Templates that are checked for their structure alone.
    pub(in crate::lsp) large: BTreeSet<Arc<str>>,
    /// What each definition of a file is about; made when it is asked for, until the file is compiled again.
    pub(in crate::lsp) docs: RefCell<BTreeMap<Arc<str>, Rc<Vec<String>>>>,
    /// The project file is not valid TOML just now: an earlier state of it holds.
    pub(in crate::lsp) is_config_broken: bool,
    /// Findings of the project file, of files it shares, and of a file of suppressions that cannot be read.
    pub(in crate::lsp) of_config: Vec<Diagnostic>,
    /// The recorded findings, with the text that they were read from. What is wrong with that text just now is in `of_config`.
    pub(in crate::lsp) suppressions: Option<(String, Suppressions)>,
    /// The scenarios of the project, open or not; `None` for one that changed since it was read.
    pub(in crate::lsp) suites: BTreeMap<Arc<str>, Option<Loaded>>,
    /// What scenarios make known: findings of those that are open, and of the project file.
    pub(in crate::lsp) of_scenarios: Found,
    /// Findings of the others; looked for when somebody asks, until anything changes.
    pub(in crate::lsp) of_closed: RefCell<Option<Rc<Found>>>,
    /// Trees of open documents and the variables of files, kept from one request to the next until anything changes.
    pub(in crate::lsp) read: ReadCache,
    /// Findings about names and references.
    pub(in crate::lsp) linked: Found,
    /// An upper bound, in bytes, of every definition with all that it refers to put in.
    pub(in crate::lsp) largest_expansion: u64,
    /// Tasks that scenarios need, by their names, with what they refer to; `None` for one that does not compile.
    pub(in crate::lsp) compiled: RefCell<BTreeMap<String, Option<Rc<Registry>>>>,
    /// What such a task takes.
    pub(in crate::lsp) signatures: RefCell<BTreeMap<String, Option<Rc<TaskSignature>>>>,
    pub(in crate::lsp) active: Active,
    /// The rules that large files are held against.
    pub(in crate::lsp) structure: Active,
    pub(in crate::lsp) scratch: Scratch,
    /// Files on disk as they were when they were last read.
    pub(in crate::lsp) stamps: BTreeMap<Arc<str>, Option<Stamp>>,
    pub(in crate::lsp) pending: BTreeSet<Change>,
    /// How often templates or the project file were brought up to date: token counts of another revision are those of another text.
    pub(in crate::lsp) revision: u64,
    /// How often the project file was read.
    pub(in crate::lsp) config_revision: u32,
    /// It is one file that belongs to no project, and to no folder that is open.
    pub(in crate::lsp) is_alone: bool,
    /// The client watches its files.
    pub(in crate::lsp) is_watched: bool,
    /// The folders of other projects inside of this one.
    pub(in crate::lsp) inner: Vec<PathBuf>,
    pub(in crate::lsp) shown: Shown,
}

/// What the client was shown of a project.
#[derive(Debug, Default)]
pub(in crate::lsp) struct Shown {
    /// Something was brought up to date since diagnostics were pushed.
    pub(in crate::lsp) is_stale: bool,
    /// What was pushed last.
    pub(in crate::lsp) pushed: BTreeMap<Arc<str>, Vec<gen_lsp_types::Diagnostic>>,
    /// Files whose findings changed since the client was told to ask again.
    pub(in crate::lsp) changed: BTreeSet<Arc<str>>,
    /// Documents that the client edited since then.
    pub(in crate::lsp) edited: BTreeSet<Arc<str>>,
    /// How often the project file had been read then; 0 before the first time.
    pub(in crate::lsp) config_revision: u32,
    /// What was said of which document.
    pub(in crate::lsp) said: RefCell<BTreeSet<(Arc<str>, &'static str)>>,
}

impl ProjectState {
    /// A project in a folder. Nothing is read before somebody asks.
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

    /// The name that findings give to a path.
    pub(in crate::lsp) fn name(&self, path: &Path) -> Arc<str> {
        let inside = || if path.strip_prefix(&self.root).is_err() { self.by_links(path) } else { None };
        Arc::from(name_in(&self.root, inside().as_deref().unwrap_or(path)))
    }

    /// The path, spelled as the project's folder is, of a file that is named by way of other links.
    fn by_links(&self, path: &Path) -> Option<PathBuf> {
        let folder = RealFs.canonical(path.parent()?).ok()?;
        let inside = folder.strip_prefix(RealFs.canonical(&self.root).ok()?).ok()?;
        Some(self.root.join(inside).join(path.file_name()?))
    }

    /// The path behind a name.
    pub(in crate::lsp) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Files as the editor has them.
    pub(in crate::lsp) fn files(&self) -> Overlay<'_> {
        Overlay { root: &self.root, open: &self.open }
    }

    /// The text of a file as the editor has it.
    pub(in crate::lsp) fn read(&self, name: &str) -> Option<String> {
        let bytes = self.files().read(&self.root.join(name), self.config.limits.file).ok()?;
        decode::decode(&bytes).ok().map(std::borrow::Cow::into_owned)
    }

    /// The same with its lines.
    pub(in crate::lsp) fn text(&self, name: &str) -> Option<(String, LineIndex)> {
        if let Some(buffer) = self.open.get(name) {
            return Some((buffer.text.clone(), buffer.index.clone()));
        }
        let text = self.read(name)?;
        let index = LineIndex::new(&text);
        Some((text, index))
    }

    /// A template, of the project or not.
    pub(in crate::lsp) fn template(&self, name: &str) -> Option<&Compiled> {
        self.documents.get(name).or_else(|| self.outside.get(name))
    }

    /// All templates: those of the project in the order of their names, then the others.
    pub(in crate::lsp) fn templates(&self) -> impl Iterator<Item = (&Arc<str>, &Compiled)> {
        self.documents.iter().chain(self.outside.iter())
    }

    /// Whether a template is checked for its structure alone.
    pub(in crate::lsp) fn is_large(&self, name: &str) -> bool {
        self.large.contains(name)
    }

    /// The findings of one file, but for those that are suppressed, as on the command line.
    pub(in crate::lsp) fn found(&self, name: &str) -> Vec<Diagnostic> {
        let mut found = self.with_suppressed(name);
        self.suppress(&mut found);
        if let Some((text, recorded)) = self.suppressions.as_ref().filter(|_| *name == *SUPPRESSIONS && found.is_empty()) {
            found = self.stale_suppressions(text, recorded);
        }
        found
    }

    /// Takes suppressed findings out of those of a file.
    pub(in crate::lsp) fn suppress(&self, found: &mut Vec<Diagnostic>) {
        if let Some((text, recorded)) = &self.suppressions {
            stale_suppression::apply(found, (text, recorded), |_| false);
        }
    }

    /// The recorded findings of a text that are no longer there.
    pub(in crate::lsp) fn stale_suppressions(&self, text: &str, recorded: &Suppressions) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = recorded.paths().into_iter().flat_map(|path| self.with_suppressed(path)).collect();
        stale_suppression::apply(&mut found, (text, recorded), |_| true);
        found.retain(|finding| *finding.path == *SUPPRESSIONS);
        found
    }

    /// All findings of one file.
    fn with_suppressed(&self, name: &str) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = self.of_config.iter().filter(|finding| *finding.path == *name).cloned().collect();
        if !self.is_xml(name) {
            found.extend(self.in_text(name));
            found.extend(self.of_request(name));
        }
        found.extend(self.template(name).into_iter().flat_map(|template| &template.diagnostics).cloned());
        if self.is_config_broken && self.is_config(name) {
            // What else there is to say of it is of a text that is not there.
            return found;
        }
        found.extend(self.linked.get(name).into_iter().flatten().cloned());
        if self.suites.contains_key(name) && !self.open.contains_key(name) {
            found.extend(self.closed_scenarios().get(name).into_iter().flatten().cloned());
        } else {
            found.extend(self.of_scenarios.get(name).into_iter().flatten().cloned());
        }
        diagnostic::sort(&mut found);
        found
    }

    /// Everything with findings or open, in order.
    pub(in crate::lsp) fn names(&self) -> BTreeSet<Arc<str>> {
        let own = self.of_config.iter().map(|finding| &finding.path);
        let suppressions = self.suppressions.as_ref().map(|_| Arc::from(SUPPRESSIONS));
        let templates = self.templates().map(|(name, _)| name);
        let scenarios = self.of_scenarios.keys().chain(self.suites.keys());
        let findings = self.templates().flat_map(|(_, template)| &template.diagnostics);
        let texts = findings.flat_map(|finding| &finding.labels).filter(|label| label.text == IN_TEXT);
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

    /// Whether a name is one of those that findings are shown of.
    pub(in crate::lsp) fn is_ours(&self, name: &str) -> bool {
        self.is_xml(name) || self.is_scenario(name) || self.is_config(name) || self.is_text(name) || self.is_request(name)
    }

    /// Whether a file is a text that some template pulls in.
    pub(in crate::lsp) fn is_text(&self, name: &str) -> bool {
        self.users(name).next().is_some()
    }

    /// The templates that pull in a text, each with the place that does.
    pub(in crate::lsp) fn users(&self, name: &str) -> impl Iterator<Item = (&Arc<str>, &Source)> {
        self.templates().flat_map(move |(path, template)| {
            let own = template.facts.sources.iter().filter(|source| source.kind == SourceKind::Text);
            own.filter(|source| contained_path::beside(path, &source.path).as_deref() == Some(name))
                .map(move |source| (path, source))
        })
    }

    /// What templates have found in a text that they pull in: at its place there, with the template beside it.
    pub(in crate::lsp) fn in_text(&self, name: &str) -> Vec<Diagnostic> {
        let found = self.templates().flat_map(|(_, template)| &template.diagnostics).chain(self.linked.values().flatten());
        let is_here = |label: &&Label| label.path.as_deref() == Some(name) && label.text == IN_TEXT;
        let templates = found.filter(|finding| finding.labels.iter().any(|label| is_here(&label))).map(|finding| &finding.path);
        let templates: BTreeSet<&Arc<str>> = templates.collect();
        let one = |finding: Diagnostic| {
            let label = finding.labels.iter().find(is_here)?;
            let place = format!("in {name}:{}:{}: ", label.start.line, label.start.column);
            let message = finding.message.strip_prefix(&place).unwrap_or(&finding.message).to_owned();
            let mut own = finding.clone();
            own.message = message;
            own.span = label.span;
            own.path = Arc::from(name);
            own.fixes.clear();
            own.labels.clear();
            Some(own.label_in(Arc::clone(&finding.path), finding.span, finding.start, "pulled in here"))
        };
        templates.into_iter().flat_map(|template| self.found(template)).filter_map(one).collect()
    }

    /// Whether a file is the project file, one that it shares, or the one that says what is suppressed.
    pub(in crate::lsp) fn is_config(&self, name: &str) -> bool {
        *name == *PROJECT || *name == *SUPPRESSIONS || self.config.files.iter().any(|file| *file.path == *name)
    }

    /// Whether a file may be a template: by its name, or since the editor says that it is XML.
    pub(in crate::lsp) fn is_xml(&self, name: &str) -> bool {
        is_template(name) || self.open.get(name).is_some_and(|buffer| buffer.is_xml && !is_other(name))
    }

    /// How much of a project it is: a file that is alone knows nobody who would use what it defines.
    pub(in crate::lsp) const fn scope(&self) -> Scope {
        if self.is_alone { Scope::Part } else { Scope::Whole }
    }

    /// All names of the project.
    pub(in crate::lsp) fn index(&self) -> Index<'_> {
        self.documents.index()
    }

    /// What compiles a text: all rules, or those of the structure for a large one.
    pub(in crate::lsp) fn compiler<'c>(&'c self, files: &'c Overlay<'c>, text: &str) -> Compiler<'c> {
        let active = if Buffer::is_large_text(text) { &self.structure } else { &self.active };
        Compiler { config: &self.config, active, root: &self.root, files, purpose: Purpose::Findings }
    }

    /// The project that a text of its file makes.
    pub(in crate::lsp) fn project_of(&self, text: &str) -> Config {
        let rules: Vec<&'static RuleMeta> = list::all().map(|rule| &rule.meta).collect();
        Config::read(&Input { path: PROJECT, text, root: &self.root, files: &self.files(), rules: &rules })
    }
}

/// All rules, and those that large files are held against.
pub(in crate::lsp) fn actives(config: &Config, identity: Identity) -> (Active, Active) {
    let active = || Active::new(config).with_identity(identity);
    (active(), active().structure())
}

/// Whether a name says that a file is something else than XML, whatever an editor says.
fn is_other(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["md", "txt", "j2", "jinja", "jinja2", "toml", "yaml", "yml", "json", "csv", "jsonl"].contains(&ending)
}

/// Whether a name is one that templates have.
pub(in crate::lsp) fn is_template(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xml"))
}
