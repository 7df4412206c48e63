//! Reads the scenarios of the project and checks them against its tasks in the editor. A task is
//! compiled with its references when the first case needs it. Open scenarios are checked on every
//! change, the others on demand. Request bodies that are open as JSON files have the findings of
//! `ctxc check FILE`.

use super::open_documents::OpenBuffers;
use super::project::{FindingsByFile, ProjectState};
use super::snapshot::DocumentSnapshot;
use crate::base::diagnostic::Diagnostic;
use crate::project::config::Config;
use crate::project::glob;
use crate::project::index::NameIndex;
use crate::registry::workspace::partial::{self, BrokenDefinitions};
use crate::registry::workspace::request::CheckGoal;
use crate::registry::{Registry, scenarios};
use crate::request::model::ModelRequest;
use crate::rules::check::is_error;
use crate::rules::request::check;
use crate::rules::request::cx::RequestCx;
use crate::rules::scenario::cx::{AgentResults, TaskSignature, Tasks};
use crate::rules::scenario::untested_task;
use crate::scenario::load::{LoadedScenario, SKIPPED_FOLDERS};
use crate::scenario::model::{CaseSubject, SCENARIO_SCHEMA, SUITE_SCHEMA, ScenarioCase};
use crate::scenario::request_source::is_request_body;
use crate::template::names::DefinitionKind;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

impl ProjectState {
    /// Returns true if a file is a scenario of the project.
    pub(in crate::lsp) fn is_scenario(&self, name: &str) -> bool {
        if self.open.contains_key(name) {
            is_open_scenario(&self.open, &self.config, name)
        } else {
            self.suites.contains_key(name)
        }
    }

    /// Returns the findings of scenarios that are not open.
    pub(in crate::lsp) fn closed_scenarios(&self) -> Rc<FindingsByFile> {
        let known = self.closed_findings.borrow().clone();
        known.unwrap_or_else(|| {
            let found = Rc::new(findings(self, &|name| !self.open.contains_key(name)));
            *self.closed_findings.borrow_mut() = Some(Rc::clone(&found));
            found
        })
    }

    /// Updates the list of scenarios: adds new files to be read and removes deleted ones.
    pub(in crate::lsp) fn walk_scenarios(&mut self, inner: &[PathBuf]) {
        let on_disk: BTreeSet<Arc<str>> = self.scenarios_on_disk(inner);
        self.suites
            .retain(|name, _| on_disk.contains(name) || self.open.contains_key(name));
        for name in on_disk {
            self.suites.entry(name).or_insert(None);
        }
    }

    /// Returns the scenario files on disk, without those of nested projects.
    pub(in crate::lsp) fn scenarios_on_disk(&self, inner: &[PathBuf]) -> BTreeSet<Arc<str>> {
        if self.is_alone {
            return BTreeSet::new();
        }
        let names = scenarios::list_files(&self.root, &self.config).into_iter();
        let own = names.filter(|name| {
            !inner
                .iter()
                .any(|folder| self.root.join(name).starts_with(folder))
        });
        own.map(Arc::from).collect()
    }

    /// Marks the scenarios to be read again after a change of their file or case table.
    pub(in crate::lsp) fn touch_scenarios(&mut self, changed: &str) {
        for (name, read) in &mut self.suites {
            let is_table =
                read.as_ref().and_then(LoadedScenario::table).as_deref() == Some(changed);
            if is_table || **name == *changed {
                *read = None;
            }
        }
    }

    /// Reads the changed scenarios. Returns true if the set of tested tasks changed.
    pub(in crate::lsp) fn read_scenarios(&mut self) -> bool {
        let open: Vec<Arc<str>> = self
            .open
            .keys()
            .filter(|name| self.is_scenario(name))
            .cloned()
            .collect();
        for name in open {
            self.suites.entry(name).or_insert(None);
        }
        self.suites.retain(|name, _| {
            !self.open.contains_key(name) || is_open_scenario(&self.open, &self.config, name)
        });
        let stale: Vec<Arc<str>> = self
            .suites
            .iter()
            .filter(|(_, read)| read.is_none())
            .map(|(name, _)| Arc::clone(name))
            .collect();
        for name in stale {
            if !self.open.contains_key(&name) {
                self.record_stamp(&name);
            }
            let open = |name: &str| self.open.get(name).map(|buffer| buffer.text.clone());
            let read = scenarios::read_open(&self.root, &self.config, &name, &open);
            if let Some(table) = read.as_ref().and_then(LoadedScenario::table) {
                self.record_stamp(&Arc::from(table));
            }
            self.suites.insert(name, read);
        }
        if !self.config.needs_tested() {
            return false;
        }
        let cases = self
            .suites
            .values()
            .flatten()
            .filter_map(|read| read.suite.as_ref())
            .flat_map(|suite| &suite.cases);
        let tested = untested_task::tested_agents(cases, &self.config);
        let is_new = self.config.tested.as_ref() != Some(&tested);
        if is_new {
            Arc::make_mut(&mut self.config).set_tested(tested);
        }
        is_new
    }
}

