//! The scenarios of a project checked against its tasks: their files, their findings, and their
//! fixed texts. Writes nothing.

use super::artifact::Registry;
use super::compile::sources::MAX_CONTEXT_FILE_BYTES;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::source::{LineIndex, Position};
use crate::base::{contained_path, fs};
use crate::kernel::agent_node::TestedAgents;
use crate::project::config::Config;
use crate::rules::apply::{self, FixSelection, FixedText};
use crate::rules::check::{apply_levels, is_error};
use crate::rules::input::read_fault;
use crate::rules::scenario::check::{self, ScenarioScope};
use crate::rules::scenario::cx::{AgentResults, ProjectView, ScenarioFile, TaskSignature, Tasks};
use crate::rules::scenario::untested_task;
use crate::rules::syntax::undecodable;
use crate::scenario::ScenarioReadOptions;
use crate::scenario::load::{self, LoadedScenario, ScenarioReadError};
use crate::syntax::decode;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// The input of a check of scenarios.
#[derive(Clone, Copy)]
pub struct ScenarioRequest<'r> {
    /// The project's folder.
    pub root: &'r Path,
    /// The project.
    pub config: &'r Config,
    /// The tasks of the project that compile; `None` if the project file has an error.
    pub registry: Option<&'r Registry>,
    /// The names of the tasks that do not compile.
    pub excluded: &'r [String],
    /// Today as days since 1970; `None` if the age of cases is not checked.
    pub today: Option<i64>,
}

/// The result of a check of scenarios.
#[derive(Debug, Default)]
pub struct ScenarioFindings {
    /// The findings, located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// The paths of the files that were read.
    pub paths: Vec<Arc<str>>,
}

/// The tasks of a registry, each signature read once.
#[derive(Debug)]
struct CachedTasks<'r> {
    registry: &'r Registry,
    excluded: &'r [String],
    signatures: RefCell<BTreeMap<String, Option<Rc<TaskSignature>>>>,
}

impl Tasks for CachedTasks<'_> {
    fn names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = Tasks::names(self.registry)
            .into_iter()
            .chain(self.excluded.iter().map(String::as_str))
            .collect();
        names.into_iter().collect()
    }

    fn signature(&self, task: &str) -> Option<Rc<TaskSignature>> {
        if let Some(known) = self.signatures.borrow().get(task) {
            return known.clone();
        }
        let found = self.registry.signature(task);
        self.signatures
            .borrow_mut()
            .insert(task.to_owned(), found.clone());
        found
    }

    fn results(&self, task: &str, node: Option<&str>) -> Option<AgentResults> {
        self.registry.results(task, node)
    }
}

/// The scenario files of a project, sorted.
pub fn list_files(root: &Path, config: &Config) -> Vec<String> {
    let mut files = load::find_files(root, &config.eval.scenario_roots());
    files.retain(|path| config.eval.contains_scenario(path));
    files
}

/// Reads scenario files.
pub fn load_files(root: &Path, config: &Config, paths: &[String]) -> Vec<LoadedScenario> {
    load::load_files(root, paths, config.limits.file, &suite_options(config))
}

/// The agents that the scenarios of a project test, for `[[require]]`. A file that cannot be parsed
/// tests none.
pub fn tested_agents(root: &Path, config: &Config) -> TestedAgents {
    let loaded = load_files(root, config, &list_files(root, config));
    let cases = loaded
        .iter()
        .filter_map(|file| file.suite.as_ref())
        .flat_map(|suite| &suite.cases);
    untested_task::tested_agents(cases, config)
}

fn suite_options(config: &Config) -> ScenarioReadOptions<'_> {
    ScenarioReadOptions {
        rule: config.eval.trial_rule(),
        tables: None,
    }
}

/// Checks all scenario files of a project. Names are resolved over all files; findings are returned
/// only for files that `is_wanted` accepts and for the project file.
pub fn check_files(
    request: &ScenarioRequest<'_>,
    paths: &[String],
    reach: ScenarioScope,
    is_wanted: &dyn Fn(&str) -> bool,
) -> ScenarioFindings {
    let loaded = load_files(request.root, request.config, paths);
    let mut diagnostics = collect_findings(request, &loaded, reach);
    let is_reported =
        |path: &str| is_wanted(path) || request.config.files.iter().any(|file| *file.path == *path);
    diagnostics.retain(|finding| is_reported(&finding.path));
    let paths = loaded
        .into_iter()
        .map(|file| file.path)
        .filter(|path| is_wanted(path))
        .collect();
    ScenarioFindings { diagnostics, paths }
}

