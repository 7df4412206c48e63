//! The state of a project in the editor: its compiled files and their findings. Edits only mark
//! changes; `settle` applies them. Writes nothing.

use super::open_documents::{DocumentBuffer, EditorOverlay, OpenBuffers};
use super::read_cache::ReadCache;
use crate::base::contained_path;
use crate::base::diagnostic::{self, Diagnostic, Label};
use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::base::rule_meta::RuleMeta;
use crate::base::source::LineIndex;
use crate::project::config::{Config, ConfigInput};
use crate::project::index::NameIndex;
use crate::project::lock_file::LOCK_FILE;
use crate::project::suppressions::{SUPPRESSIONS_FILE as SUPPRESSIONS, Suppressions};
use crate::registry::Registry;
use crate::registry::compile::{CompileBuffers, CompiledFile, Compiler};
use crate::registry::workspace::documents::CompiledFiles;
use crate::registry::workspace::request::name_in;
use crate::rules::check::{ActiveRules, Fingerprints};
use crate::rules::input::stale_suppression;
use crate::rules::list;
use crate::rules::names::names_prelude::IN_TEXT_LABEL;
use crate::rules::rule::CheckScope;
use crate::rules::scenario::cx::TaskSignature;
use crate::scenario::load::LoadedScenario;
use crate::syntax::decode;
use crate::template::names::{LinkedFile, LinkedFileKind};
use crate::template::scope::LinkDetail;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The project file.
pub(in crate::lsp) const PROJECT_FILE: &str = "ctxc.toml";

/// Findings by file.
pub(in crate::lsp) type FindingsByFile = BTreeMap<Arc<str>, Vec<Diagnostic>>;

/// A pending update.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum PendingChange {
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
    pub(in crate::lsp) open: Arc<OpenBuffers>,
    /// The templates of the project.
    pub(in crate::lsp) documents: CompiledFiles,
    /// Open templates outside the project: they use its names and define none for it.
    pub(in crate::lsp) outside: CompiledFiles,
    /// Templates that are checked for their structure only.
    pub(in crate::lsp) large: BTreeSet<Arc<str>>,
    /// The descriptions of each file's definitions, made on demand and kept until the file is
    /// compiled again.
    pub(in crate::lsp) docs: RefCell<BTreeMap<Arc<str>, Rc<Vec<String>>>>,
    /// True if the project file is currently invalid TOML, so that its earlier state is used.
    pub(in crate::lsp) is_config_broken: bool,
    /// Findings of the project file, of its included files, and of an unreadable suppressions file.
    pub(in crate::lsp) config_findings: Vec<Diagnostic>,
    /// The suppressions with their text. Faults of the current text are in `config_findings`.
    pub(in crate::lsp) suppressions: Option<(String, Suppressions)>,
    /// The scenarios of the project, open or not; `None` for a changed one that is not read yet.
    pub(in crate::lsp) suites: BTreeMap<Arc<str>, Option<LoadedScenario>>,
    /// Findings of the open scenarios, and those of the project file that depend on scenarios.
    pub(in crate::lsp) scenario_findings: FindingsByFile,
    /// Findings of the closed scenarios, computed on demand and kept until the next change.
    pub(in crate::lsp) closed_findings: RefCell<Option<Rc<FindingsByFile>>>,
    /// Trees of open documents and the variables of files, kept from one request to the next until
    /// anything changes.
    pub(in crate::lsp) read: ReadCache,
    /// Findings about names and references.
    pub(in crate::lsp) link_findings: FindingsByFile,
    /// An upper bound, in bytes, of the size of every definition with everything that it refers to
    /// inserted.
    pub(in crate::lsp) largest_expansion: u64,
    /// Tasks that scenarios need, by their names, with what they refer to; `None` for one that does
    /// not compile.
    pub(in crate::lsp) compiled: RefCell<BTreeMap<String, Option<Rc<Registry>>>>,
    /// The signatures of tasks that scenarios need, by name; `None` for a task that does not
    /// compile.
    pub(in crate::lsp) signatures: RefCell<BTreeMap<String, Option<Rc<TaskSignature>>>>,
    pub(in crate::lsp) active: ActiveRules,
    /// The rules that large files are checked with.
    pub(in crate::lsp) structure: ActiveRules,
    pub(in crate::lsp) scratch: CompileBuffers,
    /// The state of files on disk when they were last read.
    pub(in crate::lsp) stamps: BTreeMap<Arc<str>, Option<Stamp>>,
    pub(in crate::lsp) pending: BTreeSet<PendingChange>,
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
    pub(in crate::lsp) shown: ShownState,
}

