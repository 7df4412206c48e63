//! Names of templates in the files beside them: tasks in scenarios, roles and requirements;
//! parameters, inputs, steps and results in scenarios and in their tables. Also the names that the
//! project file defines: roles, models and providers.

use super::variables::{self, FileVariable, VariableAtCursor};
use crate::base::fix::Edit;
use crate::base::span::Spanned;
use crate::lsp::data::toml_spot;
use crate::lsp::prelude::*;
use crate::lsp::state::scenarios;
use crate::project::read;
use crate::project::roles::ModelChoice;
use crate::rules::scenario::shown;
use crate::scenario::load::LoadedScenario;
use crate::scenario::named_things::{self, NamedThing};
use crate::scenario::table::NamedThingKind;
use crate::template::names::DefinitionKind;
use std::collections::BTreeSet;

/// A place that contains a name of a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) struct Mention {
    pub(in crate::lsp) file: Arc<str>,
    /// The name without its quotes.
    pub(in crate::lsp) span: Span,
    /// The text that the name is a part of, with its quotes.
    quoted: Span,
    pub(in crate::lsp) name: String,
    pub(in crate::lsp) target: MentionTarget,
    /// True for the section of the project file that defines the thing.
    pub(in crate::lsp) defines: bool,
}

/// The kind of a named thing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum MentionTarget {
    /// A task.
    Task,
    /// The task of a role that has the task's name and no key `template`.
    OwnTask,
    /// A role.
    Role,
    /// A model.
    Model,
    /// A provider.
    Provider,
    /// A parameter of this task.
    Parameter(String),
    /// An input or a result in this task, or in a definition that it references.
    Value(String),
    /// A task, a fragment, or a value in this task.
    Source(String),
}

/// Returns all mentions in the project, sorted.
pub(in crate::lsp) fn all_mentions(project: &ProjectState) -> Vec<Mention> {
    let mut found = of_project_file(project);
    for read in project.suites.values().flatten() {
        found.extend(suite_mentions(project, read));
        found.extend(of_table(project, read));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns the first reference at an offset of a file.
pub(in crate::lsp) fn mention_at(
    project: &ProjectState,
    file: &str,
    offset: u32,
) -> Option<Mention> {
    mentions_at(project, file, offset).into_iter().next()
}

/// Returns the references at an offset of a file: a role may have the name of its task.
pub(in crate::lsp) fn mentions_at(project: &ProjectState, file: &str, offset: u32) -> Vec<Mention> {
    if project.is_xml(file) {
        return Vec::new();
    }
    let mut found = of_project_file(project);
    for read in project.suites.values().flatten() {
        if *read.path == *file {
            found.extend(suite_mentions(project, read));
        } else if read.table().as_deref() == Some(file) {
            found.extend(of_table(project, read));
        }
    }
    found.retain(|own| *own.file == *file && own.span.touches(offset));
    found.sort();
    found
}

/// The mentions in the project file.
fn of_project_file(project: &ProjectState) -> Vec<Mention> {
    let mut found = Vec::new();
    let config = &project.config;
    let Some(file) = config.files.first() else {
        return found;
    };
    for own in read::named_things::named_things(&file.text) {
        found.extend(new_mention(&file.path, &file.text, &own, None));
    }
    let mut add = |name: &Spanned<String>, what: MentionTarget| {
        found.extend(place(&file.path, &file.text, name.span, &name.value, what));
    };
    let sections = toml_spot::section_keys(&file.text);
    for role in config.roles.values() {
        if role.task.span == role.name.span {
            let mut headers = sections.iter().filter(|own| {
                own.section == "roles"
                    && own.word == role.name.value
                    && header_end(&file.text, own.outer).is_some()
            });
            let span = headers.next().map_or(role.name.span, |own| own.outer);
            add(
                &Spanned::new(role.task.value.clone(), span),
                MentionTarget::OwnTask,
            );
        }
        if let ModelChoice::Named(models) = &role.model {
            for model in models {
                add(model, MentionTarget::Model);
            }
        }
    }
    for model in config.models.values() {
        add(&model.provider, MentionTarget::Provider);
    }
    found.extend(sections.iter().filter_map(|own| {
        let what = match own.section {
            "roles" if config.roles.contains_key(own.word) => MentionTarget::Role,
            "models" if config.models.contains_key(own.word) => MentionTarget::Model,
            "providers" if config.providers.contains_key(own.word) => MentionTarget::Provider,
            _ => return None,
        };
        let defined = place(&file.path, &file.text, own.outer, own.word, what)?;
        Some(Mention {
            defines: true,
            ..defined
        })
    }));
    found
}

/// Returns the end of the line of a section's header, if a name is the last key of one.
fn header_end(text: &str, name: Span) -> Option<u32> {
    let rest = text.get(name.end as usize..)?;
    rest.trim_start_matches(['"', '\'', ' ', '\t'])
        .strip_prefix(']')?;
    Some(name.end + rest.find('\n').unwrap_or(rest.len()) as u32)
}

/// Returns the variable that a place references.
pub(in crate::lsp) fn mentioned_variable(
    project: &ProjectState,
    mention: &Mention,
) -> Option<VariableAtCursor> {
    let variable = match &mention.target {
        MentionTarget::Parameter(task) => variables::task_parameter(project, task, &mention.name),
        MentionTarget::Value(task) | MentionTarget::Source(task) => {
            variables::task_variable(project, task, &mention.name)
        }
        MentionTarget::Task
        | MentionTarget::OwnTask
        | MentionTarget::Role
        | MentionTarget::Model
        | MentionTarget::Provider => None,
    }?;
    Some(VariableAtCursor {
        variable,
        name: mention.name.clone(),
        span: mention.span,
    })
}

/// Returns the places that reference a variable.
pub(in crate::lsp) fn variable_mentions<'m>(
    project: &'m ProjectState,
    name: &'m str,
    is_it: impl Fn(&FileVariable) -> bool + 'm,
) -> impl Iterator<Item = Mention> + 'm {
    let named = all_mentions(project)
        .into_iter()
        .filter(move |mention| mention.name == name);
    named.filter(move |mention| {
        mentioned_variable(project, mention).is_some_and(|found| is_it(&found.variable))
    })
}

