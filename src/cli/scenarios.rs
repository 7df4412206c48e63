//! Scenarios as a part of `check`: which of them a run is about, and the tasks that they are held against.

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

/// The scenario files that a run is about, and those whose names it has to know.
#[derive(Debug)]
pub(super) struct Scenarios {
    all: Vec<String>,
    reach: Reach,
}

/// A registry of all templates without errors, and what it does not have.
pub(super) type PartialRegistry = (Vec<u8>, Vec<Excluded>);

/// The tasks that scenarios are held against: those that compile, and the names of the others.
type KnownTasks = (Registry, Vec<String>);

impl Scenarios {
    /// The project's own files, and those that were named.
    pub(super) fn new(project: &Project, selection: &Selection) -> Self {
        if selection.stdin().is_some() {
            return Self { all: Vec::new(), reach: Reach::Some };
        }
        let mut all = scenarios::files(&project.root, &project.config);
        all.extend(selection.scenarios().iter().cloned());
        all.sort();
        all.dedup();
        let is_wanted = all.iter().any(|path| selection.holds(path));
        let reach = if selection.is_whole() { Reach::All } else { Reach::Some };
        Self { all: if is_wanted { all } else { Vec::new() }, reach }
    }

    /// Whether there is anything to check: a file, or a section that wants one.
    pub(super) fn is_asked(&self, project: &Project) -> bool {
        !self.all.is_empty() || self.reach == Reach::All && project.config.eval.section.is_some()
    }

    /// What a survey of the templates is for.
    pub(super) fn goal(&self, project: &Project) -> Goal {
        if self.reach == Reach::All && self.is_asked(project) && !project.is_broken() { Goal::Partial } else { Goal::Findings }
    }

    /// The folders in which scenarios are, or are looked for.
    pub(super) fn folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let of_files = self.all.iter().filter_map(|path| Path::new(path).parent().map(Path::to_path_buf));
        let places = project.config.eval.places().into_iter().map(PathBuf::from);
        of_files.chain(places).map(|folder| project.root.join(folder)).filter(|folder| fs::is_dir(folder)).collect()
    }

    /// The files that were asked about, by what they hold; one that cannot be read holds nothing.
    pub(super) fn texts(&self, project: &Project, selection: &Selection) -> BTreeMap<String, Hash> {
        let limit = project.config.limits.file;
        let read = |path: &String| contained_path::read(&RealFs, &project.root, Path::new(path), limit).unwrap_or_default();
        let asked = self.all.iter().filter(|path| selection.holds(path));
        asked.map(|path| (path.clone(), Hash::of(&read(path)))).collect()
    }

    /// Checks the files and adds what is found. `made` is the registry of all templates, where one was made on the way.
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
        let found = scenarios::check(&request(project, known.as_ref()), &self.all, self.reach, &|path| selection.holds(path));
        report.files += found.paths.len();
        report.paths.extend(found.paths);
        report.paths.sort();
        report.add(&found.diagnostics);
        Ok(())
    }

    /// Fixes the files in memory, and adds what is left as it will be once they and the `templates` that were fixed are written.
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
        let found = scenarios::check(&request, &self.all, self.reach, &|path| selection.holds(path));
        let fixed = scenarios::apply_fixes(&request, &found.diagnostics, filter.0, filter.1);
        let is_fixed = |path: &str| fixed.iter().any(|file| file.name == path);
        let mut left: Vec<Diagnostic> = found.diagnostics.into_iter().filter(|finding| !is_fixed(&finding.path)).collect();
        left.extend(fixed.iter().flat_map(|file| file.left.iter().cloned()));
        report.files += found.paths.len();
        report.add(&left);
        Ok(fixed)
    }

    /// The tasks of the project; `None` while they are not known.
    fn known(project: &Project, made: Option<PartialRegistry>, overlay: &Overlay, cx: &Cx) -> Result<Option<KnownTasks>> {
        if project.is_broken() {
            return Ok(None);
        }
        let made = if made.is_some() {
            made
        } else {
            let whole = Selection::whole();
            let asked = whole.request(project, overlay, cx);
            let asked = request::Request { goal: Goal::Partial, identity: Identity::Unwanted, least: Severity::Error, ..asked };
            let CheckOutput { registry, excluded, .. } = check_project(&asked).map_err(|missing| no_such_path(&missing.0))?;
            registry.map(|bytes| (bytes, excluded))
        };
        let Some((registry, excluded)) = made.and_then(|(bytes, excluded)| Some((Registry::read(bytes).ok()?, excluded))) else {
            return Ok(None);
        };
        let tasks = excluded.into_iter().filter(|other| other.kind == DefinitionKind::Task);
        Ok(Some((registry, tasks.map(|task| task.name).collect())))
    }
}

/// Checks standard input as the scenario that its name says: held against the project's tasks, and alone.
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
    let report = Report { diagnostics, files: 1, paths: vec![path], ..Report::default() };
    Ok(Checked { report, sources: project.sources().with_stdin(name, &input), registry: None, excluded: Vec::new() })
}

fn request<'r>(project: &'r Project, known: Option<&'r KnownTasks>) -> Request<'r> {
    let registry = known.map(|(registry, _)| registry);
    let excluded = known.map_or(&[][..], |(_, excluded)| excluded);
    Request { root: &project.root, config: &project.config, registry, excluded, today: Some(scenarios::today()) }
}
