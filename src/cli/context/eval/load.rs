//! The scenarios of a project, read and chosen: files, cases, and the files beside them.

use super::super::project::{CompiledProject, ProjectFiles, path_in_project};
use super::args::{EvalArgs, PassRule};
use crate::base::{fs, suggest};
use crate::cli::context::models::{self, ProjectCounters};
use crate::cli::error::{CliError, Result};
use crate::cli::selection::not_a_scenario;
use crate::context::request::{Files, RequestedFile};
use crate::eval::answer_source::AnswerOptions;
use crate::eval::compiled_patterns::{CompiledPatterns, NameSelector};
use crate::eval::prepared_case::RunContext;
use crate::eval::receiver::resolve_receiver;
use crate::eval::trials::TrialPolicy;
use crate::project::config::Config;
use crate::project::packages::{CONTRACTS_FOLDER, contract_package};
use crate::registry::compile::sources::MAX_CONTEXT_FILE_BYTES;
use crate::registry::scenarios::{
    self, Refusals, ScenarioRequest, explain_broken_file, find_refusals,
};
use crate::scenario::load::{self, LoadedScenario, ScenarioReadError};
use crate::scenario::model::{CaseSubject, ScenarioCase, Suite, TrialRule};
use crate::scenario::{ScenarioReadOptions, paths, read_suite_with};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The maximum number of bytes of a scenario file: as many as of any other file of a context, so
/// that its revisions can be read too.
const MAX_SCENARIO_BYTES: u64 = MAX_CONTEXT_FILE_BYTES;

/// Files of the project, each read once.
#[derive(Debug)]
pub(in crate::cli::context) struct CachedFiles<'p> {
    inside: ProjectFiles<'p>,
    known: Mutex<BTreeMap<String, std::result::Result<String, String>>>,
}

impl<'p> CachedFiles<'p> {
    /// Creates an empty cache over the files.
    pub(in crate::cli::context) const fn new(inside: ProjectFiles<'p>) -> Self {
        Self {
            inside,
            known: Mutex::new(BTreeMap::new()),
        }
    }
}

impl Files for CachedFiles<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        let known = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(path)
            .cloned();
        if let Some(known) = known {
            return known;
        }
        let read = self.inside.text(path);
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path.to_owned(), read.clone());
        read
    }

    fn requested(&self, path: &str) -> std::result::Result<RequestedFile, String> {
        self.inside.requested(path)
    }
}

/// Files beside a scenario.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli::context) struct FilesBeside<'p> {
    pub(in crate::cli::context) scenario: &'p str,
    pub(in crate::cli::context) files: &'p CachedFiles<'p>,
}

impl Files for FilesBeside<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        let outside = || "it lies outside the project's folder".to_owned();
        self.files
            .text(&paths::resolve_beside(self.scenario, path).ok_or_else(outside)?)
    }
}

/// A case with its file and suite.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenCase<'l> {
    pub(super) path: &'l str,
    pub(super) suite: &'l Suite,
    pub(super) case: &'l ScenarioCase,
}

/// The requested scenario files, and the names that are not paths. Names are searched in all files
/// of the project.
#[derive(Debug)]
pub(in crate::cli::context) struct Scenarios {
    pub(in crate::cli::context) files: Vec<LoadedScenario>,
    /// The files that are requested as a whole; all of them if neither files nor names are given.
    whole: BTreeSet<String>,
    names: Vec<String>,
}

/// A scenario file with errors.
#[derive(Clone, Debug)]
pub(in crate::cli::context) struct BrokenFile<'s> {
    pub(in crate::cli::context) file: &'s LoadedScenario,
    /// The error.
    pub(in crate::cli::context) reason: String,
}

/// A project with its scenarios, as far as they are already parsed.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli::context) struct ParsedScenarios<'s> {
    pub(in crate::cli::context) project: &'s CompiledProject,
    pub(in crate::cli::context) scenarios: &'s Scenarios,
}

/// Returns the path of the parts of a decomposed task in an answer.
pub(super) fn plan_path(project: &CompiledProject) -> &str {
    project
        .config
        .eval
        .plan_path
        .as_ref()
        .map_or("$.subtasks", |path| &path.value)
}

/// Returns the shared context of all cases of a project; trials stop once the verdict is certain.
pub(super) fn run_context<'a>(
    project: &'a CompiledProject,
    live: &'a CachedFiles<'a>,
    counters: &'a ProjectCounters,
    patterns: &'a CompiledPatterns,
) -> RunContext<'a> {
    RunContext {
        registry: &project.registry,
        roles: &project.config.roles,
        live,
        index: None,
        counter: counters.default_counter(),
        models: Some(counters.model_settings(&project.config)),
        plan: plan_path(project),
        rows: TrialPolicy::StopWhenDecided,
        patterns,
        answers: AnswerOptions::default(),
        session: "",
    }
}

