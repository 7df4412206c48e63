//! Names of templates in the files beside them: tasks in scenarios and roles; parameters, inputs and results in scenarios. And
//! the names that the project file gives itself: roles, models and providers.
//!
//! The rows of a case table have no places of their own, and are none.

use super::variables::{self, Variable, VariableAtCursor};
use crate::base::fix::Edit;
use crate::base::span::Spanned;
use crate::lsp::prelude::*;
use crate::project::roles::ModelChoice;
use crate::rules::scenario::cx::{key_before, plain};
use crate::rules::scenario::shown;
use crate::rules::scenario::walk;
use crate::scenario::expect::segments::Named;
use crate::scenario::load::Loaded;
use crate::scenario::model::{Case, Subject};
use crate::template::names::DefinitionKind;

/// A place that says a name of a template.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) struct Mention {
    pub(in crate::lsp) file: Arc<str>,
    /// The name alone, without its quotes.
    pub(in crate::lsp) span: Span,
    pub(in crate::lsp) name: String,
    pub(in crate::lsp) what: Mentioned,
    /// The section of the project file that it names.
    pub(in crate::lsp) defines: bool,
}

/// What is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lsp) enum Mentioned {
    /// A task.
    Task,
    /// The task of a role that has the task's name, and says no other.
    OwnTask,
    /// A role.
    Role,
    /// A model.
    Model,
    /// A provider.
    Provider,
    /// A parameter of this task.
    Parameter(String),
    /// An input or a result in this task, or in what it refers to.
    Value(String),
    /// A task, a fragment, or a value in this task.
    Source(String),
}

/// Every place of the project.
pub(in crate::lsp) fn all(project: &ProjectState) -> Vec<Mention> {
    let mut found = Vec::new();
    let config = &project.config;
    if let Some(file) = config.files.first() {
        let mut say = |defines: bool, name: &Spanned<String>, what: Mentioned| {
            let own = mention(&file.path, &file.text, name.span, &name.value, what);
            found.extend(own.map(|own| Mention { defines, ..own }));
        };
        for role in config.roles.values() {
            let is_own = role.task.span == role.name.span;
            say(false, &role.task, if is_own { Mentioned::OwnTask } else { Mentioned::Task });
            say(true, &role.name, Mentioned::Role);
            if let ModelChoice::Named(models) = &role.model {
                for model in models {
                    say(false, model, Mentioned::Model);
                }
            }
        }
        for model in config.models.values() {
            say(true, &model.name, Mentioned::Model);
            say(false, &model.provider, Mentioned::Provider);
        }
        config.providers.values().for_each(|provider| say(true, &provider.name, Mentioned::Provider));
        let own = config.requirements.iter().filter(|requirement| requirement.file == 0);
        own.flat_map(|requirement| &requirement.selector.role).for_each(|role| say(false, role, Mentioned::Role));
    }
    for read in project.suites.values().flatten() {
        found.extend(of_suite(project, read));
    }
    found.sort();
    found.dedup();
    found
}

/// The one at an offset of a file.
pub(in crate::lsp) fn at(project: &ProjectState, file: &str, offset: u32) -> Option<Mention> {
    if project.is_xml(file) {
        return None;
    }
    all(project).into_iter().find(|own| *own.file == *file && own.span.touches(offset))
}

/// The variable that a place names.
pub(in crate::lsp) fn variable(project: &ProjectState, mention: &Mention) -> Option<VariableAtCursor> {
    let variable = match &mention.what {
        Mentioned::Parameter(task) => variables::parameter(project, task, &mention.name),
        Mentioned::Value(task) | Mentioned::Source(task) => variables::inside(project, task, &mention.name),
        Mentioned::Task | Mentioned::OwnTask | Mentioned::Role | Mentioned::Model | Mentioned::Provider => None,
    }?;
    Some(VariableAtCursor { variable, name: mention.name.clone(), span: mention.span })
}

/// The places that name a variable.
pub(in crate::lsp) fn of_variable<'m>(
    project: &'m ProjectState,
    name: &'m str,
    is_it: impl Fn(&Variable) -> bool + 'm,
) -> impl Iterator<Item = Mention> + 'm {
    let named = all(project).into_iter().filter(move |mention| mention.name == name);
    named.filter(move |mention| variable(project, mention).is_some_and(|found| is_it(&found.variable)))
}