impl Mention {
    /// Returns the kind of the referenced definition, if it is one.
    pub(in crate::lsp) fn definition_kind(&self, project: &ProjectState) -> Option<DefinitionKind> {
        match self.target {
            MentionTarget::Task | MentionTarget::OwnTask => Some(DefinitionKind::Task),
            MentionTarget::Source(_) => {
                let kinds = [
                    DefinitionKind::Task,
                    DefinitionKind::Fragment,
                    DefinitionKind::Template,
                ];
                let named = kinds
                    .into_iter()
                    .find(|kind| project.index().find_definition(*kind, &self.name).is_some());
                named.filter(|_| mentioned_variable(project, self).is_none())
            }
            MentionTarget::Role
            | MentionTarget::Model
            | MentionTarget::Provider
            | MentionTarget::Parameter(_)
            | MentionTarget::Value(_) => None,
        }
    }

    /// Returns the edit for a new name of the definition.
    pub(in crate::lsp) fn rename_edit(&self, text: &str, new: &str) -> Option<Edit> {
        if self.target == MentionTarget::OwnTask {
            // The role keeps its name and gets a `template` key with the task's new name.
            let end = header_end(text, self.span)?;
            return Some(Edit::insert(end, format!("\ntemplate = \"{new}\"")));
        }
        named_things::edit(
            text,
            self.quoted,
            self.span,
            new,
            named_things::plain_in(&self.file),
        )
    }
}

/// The task of a group of names: that of a case, or the default task of a suite.
fn task_of(project: &ProjectState, group: &[NamedThing]) -> Option<String> {
    let named = |thing: NamedThingKind| {
        group
            .iter()
            .find(|own| own.thing == thing)
            .map(|own| own.value.as_str())
    };
    let played = || {
        project
            .config
            .roles
            .get(named(NamedThingKind::Role)?)
            .map(|role| role.task.value.clone())
    };
    named(NamedThingKind::Task)
        .map(str::to_owned)
        .or_else(played)
}

/// A scenario, a suite or a table with its names. The first group applies to every task of the
/// suite, each other group to one case.
struct NamedFile<'f> {
    path: Arc<str>,
    text: &'f str,
    groups: Vec<Vec<NamedThing>>,
    /// The task of cases without a task of their own.
    default: Option<String>,
}