/// The results of a project that the client has received.
#[derive(Debug, Default)]
pub(in crate::lsp) struct ShownState {
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
    pub(in crate::lsp) shown_messages: RefCell<BTreeSet<(Arc<str>, &'static str)>>,
}

impl ProjectState {
    /// Creates the project of a folder. Reads nothing until the first `settle`.
    pub(in crate::lsp) fn new(root: PathBuf) -> Self {
        let config = Arc::new(Config::default());
        let (active, structure) = active_rules(&config, Fingerprints::Omitted);
        Self {
            root,
            config,
            open: Arc::default(),
            documents: CompiledFiles::default(),
            outside: CompiledFiles::default(),
            large: BTreeSet::new(),
            docs: RefCell::default(),
            is_config_broken: false,
            config_findings: Vec::new(),
            suppressions: None,
            suites: BTreeMap::new(),
            scenario_findings: FindingsByFile::new(),
            closed_findings: RefCell::default(),
            read: ReadCache::default(),
            link_findings: FindingsByFile::new(),
            largest_expansion: 0,
            compiled: RefCell::default(),
            signatures: RefCell::default(),
            active,
            structure,
            scratch: CompileBuffers::new(),
            stamps: BTreeMap::new(),
            pending: BTreeSet::from([PendingChange::Config]),
            revision: 0,
            config_revision: 0,
            is_alone: false,
            is_watched: false,
            inner: Vec::new(),
            shown: ShownState::default(),
        }
    }

    /// Returns the name of a path in findings.
    pub(in crate::lsp) fn name_of_path(&self, path: &Path) -> Arc<str> {
        let inside = || {
            if path.strip_prefix(&self.root).is_err() {
                self.resolve_links(path)
            } else {
                None
            }
        };
        Arc::from(name_in(&self.root, inside().as_deref().unwrap_or(path)))
    }

    /// Returns the path of a file inside the project's folder if it was given by way of other
    /// symbolic links.
    fn resolve_links(&self, path: &Path) -> Option<PathBuf> {
        let folder = RealFs.canonicalize(path.parent()?).ok()?;
        let inside = folder
            .strip_prefix(RealFs.canonicalize(&self.root).ok()?)
            .ok()?;
        Some(self.root.join(inside).join(path.file_name()?))
    }

    /// Returns the path of a name.
    pub(in crate::lsp) fn path(&self, name: &str) -> PathBuf {
        self.config.packages.real_path(&self.root, name)
    }

    /// Returns true if a file belongs to a package that the project uses. Its findings are shown
    /// where the package is made.
    pub(in crate::lsp) fn is_of_package(&self, name: &str) -> bool {
        self.config.packages.of_file(name).is_some()
    }

    /// Returns the file system with the editor's documents.
    pub(in crate::lsp) fn file_system(&self) -> EditorOverlay<'_> {
        EditorOverlay {
            root: &self.root,
            open: &self.open,
        }
    }

    /// Returns the text of a file, open or on disk.
    pub(in crate::lsp) fn read_text(&self, name: &str) -> Option<String> {
        let bytes = self
            .file_system()
            .read(&self.path(name), self.config.limits.file)
            .ok()?;
        decode::decode(&bytes)
            .ok()
            .map(std::borrow::Cow::into_owned)
    }

