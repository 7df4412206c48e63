//! Scenarios as a part of `check`: the selected files, and the tasks that they are checked against.

use super::render::report::CheckReport;
use super::selection::{SelectionResult, TemplateSelection, no_such_path, read_all_stdin};
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, RealFs};
use crate::base::hash::Hash;
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::project::packages::contract_package;
use crate::registry::Registry;
use crate::registry::scenarios::{self, FixedScenario, ScenarioRequest};
use crate::registry::workspace::fix::FixFilter;
use crate::registry::workspace::partial::ExcludedDefinition;
use crate::registry::workspace::project_check::{CheckOutput, check_project};
use crate::registry::workspace::request::{self, CheckGoal, FileOverlay};
use crate::rules::check::Fingerprints;
use crate::rules::project::packages::is_package_fault;
use crate::rules::scenario::check::ScenarioScope;
use crate::rules::syntax::undecodable;
use crate::syntax::decode;
use crate::template::names::DefinitionKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The scenario files of a run, and all others whose names it needs.
#[derive(Debug)]
pub(super) struct ScenarioCheck {
    all: Vec<String>,
    scope: ScenarioScope,
}

/// A registry of all templates without errors.
pub(super) struct PartialRegistry {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// The definitions that it lacks.
    pub(super) excluded: Vec<ExcludedDefinition>,
}

/// The tasks that scenarios are checked against.
struct KnownTasks {
    /// The compiled tasks.
    registry: Registry,
    /// The names of the others.
    excluded: Vec<String>,
}

impl ScenarioCheck {
    /// Collects the project's own files and the named ones.
    pub(super) fn new(project: &Project, selection: &TemplateSelection) -> Self {
        if selection.stdin().is_some() {
            return Self {
                all: Vec::new(),
                scope: ScenarioScope::Some,
            };
        }
        let mut all = scenarios::list_files(&project.root, &project.config);
        all.extend(selection.scenarios().iter().cloned());
        all.sort();
        all.dedup();
        let is_wanted = all.iter().any(|path| selection.contains(path));
        let scope = if selection.is_all() {
            ScenarioScope::All
        } else {
            ScenarioScope::Some
        };
        Self {
            all: if is_wanted { all } else { Vec::new() },
            scope,
        }
    }

    /// Returns true if there is something to check: a file, or an `[eval]` section that requires
    /// one.
    pub(super) fn is_needed(&self, project: &Project) -> bool {
        !self.all.is_empty()
            || self.scope == ScenarioScope::All && project.config.eval.section.is_some()
    }

    /// Returns the goal of the check of the templates.
    pub(super) fn template_goal(&self, project: &Project) -> CheckGoal {
        if self.scope == ScenarioScope::All && self.is_needed(project) && !project.has_errors() {
            CheckGoal::Partial
        } else {
            CheckGoal::Findings
        }
    }