/// Returns true if an open document is a scenario of the project: by its name and place, as on the
/// command line.
fn is_open_scenario(open: &OpenBuffers, config: &Config, name: &str) -> bool {
    let Some(buffer) = open.get(name) else {
        return false;
    };
    let ending = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    let names_schema =
        || buffer.text.contains(SCENARIO_SCHEMA) || buffer.text.contains(SUITE_SCHEMA);
    let is_ours = matches!(ending.as_str(), "yaml" | "yml") || ending == "json" && names_schema();
    if !is_ours || buffer.is_large() || is_request_body(&buffer.text) {
        return false;
    }
    let is_passed_over = |part: &str| part.starts_with('.') || SKIPPED_FOLDERS.contains(&part);
    config.eval.scenarios.iter().any(|place| {
        let below = name
            .strip_prefix(&*glob::fixed_prefix(&place.value))
            .unwrap_or(name);
        glob::contains_path(&place.value, name) && !below.split('/').any(is_passed_over)
    })
}

/// Returns the findings of the scenarios that `is_wanted` accepts, by file, including those of the
/// project file.
pub(in crate::lsp) fn findings(
    project: &ProjectState,
    is_wanted: &dyn Fn(&str) -> bool,
) -> FindingsByFile {
    let all: Vec<&LoadedScenario> = project.suites.values().flatten().collect();
    check_scenario_files(project, &all, is_wanted)
}

/// Returns the findings of one scenario with another text.
pub(in crate::lsp) fn findings_of_text(
    project: &ProjectState,
    name: &str,
    text: &str,
) -> Vec<Diagnostic> {
    let open = |other: &str| match project.open.get(other) {
        _ if *other == *name => Some(text.to_owned()),
        buffer => buffer.map(|buffer| buffer.text.clone()),
    };
    let Some(own) = scenarios::read_open(&project.root, &project.config, name, &open) else {
        return Vec::new();
    };
    let all = project
        .suites
        .values()
        .flatten()
        .map(|read| if *read.path == *name { &own } else { read });
    check_scenario_files(project, &all.collect::<Vec<_>>(), &|other| other == name)
        .remove(name)
        .unwrap_or_default()
}

fn check_scenario_files(
    project: &ProjectState,
    all: &[&LoadedScenario],
    is_wanted: &dyn Fn(&str) -> bool,
) -> FindingsByFile {
    if all.is_empty() && project.config.eval.section.is_none() || project.is_alone {
        return FindingsByFile::new();
    }
    let is_there =
        |path: &str| project.open.contains_key(path) || scenarios::file_exists(&project.root, path);
    let index = project.index();
    let cases = all
        .iter()
        .filter(|read| is_wanted(&read.path))
        .filter_map(|read| read.suite.as_ref())
        .flat_map(|suite| &suite.cases);
    let known = EditorTasks::new(
        project,
        &index,
        cases
            .filter_map(|case| case_task(&project.config, case))
            .collect(),
    );
    // While the project file has an error, its tasks are uncertain.
    let tasks = (!project.config_findings.iter().any(is_error)).then_some(&known as &dyn Tasks);
    let text = |path: &str| match project.open.get(path) {
        Some(buffer) => Some(buffer.text.clone()),
        None => scenarios::read_project_text(&project.root, path),
    };
    let around = scenarios::OpenProject {
        root: &project.root,
        text: &text,
        config: &project.config,
        tasks,
        exists: &is_there,
    };
    let mut found = FindingsByFile::new();
    for finding in scenarios::check_loaded(&around, all, is_wanted) {
        found
            .entry(Arc::clone(&finding.path))
            .or_default()
            .push(finding);
    }
    found
}

/// The task that a case is about.
pub(in crate::lsp) fn case_task<'c>(config: &'c Config, case: &'c ScenarioCase) -> Option<&'c str> {
    match &case.subject.value {
        CaseSubject::Task(task) => Some(task),
        CaseSubject::Role(_) | CaseSubject::Compaction(_) | CaseSubject::Request(_) => {
            let role = case.subject.value.role()?;
            Some(&config.roles.get(role)?.task.value)
        }
    }
}