/// Returns the reader's options with the project's trial rule.
fn reader_options(config: &Config) -> ScenarioReadOptions<'static> {
    ScenarioReadOptions {
        rule: config.eval.trial_rule(),
        tables: None,
    }
}

/// Returns the project for checks of scenarios.
fn check_request(
    CompiledProject {
        root,
        config,
        registry,
        ..
    }: &CompiledProject,
) -> ScenarioRequest<'_> {
    ScenarioRequest {
        root,
        config,
        registry: Some(registry),
        excluded: &[],
        today: None,
    }
}

/// Reads all scenario files of a project.
pub(in crate::cli::context) fn load_scenarios(root: &Path, config: &Config) -> Vec<LoadedScenario> {
    load::load_files(
        root,
        &scenarios::list_files(root, config),
        MAX_SCENARIO_BYTES,
        &reader_options(config),
    )
}

/// Returns the names of all scenarios of a project, including those in files with faults.
pub(in crate::cli::context) fn scenario_names(project: &CompiledProject) -> BTreeSet<String> {
    let suites = load_scenarios(&project.root, &project.config)
        .into_iter()
        .filter_map(|file| file.suite);
    suites
        .flat_map(|suite| suite.cases)
        .map(|case| case.name.value)
        .collect()
}

impl Scenarios {
    /// Sets the number of trials of every case, if the flags give it.
    pub(super) fn with_rule(mut self, rule: Option<PassRule>) -> Self {
        if let Some(PassRule { runs, pass }) = rule {
            for case in self.cases_mut() {
                case.rule = TrialRule {
                    runs,
                    pass,
                    sequential: None,
                    ..case.rule
                };
            }
        }
        self
    }

    /// Returns true if some scenarios test requests of other programs.
    pub(in crate::cli::context) fn have_requests(&self) -> bool {
        let mut cases = self
            .files
            .iter()
            .filter_map(|file| file.suite.as_ref())
            .flat_map(|suite| &suite.cases);
        cases.any(|case| {
            matches!(
                case.subject.value,
                CaseSubject::Request(_) | CaseSubject::Compaction(_)
            )
        })
    }

    /// Reads the scenario files of a project, or the named ones.
    pub(in crate::cli::context) fn read(
        project: &CompiledProject,
        what: &[String],
    ) -> Result<Self> {
        let root = &project.root;
        let mut given = Vec::new();
        let mut names = Vec::new();
        for one in what {
            match scenario_path(root, one)? {
                Some(path) => given.push(path),
                None => names.push(one.clone()),
            }
        }
        let whole: BTreeSet<String> = load::find_files(root, &given).into_iter().collect();
        let mut all = whole.clone();
        if given.is_empty() || !names.is_empty() {
            all.extend(scenarios::list_files(root, &project.config));
        }
        let files = load::load_files(
            root,
            &all.into_iter().collect::<Vec<_>>(),
            MAX_SCENARIO_BYTES,
            &reader_options(&project.config),
        );
        Ok(Self {
            files,
            whole,
            names,
        })
    }

    /// Reads the scenario files in a folder of a project, which are not among its own.
    pub(in crate::cli::context) fn read_contracts(
        root: &Path,
        config: &Config,
        folder: &str,
    ) -> Self {
        let paths = load::find_files(root, &[folder.to_owned()]);
        Self {
            files: load::load_files(root, &paths, MAX_SCENARIO_BYTES, &reader_options(config)),
            whole: paths.into_iter().collect(),
            names: Vec::new(),
        }
    }

    /// All cases, to be changed.
    pub(in crate::cli::context) fn cases_mut(&mut self) -> impl Iterator<Item = &mut ScenarioCase> {
        let suites = self.files.iter_mut().filter_map(|file| file.suite.as_mut());
        suites.flat_map(|suite| &mut suite.cases)
    }

    /// Removes what some cases, by file and name, expect of answers.
    pub(super) fn leave_answers_out(&mut self, cases: &BTreeSet<(String, String)>) {
        for file in &mut self.files {
            let path = file.path.to_string();
            for case in file.suite.iter_mut().flat_map(|suite| &mut suite.cases) {
                if cases.contains(&(path.clone(), case.name.value.clone())) {
                    case.expectations.clear();
                }
            }
        }
    }