fn suite_mentions(project: &ProjectState, read: &LoadedScenario) -> Vec<Mention> {
    let groups = named_things::find_named_things(&read.text);
    let default = groups.first().and_then(|whole| task_of(project, whole));
    of_groups(
        project,
        read,
        &NamedFile {
            path: Arc::clone(&read.path),
            text: &read.text,
            groups,
            default,
        },
    )
}

fn of_table(project: &ProjectState, read: &LoadedScenario) -> Vec<Mention> {
    let table = read
        .table()
        .and_then(|path| project.read_text(&path).map(|text| (path, text)));
    let Some((path, text)) = table else {
        return Vec::new();
    };
    let default = named_things::find_named_things(&read.text)
        .first()
        .and_then(|whole| task_of(project, whole));
    let groups = named_things::named_in_table(&path, &text);
    of_groups(
        project,
        read,
        &NamedFile {
            path: Arc::from(path),
            text: &text,
            groups,
            default,
        },
    )
}

fn of_groups(project: &ProjectState, read: &LoadedScenario, file: &NamedFile<'_>) -> Vec<Mention> {
    let mut found = Vec::new();
    let Some((shared, cases)) = file.groups.split_first() else {
        return found;
    };
    let known = read.suite.iter().flat_map(|suite| &suite.cases);
    let mut tasks: BTreeSet<Option<&str>> = known
        .map(|case| scenarios::case_task(&project.config, case))
        .collect();
    tasks.insert(file.default.as_deref());
    for task in tasks {
        found.extend(
            shared
                .iter()
                .filter_map(|own| new_mention(&file.path, file.text, own, task)),
        );
    }
    for case in cases {
        let own = task_of(project, case);
        let task = own.as_deref().or(file.default.as_deref());
        found.extend(
            case.iter()
                .filter_map(|own| new_mention(&file.path, file.text, own, task)),
        );
    }
    found
}

/// The mention of a name in a case of a task.
fn new_mention(
    file: &Arc<str>,
    text: &str,
    named: &NamedThing,
    task: Option<&str>,
) -> Option<Mention> {
    let value = named.value.as_str();
    let segment =
        || shown::split_id(value).filter(|(kind, _)| ["input", "accumulated"].contains(kind));
    let name = |(_, name)| shown::strip_number(name);
    let task = task.map(str::to_owned);
    let (name, what) = match named.thing {
        NamedThingKind::Task => (value, MentionTarget::Task),
        NamedThingKind::Role => (value, MentionTarget::Role),
        NamedThingKind::Parameter => (value, MentionTarget::Parameter(task?)),
        NamedThingKind::Segment => (segment().map(name)?, MentionTarget::Value(task?)),
        NamedThingKind::Source => match segment().map(name) {
            Some(name) => (name, MentionTarget::Value(task?)),
            None => (value, MentionTarget::Source(task?)),
        },
        // A path is not the name of a step, and neither are the words of a call.
        NamedThingKind::Node | NamedThingKind::Step
            if value.starts_with('/') || value.contains('(') =>
        {
            return None;
        }
        NamedThingKind::Node | NamedThingKind::Step => (
            value.split(['@', '~', '/']).next()?,
            MentionTarget::Value(task?),
        ),
        NamedThingKind::PlainText
        | NamedThingKind::SiblingFile
        | NamedThingKind::Path
        | NamedThingKind::Argument
        | NamedThingKind::Passage => {
            return None;
        }
    };
    place(file, text, named.span, name, what)
}

/// A mention; `None` if the name is not written literally at its place.
fn place(
    file: &Arc<str>,
    text: &str,
    quoted: Span,
    name: &str,
    what: MentionTarget,
) -> Option<Mention> {
    let at = quoted
        .slice(text)
        .rfind(name)
        .filter(|_| !name.is_empty())?;
    let start = quoted.start as usize + at;
    let span = Span::from_offsets(start, start + name.len());
    Some(Mention {
        file: Arc::clone(file),
        span,
        quoted,
        name: name.to_owned(),
        target: what,
        defines: false,
    })
}
