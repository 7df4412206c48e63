//! Renamed and moved things that are otherwise unchanged: files, tasks, scenarios, accepted
//! results.

use super::frozen::ScenarioFiles;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::project::CompiledProject;
use crate::context::request::Files;
use crate::eval::gate::Baseline;
use crate::project::config::Config;
use crate::project::flat_keys::flatten_keys;
use crate::registry::Task;
use crate::scenario::model::{
    CaseSubject, CompactionMethod, CompactionSubject, ScenarioCase, Suite,
};
use crate::scenario::paths;
use std::collections::{BTreeMap, BTreeSet};

/// Current names by the names in the base.
#[derive(Clone, Debug, Default)]
pub(super) struct Renames {
    /// Templates that were moved without a change of their text.
    pub(super) files: BTreeMap<String, String>,
    pub(super) tasks: BTreeMap<String, String>,
    pub(super) roles: BTreeMap<String, String>,
    pub(super) scenarios: BTreeMap<String, String>,
}

impl Renames {
    /// Finds renamed files, tasks and roles.
    pub(super) fn find(base: &CompiledProject, current: &CompiledProject) -> Self {
        let (files, tasks) = (moved_templates(base, current), renamed_tasks(base, current));
        Self {
            files,
            tasks,
            roles: renamed_roles(&base.config, &current.config),
            scenarios: BTreeMap::new(),
        }
    }

    /// Returns the table for the side of the change, in which each file keeps its name.
    pub(super) fn identity(&self) -> Self {
        let same = |names: &BTreeMap<String, String>| {
            names
                .values()
                .map(|name| (name.clone(), name.clone()))
                .collect()
        };
        Self {
            files: same(&self.files),
            ..Self::default()
        }
    }

    /// Returns the current name of a scenario.
    pub(super) fn current_scenario<'n>(&'n self, name: &'n str) -> &'n str {
        self.scenarios.get(name).map_or(name, String::as_str)
    }

    /// Updates renamed tasks in the scenarios of the base, and finds renamed scenarios.
    pub(super) fn pair_scenarios(
        &mut self,
        then: &CompiledProject,
        theirs: &mut Scenarios,
        now: &CompiledProject,
        own: &Scenarios,
    ) {
        for case in theirs
            .files
            .iter_mut()
            .filter_map(|file| file.suite.as_mut())
            .flat_map(|suite| &mut suite.cases)
        {
            let (names, name) = match &mut case.subject.value {
                CaseSubject::Task(name) => (&self.tasks, name),
                CaseSubject::Role(name)
                | CaseSubject::Compaction(CompactionSubject {
                    method: CompactionMethod::Role(name),
                    ..
                }) => (&self.roles, name),
                CaseSubject::Compaction(_) | CaseSubject::Request(_) => continue,
            };
            if let Some(now) = names.get(name) {
                name.clone_from(now);
            }
        }
        let names = |scenarios: &Scenarios| -> BTreeSet<String> {
            all_cases(scenarios)
                .map(|(.., case)| case.name.value.clone())
                .collect()
        };
        let (before, after) = (names(theirs), names(own));
        let missing = |project: &CompiledProject,
                       scenarios: &Scenarios,
                       others: &BTreeSet<String>|
         -> Vec<(String, String)> {
            let files = project.files();
            let alone =
                all_cases(scenarios).filter(|(.., case)| !others.contains(&case.name.value));
            alone
                .map(|(path, suite, case)| {
                    (
                        ScenarioFiles {
                            path,
                            files: &files,
                        }
                        .content_key(case, suite),
                        case.name.value.clone(),
                    )
                })
                .collect()
        };
        let gone = missing(then, theirs, &after);
        let mut new = if gone.is_empty() {
            Vec::new()
        } else {
            missing(now, own, &before)
        };
        for (content, name) in gone {
            if let Some(at) = new.iter().position(|(other, _)| *other == content) {
                self.scenarios.insert(name, new.remove(at).1);
            }
        }
    }

    /// Returns the accepted results of the base under the current names.
    pub(super) fn rename_baselines(
        &self,
        base: &BTreeMap<String, Baseline>,
        own: &Scenarios,
    ) -> BTreeMap<String, Baseline> {
        if self.scenarios.is_empty() {
            return base.clone();
        }
        let suites: BTreeMap<&str, &str> = all_cases(own)
            .map(|(_, suite, case)| (case.name.value.as_str(), suite.id.value.as_str()))
            .collect();
        let mut carried: BTreeMap<String, Baseline> = BTreeMap::new();
        for baseline in base.values() {
            for case in &baseline.cases {
                let id = self.current_scenario(&case.id);
                let suite = suites
                    .get(id)
                    .filter(|_| id != case.id)
                    .copied()
                    .unwrap_or(&baseline.suite);
                let empty = || Baseline {
                    suite: suite.to_owned(),
                    cases: Vec::new(),
                    ..baseline.clone()
                };
                let into = carried
                    .entry(paths::baseline_path(suite))
                    .or_insert_with(empty);
                into.cases.push(crate::eval::gate::BaselineCase {
                    id: id.to_owned(),
                    ..case.clone()
                });
                into.cases.sort_by(|a, b| a.id.cmp(&b.id));
            }
        }
        carried
    }