    /// Returns the text of a file with its line index.
    pub(in crate::lsp) fn indexed_text(&self, name: &str) -> Option<(String, LineIndex)> {
        if let Some(buffer) = self.open.get(name) {
            return Some((buffer.text.clone(), buffer.index.clone()));
        }
        let text = self.read_text(name)?;
        let index = LineIndex::new(&text);
        Some((text, index))
    }

    /// Returns a template inside or outside the project.
    pub(in crate::lsp) fn template(&self, name: &str) -> Option<&CompiledFile> {
        self.documents.get(name).or_else(|| self.outside.get(name))
    }

    /// Returns all templates: those of the project by name, then the others.
    pub(in crate::lsp) fn templates(&self) -> impl Iterator<Item = (&Arc<str>, &CompiledFile)> {
        self.documents.iter().chain(self.outside.iter())
    }

    /// Returns true if only the structure of a template is checked.
    pub(in crate::lsp) fn is_large(&self, name: &str) -> bool {
        self.large.contains(name)
    }

    /// Returns the findings of one file without suppressed ones, as on the command line.
    pub(in crate::lsp) fn findings(&self, name: &str) -> Vec<Diagnostic> {
        let mut found = self.all_findings(name);
        self.remove_suppressed(&mut found);
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
    pub(in crate::lsp) fn remove_suppressed(&self, found: &mut Vec<Diagnostic>) {
        if let Some((text, recorded)) = &self.suppressions {
            stale_suppression::apply_suppressions(found, text, recorded, |_| false);
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
            .flat_map(|path| self.all_findings(path))
            .collect();
        stale_suppression::apply_suppressions(&mut found, text, recorded, |_| true);
        found.retain(|finding| *finding.path == *SUPPRESSIONS);
        found
    }

    /// Returns all findings of one file.
    fn all_findings(&self, name: &str) -> Vec<Diagnostic> {
        if self.is_of_package(name) {
            return Vec::new();
        }
        let mut found: Vec<Diagnostic> = self
            .config_findings
            .iter()
            .filter(|finding| *finding.path == *name)
            .cloned()
            .collect();
        if !self.is_xml(name) {
            found.extend(self.findings_in_text(name));
            found.extend(self.request_findings(name));
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
        found.extend(self.link_findings.get(name).into_iter().flatten().cloned());
        if self.suites.contains_key(name) && !self.open.contains_key(name) {
            found.extend(
                self.closed_scenarios()
                    .get(name)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        } else {
            found.extend(
                self.scenario_findings
                    .get(name)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        diagnostic::sort_diagnostics(&mut found);
        found
    }

    /// Returns the names of all files that are open or can have findings.
    pub(in crate::lsp) fn file_names(&self) -> BTreeSet<Arc<str>> {
        let own = self.config_findings.iter().map(|finding| &finding.path);
        let suppressions = self.suppressions.as_ref().map(|_| Arc::from(SUPPRESSIONS));
        let templates = self.templates().map(|(name, _)| name);
        let templates = templates.filter(|name| !self.is_of_package(name));
        let scenarios = self.scenario_findings.keys().chain(self.suites.keys());
        let findings = self
            .templates()
            .flat_map(|(_, template)| &template.diagnostics);
        let texts = findings
            .flat_map(|finding| &finding.labels)
            .filter(|label| label.text == IN_TEXT_LABEL);
        let texts = texts.filter_map(|label| label.path.as_ref());
        own.chain(self.link_findings.keys())
            .chain(templates)
            .chain(scenarios)
            .chain(texts)
            .chain(self.open.keys())
            .cloned()
            .chain(suppressions)
            .collect()
    }

    /// Returns true if findings of this file are shown.
    pub(in crate::lsp) fn shows_findings(&self, name: &str) -> bool {
        self.is_xml(name)
            || self.is_scenario(name)
            || self.is_config(name)
            || self.is_included_text(name)
            || self.is_request(name)
    }

    /// Returns true if a template includes this file as a text.
    pub(in crate::lsp) fn is_included_text(&self, name: &str) -> bool {
        self.including_templates(name).next().is_some()
    }

    /// Returns the templates that include a text, each with the place of its path.
    pub(in crate::lsp) fn including_templates(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (&Arc<str>, &LinkedFile)> {
        self.templates().flat_map(move |(path, template)| {
            let own = template
                .facts
                .sources
                .iter()
                .filter(|source| source.kind == LinkedFileKind::Text);
            own.filter(|source| {
                contained_path::resolve_beside(path, &source.path).as_deref() == Some(name)
            })
            .map(move |source| (path, source))
        })
    }

    /// Returns the findings of templates in a text that they include: at its place there, with the
    /// template as a label.
    pub(in crate::lsp) fn findings_in_text(&self, name: &str) -> Vec<Diagnostic> {
        let found = self
            .templates()
            .flat_map(|(_, template)| &template.diagnostics)
            .chain(self.link_findings.values().flatten());
        let is_here =
            |label: &&Label| label.path.as_deref() == Some(name) && label.text == IN_TEXT_LABEL;
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
            .flat_map(|template| self.findings(template))
            .filter_map(one)
            .collect()
    }

    /// Returns true for the project file, the files it includes, and the suppressions file.
    pub(in crate::lsp) fn is_config(&self, name: &str) -> bool {
        *name == *PROJECT_FILE
            || *name == *SUPPRESSIONS
            || *name == *LOCK_FILE
            || self.config.files.iter().any(|file| *file.path == *name)
    }

    /// Returns true if a file may be a template: by its name, or because the editor declares it as
    /// XML.
    pub(in crate::lsp) fn is_xml(&self, name: &str) -> bool {
        is_template_name(name)
            || self
                .open
                .get(name)
                .is_some_and(|buffer| buffer.is_xml && !excludes_xml(name))
    }

    /// Returns the scope of the checks: a single file has unknown users of its definitions.
    pub(in crate::lsp) const fn check_scope(&self) -> CheckScope {
        if self.is_alone {
            CheckScope::NamedFiles
        } else {
            CheckScope::WholeProject
        }
    }

    /// Returns the index of all names of the project.
    pub(in crate::lsp) fn index(&self) -> NameIndex<'_> {
        self.documents.index()
    }

    /// Returns a compiler for a text: with all rules, or those of the structure for a large text.
    pub(in crate::lsp) fn compiler<'c>(
        &'c self,
        files: &'c EditorOverlay<'c>,
        text: &str,
    ) -> Compiler<'c> {
        let active = if DocumentBuffer::is_large_text(text) {
            &self.structure
        } else {
            &self.active
        };
        Compiler {
            config: &self.config,
            active,
            root: &self.root,
            files,
            purpose: LinkDetail::Findings,
            package: None,
        }
    }

    /// Parses a text as the project file.
    pub(in crate::lsp) fn parse_config(&self, text: &str) -> Config {
        let rules: Vec<&'static RuleMeta> = list::all_rules().map(|rule| &rule.meta).collect();
        Config::read(&ConfigInput {
            path: PROJECT_FILE,
            text,
            root: &self.root,
            files: &self.file_system(),
            rules: &rules,
        })
    }
}

/// Returns all active rules, and those for large files.
pub(in crate::lsp) fn active_rules(
    config: &Config,
    identity: Fingerprints,
) -> (ActiveRules, ActiveRules) {
    let active = || ActiveRules::new(config).with_fingerprints(identity);
    (active(), active().syntax_only())
}

/// Returns true if the name's extension excludes XML, regardless of the editor.
fn excludes_xml(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    [
        "md", "txt", "j2", "jinja", "jinja2", "toml", "yaml", "yml", "json", "csv", "jsonl",
    ]
    .contains(&ending)
}

/// Returns true if a name has the extension of templates.
pub(in crate::lsp) fn is_template_name(name: &str) -> bool {
    Path::new(name)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("xml"))
}