impl Mention {
    /// Which kind of definition is named, if one is.
    pub(in crate::lsp) fn kind(&self, project: &ProjectState) -> Option<DefinitionKind> {
        match self.what {
            Mentioned::Task | Mentioned::OwnTask => Some(DefinitionKind::Task),
            Mentioned::Source(_) => {
                let kinds = [DefinitionKind::Task, DefinitionKind::Fragment, DefinitionKind::Template];
                let named = kinds.into_iter().find(|kind| project.index().find(*kind, &self.name).is_some());
                named.filter(|_| variable(project, self).is_none())
            }
            Mentioned::Role | Mentioned::Model | Mentioned::Provider | Mentioned::Parameter(_) | Mentioned::Value(_) => None,
        }
    }

    /// Writes another name for a definition.
    pub(in crate::lsp) fn rename(&self, text: &str, new: &str) -> Option<Edit> {
        if self.what == Mentioned::OwnTask {
            // The role keeps its name, and says which task it plays from now on.
            let rest = text.get(self.span.end as usize..)?;
            let close = rest
                .find(']')
                .filter(|close| rest.get(..*close).is_some_and(|before| before.trim_matches(['"', '\'', ' ']).is_empty()))?;
            let end = rest.get(close..)?.find('\n').map_or(rest.len(), |end| close + end);
            return Some(Edit::insert(self.span.end + end as u32, format!("\ntemplate = \"{new}\"")));
        }
        let is_quoted = text.get(..self.span.start as usize)?.ends_with(['"', '\'']);
        let written = if is_quoted { new.to_owned() } else { plain(new) };
        Some(Edit::replace(self.span, written))
    }
}

/// A place, where the name stands in it as it is.
fn mention(file: &Arc<str>, text: &str, span: Span, name: &str, what: Mentioned) -> Option<Mention> {
    let at = span.slice(text).rfind(name).filter(|_| !name.is_empty())?;
    let start = span.start + at as u32;
    let span = Span::new(start, start + name.len() as u32);
    Some(Mention { file: Arc::clone(file), span, name: name.to_owned(), what, defines: false })
}

fn of_suite(project: &ProjectState, read: &Loaded) -> Vec<Mention> {
    let mut found = Vec::new();
    let Some(suite) = &read.suite else { return found };
    let is_row = |case: &&Case| suite.cases_from.as_ref().is_some_and(|from| from.span == case.name.span);
    for case in suite.cases.iter().filter(|case| !is_row(case)) {
        of_case(project, read, case, &mut found);
    }
    found
}

fn of_case(project: &ProjectState, read: &Loaded, case: &Case, found: &mut Vec<Mention>) {
    let mut say = |span: Span, name: &str, what: Mentioned| found.extend(mention(&read.path, &read.text, span, name, what));
    let span = case.subject.span;
    let task = match &case.subject.value {
        Subject::Task(task) => {
            say(span, task, Mentioned::Task);
            task
        }
        Subject::Role(role) => {
            say(span, role, Mentioned::Role);
            let Some(role) = project.config.roles.get(role) else { return };
            &role.task.value
        }
        Subject::Request(_) => return,
    };
    if let Some(node) = case.node.as_ref().filter(|node| !node.value.starts_with('/')) {
        say(node.span, &node.value, Mentioned::Value(task.clone()));
    }
    for (name, value) in &case.situation.inputs {
        if let Some(key) = key_before(&read.text, name, value.span) {
            say(key, name, Mentioned::Parameter(task.clone()));
        }
    }
    for (name, value) in &case.situation.results {
        if let Some(key) = key_before(&read.text, name, value.span) {
            say(key, name, Mentioned::Value(task.clone()));
        }
    }
    walk::named(&case.expect_context, &mut |named, _| match named {
        Named::Id(Spanned { value, span }) => {
            if let Some(("input" | "accumulated", name)) = shown::named(value) {
                say(*span, shown::numbered(name), Mentioned::Value(task.clone()));
            }
        }
        Named::Source(Spanned { value, span }) => say(*span, value, Mentioned::Source(task.clone())),
    });
}