    /// Returns true if accepted results are those of the base under the current names, as `baseline
    /// accept` writes them.
    pub(super) fn are_renamed(
        &self,
        carried: &BTreeMap<String, Baseline>,
        now: &BTreeMap<String, Baseline>,
    ) -> bool {
        let new: BTreeSet<&str> = self.scenarios.values().map(String::as_str).collect();
        // The hashes include names.
        let bare = |baseline: &Baseline| {
            let mut bare = Baseline {
                hash: String::new(),
                suite_hash: String::new(),
                ..baseline.clone()
            };
            bare.cases
                .iter_mut()
                .filter(|case| new.contains(case.id.as_str()))
                .for_each(|case| case.key = None);
            bare
        };
        let all = |baselines: &BTreeMap<String, Baseline>| -> BTreeMap<String, Baseline> {
            baselines
                .iter()
                .map(|(path, baseline)| (path.clone(), bare(baseline)))
                .collect()
        };
        !self.scenarios.is_empty() && all(carried) == all(now)
    }
}

/// Iterates over the cases of scenarios, each with its file and suite.
pub(super) fn all_cases(
    scenarios: &Scenarios,
) -> impl Iterator<Item = (&str, &Suite, &ScenarioCase)> {
    let suites = scenarios
        .files
        .iter()
        .filter_map(|file| Some((&*file.path, file.suite.as_ref()?)));
    suites.flat_map(|(path, suite)| suite.cases.iter().map(move |case| (path, suite, case)))
}

/// Returns the templates that moved to another place, with the same text.
fn moved_templates(base: &CompiledProject, current: &CompiledProject) -> BTreeMap<String, String> {
    let (before, after) = (base.definition_paths(), current.definition_paths());
    let texts = |project: &CompiledProject, alone: Vec<&String>| -> Vec<(String, String)> {
        let files = project.files();
        let text =
            |path: &String| Some((files.text(path).ok()?.replace("\r\n", "\n"), path.clone()));
        alone.into_iter().filter_map(text).collect()
    };
    let gone = texts(base, before.difference(&after).collect());
    let mut new: BTreeMap<String, String> = if gone.is_empty() {
        BTreeMap::new()
    } else {
        texts(current, after.difference(&before).collect())
            .into_iter()
            .collect()
    };
    gone.into_iter()
        .filter_map(|(text, path)| Some((path, new.remove(&text)?)))
        .collect()
}

/// Returns the tasks that changed only their name.
fn renamed_tasks(base: &CompiledProject, current: &CompiledProject) -> BTreeMap<String, String> {
    let other = |project: &CompiledProject, other: &CompiledProject| -> Vec<(String, String)> {
        let text = |task: Task<'_>| {
            let source = task.source().ok()?;
            let text = project.files().text(&source.path).ok()?;
            let (head, rest) = source.span.slice(&text).split_once('>')?;
            Some(head.replacen(&format!(" name=\"{}\"", task.name()), "", 1) + rest)
        };
        let tasks = project
            .registry
            .tasks()
            .filter(|task| other.registry.find(task.name()).is_none());
        tasks
            .filter_map(|task| Some((text(task)?, task.name().to_owned())))
            .collect()
    };
    let mut new: BTreeMap<String, String> = other(current, base).into_iter().collect();
    other(base, current)
        .into_iter()
        .filter_map(|(text, name)| Some((name, new.remove(&text)?)))
        .collect()
}

/// Returns the roles that changed only their name in the project file.
fn renamed_roles(base: &Config, current: &Config) -> BTreeMap<String, String> {
    let other = |config: &Config, other: &Config| -> BTreeMap<String, Vec<(Vec<String>, String)>> {
        let mut roles: BTreeMap<String, Vec<(Vec<String>, String)>> = BTreeMap::new();
        for (key, value) in config
            .files
            .iter()
            .flat_map(|file| flatten_keys(&file.text))
        {
            if let [top, name, rest @ ..] = key.as_slice()
                && top == "roles"
                && !other.roles.contains_key(name)
            {
                roles
                    .entry(name.clone())
                    .or_default()
                    .push((rest.to_vec(), value));
            }
        }
        roles
    };
    let mut new = other(current, base);
    let mut found = BTreeMap::new();
    for (name, keys) in other(base, current) {
        if let Some(own) = new
            .iter()
            .find(|(_, own)| **own == keys)
            .map(|(own, _)| own.clone())
        {
            new.remove(&own);
            // A role of a package in use is in no side's own roles.
            if own != name {
                found.insert(name, own);
            }
        }
    }
    found
}