    /// Reads the scenario files of a revision. A file with the same text as in `other` is not
    /// parsed again.
    pub(in crate::cli::context) fn from_revision(
        project: &CompiledProject,
        other: Option<ParsedScenarios<'_>>,
    ) -> Self {
        let is_inside = |name: &str| project.config.eval.contains_scenario(name);
        Self::from_revision_where(project, other, &is_inside)
    }

    /// Reads the contracts of a project that are no scenarios of its own.
    pub(in crate::cli::context) fn contracts_of(project: &CompiledProject) -> Self {
        let is_contract = |name: &str| {
            contract_package(name).is_some() && !project.config.eval.contains_scenario(name)
        };
        if project.past().is_some() {
            return Self::from_revision_where(project, None, &is_contract);
        }
        let mut found = Self::read_contracts(&project.root, &project.config, CONTRACTS_FOLDER);
        found.files.retain(|file| is_contract(&file.path));
        found
    }

    /// Reads the scenario files of a revision whose names are wanted.
    fn from_revision_where(
        project: &CompiledProject,
        other: Option<ParsedScenarios<'_>>,
        is_inside: &dyn Fn(&str) -> bool,
    ) -> Self {
        let files = project.files();
        let is_passed_over = |name: &str| {
            name.split('/')
                .any(|part| load::SKIPPED_FOLDERS.contains(&part) || part.starts_with('.'))
        };
        let names = project.revision_files().unwrap_or_default().into_iter();
        let other = other.filter(|other| {
            other.project.config.eval.trial_rule() == project.config.eval.trial_rule()
        });
        let parsed: BTreeMap<&str, &LoadedScenario> = other
            .iter()
            .flat_map(|other| &other.scenarios.files)
            .map(|file| (&*file.path, file))
            .collect();
        let read = |name: &str| {
            let text = files.text(name);
            if !load::is_scenario_text(name, || text.clone().ok()) {
                return None;
            }
            let same = parsed
                .get(name)
                .filter(|file| Some(&*file.text) == text.as_deref().ok());
            if let Some(same) = same.and_then(|file| file.without_tables()) {
                return Some(same);
            }
            let (text, unread) = match text {
                Ok(text) => (text, None),
                Err(why) => (
                    String::new(),
                    Some(ScenarioReadError::Io(std::io::Error::other(why))),
                ),
            };
            let tables = |table: &str| {
                let path = paths::resolve_beside(name, table)
                    .ok_or_else(|| "it lies outside the project".to_owned())?;
                files.text(&path)
            };
            let (suite, faults) = read_suite_with(
                name,
                &text,
                &ScenarioReadOptions {
                    tables: Some(&tables),
                    ..reader_options(&project.config)
                },
            );
            Some(LoadedScenario {
                path: name.into(),
                text: text.into(),
                suite,
                faults,
                read_error: unread,
            })
        };
        let names = names.filter(|name| is_inside(name) && !is_passed_over(name));
        // Faults of an old version are not reported: its faulty cases are not run, and count as
        // changed.
        Self {
            files: names.filter_map(read).collect(),
            whole: BTreeSet::new(),
            names: Vec::new(),
        }
    }