    /// Returns the folders that contain scenarios or are searched for them.
    pub(super) fn search_folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let of_files = self
            .all
            .iter()
            .filter_map(|path| Path::new(path).parent().map(Path::to_path_buf));
        let places = project
            .config
            .eval
            .scenario_roots()
            .into_iter()
            .map(PathBuf::from);
        of_files
            .chain(places)
            .map(|folder| project.root.join(folder))
            .filter(|folder| fs::is_dir(folder))
            .collect()
    }

    /// Returns the selected files with the hash of their content; an unreadable file counts as
    /// empty.
    pub(super) fn text_hashes(
        &self,
        project: &Project,
        selection: &TemplateSelection,
    ) -> BTreeMap<String, Hash> {
        let limit = project.config.limits.file;
        let read = |path: &String| {
            contained_path::read_file(&RealFs, &project.root, Path::new(path), limit)
                .unwrap_or_default()
        };
        let asked = self.all.iter().filter(|path| selection.contains(path));
        asked
            .map(|path| (path.clone(), Hash::digest(&read(path))))
            .collect()
    }

    /// Checks the files and adds the findings to the report. `built` is the registry of all
    /// templates, if it was built already.
    pub(super) fn check_files(
        &self,
        project: &Project,
        selection: &TemplateSelection,
        built: Option<PartialRegistry>,
        report: &mut CheckReport,
        cx: &Cx,
    ) -> Result<()> {
        if !self.is_needed(project) {
            return Ok(());
        }
        // The tasks of a package that cannot be used are unknown.
        let lacks_package = report.diagnostics.iter().any(is_package_fault);
        let known = if lacks_package {
            None
        } else {
            Self::load_tasks(project, built, &FileOverlay::default(), cx)?
        };
        let found = scenarios::check_files(
            &check_request(project, known.as_ref()),
            &self.all,
            self.scope,
            // Contracts are checked with the surface of their packages.
            &|path| selection.contains(path) && contract_package(path).is_none(),
        );
        report.files += found.paths.len();
        report.paths.extend(found.paths);
        report.paths.sort();
        report.add_findings(&found.diagnostics);
        Ok(())
    }

    /// Fixes the files in memory. Adds the remaining findings, as they will be once the scenarios
    /// and the fixed `templates` are written.
    pub(super) fn fix_files(
        &self,
        project: &Project,
        selection: &TemplateSelection,
        filter: FixFilter<'_>,
        templates: &FileOverlay,
        report: &mut CheckReport,
        cx: &Cx,
    ) -> Result<Vec<FixedScenario>> {
        if !self.is_needed(project) {
            return Ok(Vec::new());
        }
        let known = Self::load_tasks(project, None, templates, cx)?;
        let request = check_request(project, known.as_ref());
        let found = scenarios::check_files(&request, &self.all, self.scope, &|path| {
            selection.contains(path)
        });
        let fixed = scenarios::apply_fixes(
            &request,
            &found.diagnostics,
            filter.selection,
            filter.is_wanted,
        );
        let is_fixed = |path: &str| fixed.iter().any(|file| file.name == path);
        let mut left: Vec<Diagnostic> = found
            .diagnostics
            .into_iter()
            .filter(|finding| !is_fixed(&finding.path))
            .collect();
        left.extend(fixed.iter().flat_map(|file| file.left.iter().cloned()));
        report.files += found.paths.len();
        report.add_findings(&left);
        Ok(fixed)
    }

    /// Returns the tasks of the project; `None` if the project file has errors or no registry
    /// results.
    fn load_tasks(
        project: &Project,
        built: Option<PartialRegistry>,
        overlay: &FileOverlay,
        cx: &Cx,
    ) -> Result<Option<KnownTasks>> {
        if project.has_errors() {
            return Ok(None);
        }
        let partial = if built.is_some() {
            built
        } else {
            let whole = TemplateSelection::all_templates();
            let request = request::CheckRequest {
                goal: CheckGoal::Partial,
                identity: Fingerprints::Omitted,
                min_severity: Severity::Error,
                ..whole.check_request(project, overlay, cx)
            };
            let CheckOutput {
                registry, excluded, ..
            } = check_project(&request).map_err(|missing| no_such_path(&missing.0))?;
            registry.map(|bytes| PartialRegistry { bytes, excluded })
        };
        let Some(PartialRegistry { bytes, excluded }) = partial else {
            return Ok(None);
        };
        let Ok(registry) = Registry::read(bytes) else {
            return Ok(None);
        };
        let tasks = excluded
            .into_iter()
            .filter(|other| other.kind == DefinitionKind::Task);
        Ok(Some(KnownTasks {
            registry,
            excluded: tasks.map(|task| task.name).collect(),
        }))
    }
}

/// Checks standard input as the scenario with this name: against the project's tasks, without the
/// other scenarios.
pub(super) fn check_stdin(project: &Project, name: &str, cx: &Cx) -> Result<SelectionResult> {
    let input = read_all_stdin(project)?;
    let path: Arc<str> = Arc::from(name);
    let diagnostics = match decode::decode(&input) {
        Ok(text) => {
            let known = ScenarioCheck::load_tasks(project, None, &FileOverlay::default(), cx)?;
            scenarios::check_text(&check_request(project, known.as_ref()), name, &text)
        }
        Err(fault) => vec![undecodable::report(&path, &fault)],
    };
    let report = CheckReport {
        diagnostics,
        files: 1,
        paths: vec![path],
        ..CheckReport::default()
    };
    Ok(SelectionResult {
        report,
        sources: project.sources().with_stdin(name, &input),
        registry: None,
        excluded: Vec::new(),
    })
}

fn check_request<'r>(project: &'r Project, known: Option<&'r KnownTasks>) -> ScenarioRequest<'r> {
    let registry = known.map(|known| &known.registry);
    let excluded = known.map_or(&[][..], |known| &known.excluded);
    ScenarioRequest {
        root: &project.root,
        config: &project.config,
        registry,
        excluded,
        today: Some(scenarios::days_since_epoch()),
    }
}