fn collect_findings(
    request: &ScenarioRequest<'_>,
    loaded: &[LoadedScenario],
    reach: ScenarioScope,
) -> Vec<Diagnostic> {
    let config = request.config;
    let mut found = with_project_view(request, loaded, |world, files| {
        check::scenario_findings(world, files, reach, &|_| true)
    });
    found.extend(
        loaded
            .iter()
            .filter_map(|file| unread_finding(config, file)),
    );
    diagnostic::sort_diagnostics(&mut found);
    found
}

/// The finding about a file that could not be read.
fn unread_finding(config: &Config, file: &LoadedScenario) -> Option<Diagnostic> {
    let unread = match file.read_error.as_ref()? {
        ScenarioReadError::Io(error) => read_fault::report(&file.path, error, config.limits.file),
        ScenarioReadError::NotText(fault) => undecodable::report(&file.path, fault),
    };
    apply_levels(config, unread)
}

/// The project around scenarios if there is no registry.
#[cfg(feature = "lsp")]
#[derive(Clone, Copy)]
pub(crate) struct OpenProject<'s> {
    /// The project's folder.
    pub(crate) root: &'s Path,
    /// The project.
    pub(crate) config: &'s Config,
    /// The project's tasks; `None` while they are not known.
    pub(crate) tasks: Option<&'s dyn Tasks>,
    /// Returns true if a file of the project is open in the editor or exists on disk.
    pub(crate) exists: &'s dyn Fn(&str) -> bool,
    /// Returns the text of a file.
    pub(crate) text: &'s dyn Fn(&str) -> Option<String>,
}

/// The findings of all scenarios of a project, sorted by path: those of the project file, and those
/// of files that `is_wanted` accepts.
#[cfg(feature = "lsp")]
pub(crate) fn check_loaded(
    around: &OpenProject<'_>,
    loaded: &[&LoadedScenario],
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let OpenProject {
        root,
        config,
        tasks,
        exists,
        text,
    } = *around;
    let leads_out = |path: &str| links_outside(root, path);
    let world = ProjectView {
        config,
        tasks,
        exists,
        leads_out: &leads_out,
        text,
        today: Some(days_since_epoch()),
    };
    let mut found = check::scenario_findings(
        &world,
        &readable_files(loaded.iter().copied()),
        ScenarioScope::All,
        is_wanted,
    );
    found.extend(
        loaded
            .iter()
            .filter_map(|file| unread_finding(config, file)),
    );
    found.retain(|finding| {
        is_wanted(&finding.path) || config.files.iter().any(|file| file.path == finding.path)
    });
    diagnostic::sort_diagnostics(&mut found);
    found
}

/// Reads a scenario of a project in which some files are open, by their names. `None` where there
/// is no such file.
#[cfg(feature = "lsp")]
pub(crate) fn read_open(
    root: &Path,
    config: &Config,
    path: &str,
    open: &dyn Fn(&str) -> Option<String>,
) -> Option<LoadedScenario> {
    let limit = config.limits.file;
    let tables = |table: &str| match contained_path::resolve_beside(path, table)
        .and_then(|name| open(&name))
    {
        Some(text) => Ok(text),
        None => load::read_table_text(root, path, table, limit),
    };
    let options = ScenarioReadOptions {
        tables: Some(&tables),
        ..suite_options(config)
    };
    match open(path) {
        Some(text) => Some(load::load_text(root, path, &text, limit, &options)),
        None => load::load_files(root, &[path.to_owned()], limit, &options).pop(),
    }
}

/// Today as days since 1970, from `SOURCE_DATE_EPOCH` if it is set.
#[cfg(any(feature = "cli", feature = "lsp"))]
pub(crate) fn days_since_epoch() -> i64 {
    const DAY: i64 = 86_400;
    fs::timestamp_seconds().div_euclid(DAY)
}