    /// Returns the files with errors, none of whose cases are run, with the error. If only names in
    /// other files are requested, returns none.
    pub(in crate::cli::context) fn broken_files(
        &self,
        project: &CompiledProject,
    ) -> Vec<BrokenFile<'_>> {
        let is_asked = |file: &&LoadedScenario| {
            let mut all = self.names.iter();
            self.names.is_empty()
                || self.whole.contains(&*file.path)
                || all.any(|name| declared_names(file).contains(&name.as_str()))
        };
        let why = |file: &LoadedScenario| match &file.read_error {
            Some(ScenarioReadError::Io(why)) => format!(
                "it cannot be read: {}",
                crate::rules::input::read_fault::describe_io_error(why)
            ),
            Some(ScenarioReadError::NotText(fault)) => fault.to_string(),
            None => format!(
                "nothing of this file is run: {}",
                explain_broken_file(&check_request(project), file)
            ),
        };
        self.files
            .iter()
            .filter(|file| !file.is_sound())
            .filter(is_asked)
            .map(|file| BrokenFile {
                file,
                reason: why(file),
            })
            .collect()
    }

    /// Returns the cases that are not run because `check` reports errors in them or in their tasks:
    /// they may not be what their author intended.
    pub(super) fn refusals(&self, project: &CompiledProject) -> Refusals {
        let CompiledProject { config, broken, .. } = project;
        let mut refusals = find_refusals(&check_request(project), &self.files);
        for file in self.files.iter().filter(|_| !broken.is_empty()) {
            for case in file.suite.iter().flat_map(|suite| &suite.cases) {
                let why = resolve_receiver(case, &config.roles)
                    .ok()
                    .and_then(|receiver| broken.first_cause(&receiver));
                if let Some(why) = why {
                    refusals.add_reason(&file.path, &case.name.value, why);
                }
            }
        }
        refusals
    }

    /// Returns the cases that the command line selects, in the order of their files.
    pub(super) fn choose_cases(
        &self,
        args: &EvalArgs,
        config: &Config,
    ) -> Result<Vec<ChosenCase<'_>>> {
        let all: Vec<ChosenCase<'_>> = self
            .files
            .iter()
            .filter(|file| file.is_sound())
            .filter_map(|file| Some((&*file.path, file.suite.as_ref()?)))
            .flat_map(|(path, suite)| {
                suite
                    .cases
                    .iter()
                    .map(move |case| ChosenCase { path, suite, case })
            })
            .collect();
        self.check_names(args)?;
        for name in &args.role {
            models::find_role(config, name)?;
        }
        let filter = args.filter.as_deref().map(NameSelector::new).transpose();
        let filter = filter.map_err(|why| CliError::usage(format!("--filter: {why}")))?;
        let is_chosen = |chosen: &ChosenCase<'_>| {
            let name = &chosen.case.name.value;
            let is_whole = self.names.is_empty() || self.whole.contains(chosen.path);
            let is_named = is_whole
                || self
                    .names
                    .iter()
                    .any(|one| one == name || *one == chosen.suite.id.value);
            let is_tagged = args.tag.is_empty()
                || chosen
                    .case
                    .tags
                    .iter()
                    .any(|tag| args.tag.contains(&tag.value));
            let role = chosen.case.subject.value.role();
            let is_of_role = args.role.is_empty()
                || role.is_some_and(|role| args.role.iter().any(|asked| asked == role));
            is_named
                && is_tagged
                && is_of_role
                && args.shard.is_none_or(|shard| shard.contains(name))
                && filter.as_ref().is_none_or(|filter| filter.matches(name))
        };
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// Returns an error if a given name does not exist.
    fn check_names(&self, args: &EvalArgs) -> Result<()> {
        let there: BTreeSet<&str> = self.files.iter().flat_map(declared_names).collect();
        let Some(unknown) = self
            .names
            .iter()
            .find(|name| !there.contains(name.as_str()))
        else {
            return Ok(());
        };
        let cases = self
            .files
            .iter()
            .flat_map(|file| &file.suite)
            .flat_map(|suite| &suite.cases);
        let of_it = |case: &&ScenarioCase| matches!(&case.subject.value, CaseSubject::Task(own) | CaseSubject::Role(own) if own == unknown);
        let its: Vec<String> = cases
            .filter(of_it)
            .take(5)
            .map(|case| format!("`{}`", case.name.value))
            .collect();
        let all = || match its.as_slice() {
            [] if args.rescore.is_some() => {
                format!("a run is named with `=`: `--rescore={unknown}`")
            }
            [] if args.resume.is_some() => format!("a run is named with `=`: `--resume={unknown}`"),
            [] => {
                let names: Vec<&str> = there.iter().copied().take(5).collect();
                format!(
                    "the project has {}, such as {}",
                    there.len(),
                    names.join(", ")
                )
            }
            its => format!(
                "use a scenario's name; the scenarios of `{unknown}` are {}",
                its.join(", ")
            ),
        };
        Err(CliError::usage(format!(
            "there is no scenario, suite, file or folder `{unknown}`"
        ))
        .with_suggestion_or(
            suggest::nearest_candidate(unknown, there.iter().copied()),
            all,
        ))
    }
}

/// Returns the names in a file: that of its suite, and those of its cases.
fn declared_names(file: &LoadedScenario) -> Vec<&str> {
    let cases = file
        .suite
        .iter()
        .flat_map(|suite| &suite.cases)
        .map(|case| case.name.value.as_str());
    file.suite
        .iter()
        .map(|suite| suite.id.value.as_str())
        .chain(cases)
        .collect()
}

/// Returns an argument as a path relative to the project; `None` if no file of this name exists.
fn scenario_path(root: &Path, named: &str) -> Result<Option<String>> {
    let here = Path::new(named);
    if !fs::exists(here) {
        return Ok(None);
    }
    if load::is_request_file(here) {
        return Err(not_a_scenario(here));
    }
    let outside = || CliError::usage(format!("{named} lies outside the project's folder"));
    let path = path_in_project(root, here).ok_or_else(outside)?;
    Ok(Some(if path.is_empty() {
        ".".to_owned()
    } else {
        path
    }))
}
