//! The scenarios of a project, read and chosen: files, cases, and the files beside them.

use super::super::project::{Compiled, Inside, named_inside};
use super::args::EvalArgs;
use crate::base::fs;
use crate::base::suggest;
use crate::cli::context::models::{self, Counters};
use crate::cli::error::{CliError, Result};
use crate::cli::selection::no_scenario;
use crate::context::request::{Files, RequestedFile};
use crate::eval::asked::RunAnswers;
use crate::eval::compiled_patterns::{CompiledPatterns, Filter};
use crate::eval::prepared::RunContext;
use crate::eval::receiver::receiver;
use crate::eval::trials::Rows;
use crate::project::config::Config;
use crate::registry::compile::sources::CONTEXT_FILE;
use crate::registry::scenarios::{self, Refusals, Request, refusals, why_broken};
use crate::scenario::load::{self, Loaded, Unread};
use crate::scenario::model::{Case, Rule, Subject, Suite};
use crate::scenario::{Options, paths, read_with};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The most bytes of a scenario file: as many as of any other file of a context, so that its
/// revisions can be read too.
const LIMIT: u64 = CONTEXT_FILE;

/// Files of the project, each read once.
#[derive(Debug)]
pub(super) struct CachedFiles<'p> {
    inside: Inside<'p>,
    known: Mutex<BTreeMap<String, std::result::Result<String, String>>>,
}

impl<'p> CachedFiles<'p> {
    /// Creates an empty cache over the files.
    pub(super) const fn new(inside: Inside<'p>) -> Self {
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
pub(super) struct FilesBeside<'p> {
    pub(super) scenario: &'p str,
    pub(super) files: &'p CachedFiles<'p>,
}

impl Files for FilesBeside<'_> {
    fn text(&self, path: &str) -> std::result::Result<String, String> {
        let outside = || "it lies outside the project's folder".to_owned();
        self.files
            .text(&paths::beside(self.scenario, path).ok_or_else(outside)?)
    }
}

/// A case with its file and suite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<'l> {
    pub(super) path: &'l str,
    pub(super) suite: &'l Suite,
    pub(super) case: &'l Case,
}

/// The requested scenario files, and the names that are not paths. Names are searched in all files
/// of the project.
#[derive(Debug)]
pub(in crate::cli::context) struct Scenarios {
    pub(in crate::cli::context) files: Vec<Loaded>,
    /// The files that are requested as a whole; all of them if neither files nor names are given.
    whole: BTreeSet<String>,
    names: Vec<String>,
}

/// Returns the path of the parts of a decomposed task in an answer.
pub(super) fn plan(project: &Compiled) -> &str {
    project
        .config
        .eval
        .plan_path
        .as_ref()
        .map_or("$.subtasks", |path| &path.value)
}

/// Returns the shared context of all cases of a project; trials stop once the verdict is certain.
pub(super) fn context<'a>(
    project: &'a Compiled,
    live: &'a CachedFiles<'a>,
    counters: &'a Counters,
    patterns: &'a CompiledPatterns,
) -> RunContext<'a> {
    RunContext {
        registry: &project.registry,
        roles: &project.config.roles,
        live,
        index: None,
        counter: counters.first(),
        models: Some(counters.models(&project.config)),
        plan: plan(project),
        rows: Rows::Curtailed,
        patterns,
        answers: RunAnswers::default(),
        session: "",
    }
}

/// Returns the reader's options with the project's trial rule.
fn options(config: &Config) -> Options<'static> {
    Options {
        rule: config.eval.rule(),
        tables: None,
    }
}

/// Returns the project for checks of scenarios.
fn request(
    Compiled {
        root,
        config,
        registry,
        ..
    }: &Compiled,
) -> Request<'_> {
    Request {
        root,
        config,
        registry: Some(registry),
        excluded: &[],
        today: None,
    }
}