/// Returns the names of a project's tasks, sorted.
pub(in crate::lsp) fn task_names<'i>(index: &NameIndex<'i>) -> Vec<&'i str> {
    let names: BTreeSet<&str> = index.names_of_kind(DefinitionKind::Task).collect();
    names.into_iter().collect()
}

/// Returns the signature of a task.
pub(in crate::lsp) fn task_signature(
    project: &ProjectState,
    task: &str,
) -> Option<Rc<TaskSignature>> {
    EditorTasks::new(project, &project.index(), BTreeSet::new()).signature(task)
}

/// Returns the step results and agents of a task.
pub(in crate::lsp) fn task_results(project: &ProjectState, task: &str) -> Option<AgentResults> {
    EditorTasks::new(project, &project.index(), BTreeSet::new()).results(task, None)
}

/// The tasks of a project, compiled on demand.
struct EditorTasks<'w> {
    project: &'w ProjectState,
    index: &'w NameIndex<'w>,
    broken: BrokenDefinitions<'w>,
    /// The tasks of all checked cases, which are compiled together.
    requested: BTreeSet<&'w str>,
}

impl<'w> EditorTasks<'w> {
    fn new(
        project: &'w ProjectState,
        index: &'w NameIndex<'w>,
        requested: BTreeSet<&'w str>,
    ) -> Self {
        let templates = project
            .documents
            .iter()
            .flat_map(|(_, template)| &template.diagnostics);
        let (order, cycles) = index.dependency_order();
        let broken = partial::find_broken(
            index,
            &order,
            &cycles,
            templates.chain(project.link_findings.values().flatten()),
        );
        Self {
            project,
            index,
            broken,
            requested,
        }
    }

    /// Returns a task compiled with its references.
    fn compile_task(&self, task: &str) -> Option<Rc<Registry>> {
        let mut known = self.project.compiled.borrow_mut();
        if let Some(known) = known.get(task) {
            return known.clone();
        }
        let requested: Vec<&str> = self
            .requested
            .iter()
            .copied()
            .chain([task])
            .filter(|task| !known.contains_key(*task))
            .collect();
        let file = |task: &&str| {
            let id = self
                .index
                .find_definition(DefinitionKind::Task, task)
                .filter(|id| !self.broken.contains(*id))?;
            Some(self.index.file(id.file)?.path)
        };
        let compiled =
            DocumentSnapshot::for_documents(self.project, requested.iter().filter_map(file))
                .compile(CheckGoal::Partial)
                .ok()
                .map(Rc::new);
        known.extend(requested.iter().map(|task| {
            (
                (*task).to_owned(),
                compiled.clone().filter(|_| file(task).is_some()),
            )
        }));
        known.get(task)?.clone()
    }
}

impl Tasks for EditorTasks<'_> {
    fn names(&self) -> Vec<&str> {
        task_names(self.index)
    }

    fn signature(&self, task: &str) -> Option<Rc<TaskSignature>> {
        if let Some(known) = self.project.signatures.borrow().get(task) {
            return known.clone();
        }
        let found = self
            .compile_task(task)
            .and_then(|registry| registry.signature(task));
        self.project
            .signatures
            .borrow_mut()
            .insert(task.to_owned(), found.clone());
        found
    }

    fn results(&self, task: &str, node: Option<&str>) -> Option<AgentResults> {
        self.compile_task(task)?.results(task, node)
    }
}

impl ProjectState {
    /// Returns the request in an open document, if it contains one.
    fn request_body(&self, name: &str) -> Option<(&Arc<str>, &str, ModelRequest)> {
        let is_json = name
            .rsplit('.')
            .next()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let (path, buffer) = self
            .open
            .get_key_value(name)
            .filter(|(_, buffer)| is_json && !buffer.is_large())?;
        let text: &str = &buffer.text;
        // Other JSON files, such as translations of a program, also contain the key `messages`.
        let request = is_request_body(text)
            .then(|| ModelRequest::parse(text, None))?
            .ok()?;
        Some((path, text, request))
    }

    /// Returns true if an open document contains a request body.
    pub(in crate::lsp) fn is_request(&self, name: &str) -> bool {
        self.request_body(name).is_some()
    }

    /// Returns the findings of the request: parts that a provider would refuse, and misleading
    /// ones.
    pub(in crate::lsp) fn request_findings(&self, name: &str) -> Vec<Diagnostic> {
        let Some((path, text, request)) = self.request_body(name) else {
            return Vec::new();
        };
        check::request_findings(
            &RequestCx::new(path, text, &request, &self.config),
            &self.config,
        )
    }
}
