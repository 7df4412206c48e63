//! Scenarios as a part of `check`: the selected files, and the tasks that they are checked against.

use super::render::report::Report;
use super::selection::{Checked, Selection, no_such_path, stdin_of};
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, RealFs};
use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::registry::Registry;
use crate::registry::scenarios::{self, FixedScenario, Request};
use crate::registry::workspace::check::{CheckOutput, check_project};
use crate::registry::workspace::partial::Excluded;
use crate::registry::workspace::request::{self, Goal, Overlay};
use crate::rules::apply::Which;
use crate::rules::check::Identity;
use crate::rules::scenario::check::Reach;
use crate::rules::syntax::undecodable;
use crate::syntax::decode;
use crate::template::names::DefinitionKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The scenario files of a run, and all others whose names it needs.
#[derive(Debug)]
pub(super) struct Scenarios {
    all: Vec<String>,
    reach: Reach,
}

/// A registry of all templates without errors, and the definitions that it lacks.
pub(super) type PartialRegistry = (Vec<u8>, Vec<Excluded>);

/// The tasks that scenarios are checked against: the compiled ones, and the names of the others.
type KnownTasks = (Registry, Vec<String>);

impl Scenarios {
    /// Collects the project's own files and the named ones.
    pub(super) fn new(project: &Project, selection: &Selection) -> Self {
        if selection.stdin().is_some() {
            return Self {
                all: Vec::new(),
                reach: Reach::Some,
            };
        }
        let mut all = scenarios::files(&project.root, &project.config);
        all.extend(selection.scenarios().iter().cloned());
        all.sort();
        all.dedup();
        let is_wanted = all.iter().any(|path| selection.holds(path));
        let reach = if selection.is_whole() {
            Reach::All
        } else {
            Reach::Some
        };
        Self {
            all: if is_wanted { all } else { Vec::new() },
            reach,
        }
    }

    /// Returns true if there is something to check: a file, or an `[eval]` section that requires
    /// one.
    pub(super) fn is_asked(&self, project: &Project) -> bool {
        !self.all.is_empty() || self.reach == Reach::All && project.config.eval.section.is_some()
    }

    /// Returns the goal of the check of the templates.
    pub(super) fn goal(&self, project: &Project) -> Goal {
        if self.reach == Reach::All && self.is_asked(project) && !project.is_broken() {
            Goal::Partial
        } else {
            Goal::Findings
        }
    }