/// Reads all scenario files of a project.
pub(in crate::cli::context) fn all(root: &Path, config: &Config) -> Vec<Loaded> {
    load::load(
        root,
        &scenarios::files(root, config),
        LIMIT,
        &options(config),
    )
}

/// Returns the names of all scenarios of a project, including those in files with faults.
pub(in crate::cli::context) fn names(project: &Compiled) -> BTreeSet<String> {
    let suites = all(&project.root, &project.config)
        .into_iter()
        .filter_map(|file| file.suite);
    suites
        .flat_map(|suite| suite.cases)
        .map(|case| case.name.value)
        .collect()
}

impl Scenarios {
    /// Sets the number of trials of every case, if the flags give it.
    pub(super) fn ruled(mut self, rule: Option<(u32, u32)>) -> Self {
        if let Some((runs, pass)) = rule {
            for case in self
                .files
                .iter_mut()
                .filter_map(|file| file.suite.as_mut())
                .flat_map(|suite| &mut suite.cases)
            {
                case.rule = Rule {
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
    pub(in crate::cli::context) fn are_of_requests(&self) -> bool {
        let mut cases = self
            .files
            .iter()
            .filter_map(|file| file.suite.as_ref())
            .flat_map(|suite| &suite.cases);
        cases.any(|case| matches!(case.subject.value, Subject::Request(_)))
    }

    /// Reads the scenario files of a project, or the named ones.
    pub(in crate::cli::context) fn read(project: &Compiled, what: &[String]) -> Result<Self> {
        let root = &project.root;
        let mut given = Vec::new();
        let mut names = Vec::new();
        for one in what {
            match path(root, one)? {
                Some(path) => given.push(path),
                None => names.push(one.clone()),
            }
        }
        let whole: BTreeSet<String> = load::files(root, &given).into_iter().collect();
        let mut all = whole.clone();
        if given.is_empty() || !names.is_empty() {
            all.extend(scenarios::files(root, &project.config));
        }
        let files = load::load(
            root,
            &all.into_iter().collect::<Vec<_>>(),
            LIMIT,
            &options(&project.config),
        );
        Ok(Self {
            files,
            whole,
            names,
        })
    }

    /// Reads the scenario files of a revision. A file with the same text as in `other` is not
    /// parsed again.
    pub(in crate::cli::context) fn of_revision(
        project: &Compiled,
        other: Option<(&Compiled, &Self)>,
    ) -> Self {
        let files = project.files();
        let is_inside = |name: &str| project.config.eval.holds(name);
        let is_passed_over = |name: &str| {
            name.split('/')
                .any(|part| load::PASSED_OVER.contains(&part) || part.starts_with('.'))
        };
        let names = project.names().unwrap_or_default().into_iter();
        let other =
            other.filter(|(other, _)| other.config.eval.rule() == project.config.eval.rule());
        let parsed: BTreeMap<&str, &Loaded> = other
            .iter()
            .flat_map(|(_, scenarios)| &scenarios.files)
            .map(|file| (&*file.path, file))
            .collect();
        let read = |name: &str| {
            let text = files.text(name);
            if !load::says_scenario(name, || text.clone().ok()) {
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
                Err(why) => (String::new(), Some(Unread::Io(std::io::Error::other(why)))),
            };
            let tables = |table: &str| {
                let path = paths::beside(name, table)
                    .ok_or_else(|| "it lies outside the project".to_owned())?;
                files.text(&path)
            };
            let (suite, faults) = read_with(
                name,
                &text,
                &Options {
                    tables: Some(&tables),
                    ..options(&project.config)
                },
            );
            Some(Loaded {
                path: name.into(),
                text: text.into(),
                suite,
                faults,
                unread,
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
    pub(in crate::cli::context) fn broken(&self, project: &Compiled) -> Vec<(&Loaded, String)> {
        let is_asked = |file: &&Loaded| {
            let mut all = self.names.iter();
            self.names.is_empty()
                || self.whole.contains(&*file.path)
                || all.any(|name| named(file).contains(&name.as_str()))
        };
        let why = |file: &Loaded| match &file.unread {
            Some(Unread::Io(why)) => format!(
                "it cannot be read: {}",
                crate::rules::input::read_fault::reason(why)
            ),
            Some(Unread::NoText(fault)) => fault.to_string(),
            None => format!(
                "nothing of this file is run: {}",
                why_broken(&request(project), file)
            ),
        };
        self.files
            .iter()
            .filter(|file| !file.is_sound())
            .filter(is_asked)
            .map(|file| (file, why(file)))
            .collect()
    }

    /// Returns the cases that are not run because `check` reports errors in them or in their tasks:
    /// they may not be what their author intended.
    pub(super) fn refusals(&self, project: &Compiled) -> Refusals {
        let Compiled { config, broken, .. } = project;
        let mut refusals = refusals(&request(project), &self.files);
        for file in self.files.iter().filter(|_| !broken.is_empty()) {
            for case in file.suite.iter().flat_map(|suite| &suite.cases) {
                let why = receiver(case, &config.roles)
                    .ok()
                    .and_then(|receiver| broken.why(&receiver));
                if let Some(why) = why {
                    refusals.refuse(&file.path, &case.name.value, why);
                }
            }
        }
        refusals
    }

    /// Returns the cases that the command line selects, in the order of their files.
    pub(super) fn choose(&self, args: &EvalArgs, config: &Config) -> Result<Vec<Chosen<'_>>> {
        let all: Vec<Chosen<'_>> = self
            .files
            .iter()
            .filter(|file| file.is_sound())
            .filter_map(|file| Some((&*file.path, file.suite.as_ref()?)))
            .flat_map(|(path, suite)| {
                suite
                    .cases
                    .iter()
                    .map(move |case| Chosen { path, suite, case })
            })
            .collect();
        self.known(args)?;
        for name in &args.role {
            models::role(config, name)?;
        }
        let filter = args.filter.as_deref().map(Filter::new).transpose();
        let filter = filter.map_err(|why| CliError::usage(format!("--filter: {why}")))?;
        let is_chosen = |chosen: &Chosen<'_>| {
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
            let is_of_role = match &chosen.case.subject.value {
                Subject::Role(role) => args.role.is_empty() || args.role.contains(role),
                Subject::Task(_) | Subject::Request(_) => args.role.is_empty(),
            };
            is_named
                && is_tagged
                && is_of_role
                && args.shard.is_none_or(|shard| shard.takes(name))
                && filter.as_ref().is_none_or(|filter| filter.takes(name))
        };
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// Returns an error if a given name does not exist.
    fn known(&self, args: &EvalArgs) -> Result<()> {
        let there: BTreeSet<&str> = self.files.iter().flat_map(named).collect();
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
        let of_it = |case: &&Case| matches!(&case.subject.value, Subject::Task(own) | Subject::Role(own) if own == unknown);
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
            [] => "`ctxc eval` without names runs all scenarios of the project".to_owned(),
            its => format!(
                "use a scenario's name; the scenarios of `{unknown}` are {}",
                its.join(", ")
            ),
        };
        Err(CliError::usage(format!(
            "there is no scenario, suite, file or folder `{unknown}`"
        ))
        .did_you_mean_or(suggest::nearest(unknown, there.iter().copied()), all))
    }
}

/// Returns the names in a file: that of its suite, and those of its cases.
fn named(file: &Loaded) -> Vec<&str> {
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
fn path(root: &Path, named: &str) -> Result<Option<String>> {
    let here = Path::new(named);
    if !fs::exists(here) {
        return Ok(None);
    }
    if load::is_request(here) {
        return Err(no_scenario(here));
    }
    let outside = || CliError::usage(format!("{named} lies outside the project's folder"));
    let path = named_inside(root, here).ok_or_else(outside)?;
    Ok(Some(if path.is_empty() {
        ".".to_owned()
    } else {
        path
    }))
}