/// Calls `then` with the project and the files that could be read.
fn with_project_view<T>(
    request: &ScenarioRequest<'_>,
    loaded: &[LoadedScenario],
    then: impl FnOnce(&ProjectView<'_>, &[ScenarioFile<'_>]) -> T,
) -> T {
    let ScenarioRequest {
        root,
        config,
        registry,
        excluded,
        today,
    } = *request;
    let exists = |path: &str| file_exists(root, path);
    let leads_out = |path: &str| links_outside(root, path);
    let text = |path: &str| read_project_text(root, path);
    let known = registry.map(|registry| CachedTasks {
        registry,
        excluded,
        signatures: RefCell::default(),
    });
    let tasks = known.as_ref().map(|known| known as &dyn Tasks);
    let world = ProjectView {
        config,
        tasks,
        exists: &exists,
        leads_out: &leads_out,
        text: &text,
        today,
    };
    then(&world, &readable_files(loaded.iter()))
}

/// Returns true if a file exists in the project.
pub(crate) fn file_exists(root: &Path, path: &str) -> bool {
    fs::is_file(&root.join(path)) && !links_outside(root, path)
}

/// Returns true if a link on the path leads out of the project; such a file is never read.
fn links_outside(root: &Path, path: &str) -> bool {
    contained_path::link_out_error(&fs::RealFs, root, &root.join(path)).is_some()
}

/// Reads the text of a file of the project.
pub(crate) fn read_project_text(root: &Path, path: &str) -> Option<String> {
    let bytes =
        contained_path::read_file(&fs::RealFs, root, Path::new(path), MAX_CONTEXT_FILE_BYTES)
            .ok()?;
    Some(decode::decode(&bytes).ok()?.into_owned())
}

fn readable_files<'l>(loaded: impl Iterator<Item = &'l LoadedScenario>) -> Vec<ScenarioFile<'l>> {
    let files = loaded.filter(|file| file.read_error.is_none());
    files
        .map(|file| ScenarioFile {
            path: &file.path,
            text: &file.text,
            suite: file.suite.as_ref(),
            faults: &file.faults,
        })
        .collect()
}

/// The reasons why cases cannot run as written, by file and case name: the first error of `check`
/// in each, with its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(BTreeMap<(Arc<str>, String), String>);

impl Refusals {
    /// The reason why a case cannot run; `None` if nothing is wrong with it.
    pub fn reason_for(&self, path: &str, case: &str) -> Option<&str> {
        self.0
            .get(&(Arc::from(path), case.to_owned()))
            .map(String::as_str)
    }

    /// Records another reason why a case cannot run; it replaces the one from `check`.
    pub fn add_reason(&mut self, path: &Arc<str>, case: &str, why: String) {
        self.0.insert((Arc::clone(path), case.to_owned()), why);
    }
}

/// Finds the cases of loaded files that cannot run as written. The project's severities of rules
/// apply here too.
pub fn find_refusals(request: &ScenarioRequest<'_>, loaded: &[LoadedScenario]) -> Refusals {
    let refused = with_project_view(request, loaded, check::rejected_cases);
    let texts: BTreeMap<&str, &str> = loaded
        .iter()
        .map(|file| (&*file.path, &*file.text))
        .collect();
    let mut lines: BTreeMap<Arc<str>, LineIndex> = BTreeMap::new();
    let mut describe = |finding: &Diagnostic| {
        let text = texts.get(&*finding.path).copied().unwrap_or("");
        let lines = lines
            .entry(Arc::clone(&finding.path))
            .or_insert_with(|| LineIndex::new(text));
        describe_error(finding, text, lines)
    };
    Refusals(
        refused
            .into_iter()
            .map(|refused| ((refused.path, refused.case), describe(&refused.finding)))
            .collect(),
    )
}

/// An error in one line: its rule, its position, its message and the suggestion.
fn describe_error(finding: &Diagnostic, text: &str, lines: &LineIndex) -> String {
    let Position { line, column, .. } = lines.position(text, finding.span.start);
    let meant = finding
        .help
        .as_deref()
        .filter(|help| help.starts_with("did you mean"));
    let meant = meant.map_or_else(String::new, |meant| format!("; {meant}"));
    let Diagnostic {
        rule,
        path,
        message,
        ..
    } = finding;
    format!(
        "{} ({}): {path}:{line}:{column}: {message}{meant}",
        rule.name, rule.code
    )
}

