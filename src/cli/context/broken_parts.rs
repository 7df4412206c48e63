//! Tasks that errors of the project make unavailable. A command on one of them prints its errors;
//! other tasks are not affected.

use crate::base::diagnostic::Diagnostic;
use crate::cli::findings::{located_messages, project_has_errors};
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::eval::receiver::Receiver;
use crate::registry::workspace::partial::ExcludedDefinition;
use crate::rules::check::is_error;
use crate::template::names::DefinitionKind;
use std::collections::BTreeSet;

/// The maximum number of names that a message lists.
const MAX_LISTED_NAMES: usize = 8;
/// The hint that leads to the remaining errors.
const CHECK_HINT: &str = "`ctxc check` shows them";

/// The errors of a project, and the definitions that are left out because of them.
#[derive(Debug, Default)]
pub(in crate::cli) struct BrokenParts {
    errors: Vec<Diagnostic>,
    left_out: Vec<ExcludedDefinition>,
}

impl BrokenParts {
    /// Builds the value from findings, of which only errors count, and from the excluded
    /// definitions.
    pub(super) fn new(found: Vec<Diagnostic>, left_out: Vec<ExcludedDefinition>) -> Self {
        Self {
            errors: found.into_iter().filter(is_error).collect(),
            left_out,
        }
    }

    /// Returns true if no finding is an error.
    pub(super) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns an error if the project has one. For commands that need the whole project.
    pub(in crate::cli) fn ensure_none(&self, whose: &str) -> Result<()> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(project_has_errors(whose, &self.errors).with_hint(CHECK_HINT))
        }
    }

    /// The tasks that are left out.
    pub(in crate::cli) fn left_out_tasks(&self) -> impl Iterator<Item = &ExcludedDefinition> {
        self.left_out
            .iter()
            .filter(|left_out| left_out.kind == DefinitionKind::Task)
    }

    /// Returns the error that explains why the agents of a task have no context; `None` if no task
    /// of this name is left out.
    pub(in crate::cli) fn task_error(&self, name: &str) -> Option<CliError> {
        let ExcludedDefinition { path, because, .. } =
            self.left_out_tasks().find(|task| task.name == name)?;
        let whose = if path == because {
            path.clone()
        } else {
            format!("{because}, which `{name}` rests on,")
        };
        Some(self.errors_in_file(because, &whose))
    }

    /// Returns the errors in a file, if it has any.
    pub(in crate::cli) fn file_error(&self, path: &str) -> Option<CliError> {
        self.errors
            .iter()
            .any(|error| *error.path == *path)
            .then(|| self.errors_in_file(path, path))
    }

    fn errors_in_file(&self, path: &str, whose: &str) -> CliError {
        let errors: Vec<Diagnostic> = self
            .errors
            .iter()
            .filter(|error| *error.path == *path)
            .cloned()
            .collect();
        project_has_errors(whose, &errors).with_hint(CHECK_HINT)
    }

    /// Describes the first error that deprives an agent of its context, for a verdict.
    pub(super) fn first_cause(&self, receiver: &Receiver<'_>) -> Option<String> {
        let left_out = self
            .left_out_tasks()
            .find(|left_out| left_out.name == receiver.task);
        let is_cause = |error: &&Diagnostic| match left_out {
            Some(left_out) => *error.path == *left_out.because,
            // The task of a role is not defined anywhere.
            None => {
                *error.path == *PROJECT_FILE
                    && receiver
                        .role
                        .is_some_and(|role| role.task.span == error.span)
            }
        };
        let error = self.errors.iter().find(is_cause)?;
        let rule = error.rule;
        let start = error.start;
        Some(format!(
            "{} ({}): {}:{}:{}: {}",
            rule.name, rule.code, error.path, start.line, start.column, error.message
        ))
    }

    /// Returns a hint that lists the files with errors, which may define a name that was not found.
    pub(super) fn undefined_names_hint(&self) -> Option<String> {
        let known: BTreeSet<&str> = self
            .left_out
            .iter()
            .map(|left_out| left_out.path.as_str())
            .collect();
        let files: BTreeSet<&str> = self
            .errors
            .iter()
            .map(|error| &*error.path)
            .filter(|path| !known.contains(path))
            .collect();
        let files: Vec<&str> = files
            .into_iter()
            .filter(|path| **path != *PROJECT_FILE)
            .take(MAX_LISTED_NAMES)
            .collect();
        (!files.is_empty()).then(|| {
            format!(
                "it is not known what {} would define: `ctxc check` shows why",
                files.join(", ")
            )
        })
    }

    /// Returns the files of the excluded definitions, and the texts that these include.
    pub(super) fn affected_files(&self) -> impl Iterator<Item = &str> {
        let own = self
            .left_out
            .iter()
            .flat_map(|left_out| left_out.texts.iter().chain([&left_out.path]));
        own.map(String::as_str)
            .chain(self.errors.iter().map(|error| &*error.path))
    }

    /// Returns the error for a result that covers all agents but is incomplete; `roles` are those
    /// whose tasks are left out.
    pub(super) fn incomplete_error(&self, roles: &[&str]) -> Option<CliError> {
        if self.is_empty() {
            return None;
        }
        let tasks: BTreeSet<String> = self
            .left_out_tasks()
            .map(|task| format!("`{}`", task.name))
            .collect();
        let missing: Vec<String> = roles
            .iter()
            .map(|role| format!("role `{role}`"))
            .chain(tasks)
            .collect();
        let more = match missing.len().saturating_sub(MAX_LISTED_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let count = pluralize(self.errors.len(), "error");
        let first = missing
            .iter()
            .take(MAX_LISTED_NAMES)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ");
        let what = if missing.is_empty() {
            String::new()
        } else {
            format!(": left out are {first}{more}")
        };
        let error = CliError::new(
            CliErrorKind::Findings,
            format!("this is not all, since the project has {count}{what}"),
        );
        Some(
            located_messages(&self.errors.iter().collect::<Vec<_>>())
                .fold(error, CliError::with_hint)
                .with_hint(CHECK_HINT),
        )
    }
}