    /// Returns the folders that contain scenarios or are searched for them.
    pub(super) fn folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let of_files = self
            .all
            .iter()
            .filter_map(|path| Path::new(path).parent().map(Path::to_path_buf));
        let places = project.config.eval.places().into_iter().map(PathBuf::from);
        of_files
            .chain(places)
            .map(|folder| project.root.join(folder))
            .filter(|folder| fs::is_dir(folder))
            .collect()
    }

    /// Returns the selected files with the hash of their content; an unreadable file counts as
    /// empty.
    pub(super) fn texts(&self, project: &Project, selection: &Selection) -> BTreeMap<String, Hash> {
        let limit = project.config.limits.file;
        let read = |path: &String| {
            contained_path::read(&RealFs, &project.root, Path::new(path), limit).unwrap_or_default()
        };
        let asked = self.all.iter().filter(|path| selection.holds(path));
        asked
            .map(|path| (path.clone(), Hash::of(&read(path))))
            .collect()
    }

    /// Checks the files and adds the findings to the report. `made` is the registry of all
    /// templates, if it was built already.
    pub(super) fn check(
        &self,
        project: &Project,
        selection: &Selection,
        made: Option<PartialRegistry>,
        report: &mut Report,
        cx: &Cx,
    ) -> Result<()> {
        if !self.is_asked(project) {
            return Ok(());
        }
        let known = Self::known(project, made, &Overlay::default(), cx)?;
        let found = scenarios::check(
            &request(project, known.as_ref()),
            &self.all,
            self.reach,
            &|path| selection.holds(path),
        );
        report.files += found.paths.len();
        report.paths.extend(found.paths);
        report.paths.sort();
        report.add(&found.diagnostics);
        Ok(())
    }

    /// Fixes the files in memory. Adds the remaining findings, as they will be once the scenarios
    /// and the fixed `templates` are written.
    pub(super) fn fix(
        &self,
        project: &Project,
        selection: &Selection,
        filter: (Which, &dyn Fn(&Diagnostic) -> bool),
        templates: &Overlay,
        report: &mut Report,
        cx: &Cx,
    ) -> Result<Vec<FixedScenario>> {
        if !self.is_asked(project) {
            return Ok(Vec::new());
        }
        let known = Self::known(project, None, templates, cx)?;
        let request = request(project, known.as_ref());
        let found = scenarios::check(&request, &self.all, self.reach, &|path| {
            selection.holds(path)
        });
        let fixed = scenarios::apply_fixes(&request, &found.diagnostics, filter.0, filter.1);
        let is_fixed = |path: &str| fixed.iter().any(|file| file.name == path);
        let mut left: Vec<Diagnostic> = found
            .diagnostics
            .into_iter()
            .filter(|finding| !is_fixed(&finding.path))
            .collect();
        left.extend(fixed.iter().flat_map(|file| file.left.iter().cloned()));
        report.files += found.paths.len();
        report.add(&left);
        Ok(fixed)
    }

    /// Returns the tasks of the project; `None` if the project file has errors or no registry
    /// results.
    fn known(
        project: &Project,
        made: Option<PartialRegistry>,
        overlay: &Overlay,
        cx: &Cx,
    ) -> Result<Option<KnownTasks>> {
        if project.is_broken() {
            return Ok(None);
        }
        let made = if made.is_some() {
            made
        } else {
            let whole = Selection::whole();
            let asked = whole.request(project, overlay, cx);
            let asked = request::Request {
                goal: Goal::Partial,
                identity: Identity::Unwanted,
                least: Severity::Error,
                ..asked
            };
            let CheckOutput {
                registry, excluded, ..
            } = check_project(&asked).map_err(|missing| no_such_path(&missing.0))?;
            registry.map(|bytes| (bytes, excluded))
        };
        let Some((registry, excluded)) =
            made.and_then(|(bytes, excluded)| Some((Registry::read(bytes).ok()?, excluded)))
        else {
            return Ok(None);
        };
        let tasks = excluded
            .into_iter()
            .filter(|other| other.kind == DefinitionKind::Task);
        Ok(Some((registry, tasks.map(|task| task.name).collect())))
    }
}

/// Checks standard input as the scenario with this name: against the project's tasks, without the
/// other scenarios.
pub(super) fn check_stdin(project: &Project, name: &str, cx: &Cx) -> Result<Checked> {
    let input = stdin_of(project)?;
    let path: Arc<str> = Arc::from(name);
    let diagnostics = match decode::decode(&input) {
        Ok(text) => {
            let known = Scenarios::known(project, None, &Overlay::default(), cx)?;
            scenarios::of_text(&request(project, known.as_ref()), name, &text)
        }
        Err(fault) => vec![undecodable::word(&path, &fault)],
    };
    let report = Report {
        diagnostics,
        files: 1,
        paths: vec![path],
        ..Report::default()
    };
    Ok(Checked {
        report,
        sources: project.sources().with_stdin(name, &input),
        registry: None,
        excluded: Vec::new(),
    })
}

fn request<'r>(project: &'r Project, known: Option<&'r KnownTasks>) -> Request<'r> {
    let registry = known.map(|(registry, _)| registry);
    let excluded = known.map_or(&[][..], |(_, excluded)| excluded);
    Request {
        root: &project.root,
        config: &project.config,
        registry,
        excluded,
        today: Some(scenarios::today()),
    }
}