/// The maximum number of characters of a source line in the explanation of a broken file.
const SOURCE: usize = 120;

/// Explains the reason why no case of a file can be run: the first error of its text with its line,
/// and the number of further errors that `check` reports.
pub fn explain_broken_file(request: &ScenarioRequest<'_>, file: &LoadedScenario) -> String {
    let errors: Vec<Diagnostic> =
        collect_findings(request, std::slice::from_ref(file), ScenarioScope::Some)
            .into_iter()
            .filter(|finding| finding.path == file.path && is_error(finding))
            .collect();
    // A missing key can be a consequence of a misspelt one, so faults of the text come first.
    let is_own = |finding: &&Diagnostic| file.faults.iter().any(|fault| fault.span == finding.span);
    let lines = LineIndex::new(&file.text);
    let describe = |first: &Diagnostic| {
        let number = lines
            .position(&file.text, first.span.start)
            .line
            .saturating_sub(1) as usize;
        let source: String = file
            .text
            .lines()
            .nth(number)
            .unwrap_or_default()
            .trim()
            .chars()
            .take(SOURCE)
            .collect();
        let source = if source.is_empty() {
            source
        } else {
            format!("; found `{source}`")
        };
        let help = first
            .help
            .as_deref()
            .filter(|help| !help.starts_with("did you mean"));
        describe_error(first, &file.text, &lines)
            + &source
            + &help.map_or_else(String::new, |help| format!("; {help}"))
    };
    let first = errors.iter().find(is_own).or(errors.first()).map(describe);
    match (first, errors.len()) {
        (None, _) => "`ctxc check` shows why".to_owned(),
        (Some(first), 1) => first,
        (Some(first), all) => format!("{first}; and {} more, which `ctxc check` shows", all - 1),
    }
}

/// Checks one text alone, in place of the file with this path.
pub fn check_text(request: &ScenarioRequest<'_>, path: &str, text: &str) -> Vec<Diagnostic> {
    let loaded = load::load_text(
        request.root,
        path,
        text,
        request.config.limits.file,
        &suite_options(request.config),
    );
    collect_findings(request, &[loaded], ScenarioScope::Some)
}

/// A scenario file with its text before and after fixing.
#[derive(Debug)]
pub struct FixedScenario {
    /// Relative to the project root.
    pub name: String,
    /// Its bytes before.
    pub before: Vec<u8>,
    /// Its bytes now.
    pub after: Vec<u8>,
    /// The number of applied fixes.
    pub fixed: usize,
    /// The findings that remain.
    pub left: Vec<Diagnostic>,
}

/// Fixes files in memory. Findings that `is_wanted` rejects are left alone.
pub fn apply_fixes(
    request: &ScenarioRequest<'_>,
    found: &[Diagnostic],
    which: FixSelection,
    is_wanted: &dyn Fn(&Diagnostic) -> bool,
) -> Vec<FixedScenario> {
    let fixable = found
        .iter()
        .filter(|finding| is_wanted(finding) && apply::eligible_fix(finding, which).is_some());
    let files: BTreeSet<&str> = fixable.map(|finding| &*finding.path).collect();
    files
        .into_iter()
        .filter_map(|name| fix_one(request, name, which, is_wanted))
        .collect()
}

fn fix_one(
    request: &ScenarioRequest<'_>,
    name: &str,
    which: FixSelection,
    is_wanted: &dyn Fn(&Diagnostic) -> bool,
) -> Option<FixedScenario> {
    let mut before = Vec::new();
    fs::read_regular(
        &request.root.join(name),
        request.config.limits.file,
        &mut before,
    )
    .ok()?;
    let text = decode::decode(&before).ok()?;
    let mut check = |text: &str| check_text(request, name, text);
    let FixedText {
        text,
        fixed,
        remaining: left,
    } = apply::fix_text(&text, which, &request.config.limits, is_wanted, &mut check);
    let after = decode::encode_like(&text, &before);
    if after == before {
        return None;
    }
    Some(FixedScenario {
        name: name.to_owned(),
        before,
        after,
        fixed,
        left,
    })
}
