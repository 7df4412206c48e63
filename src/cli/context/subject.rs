//! The subject of a verb: a task, or an agent role with its task.

use super::models;
use super::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::request;
use crate::project::roles::Role;

/// The requested task or role.
#[derive(Clone, Debug, Args)]
pub(super) struct SubjectArgs {
    /// A task's name, the file that contains it, an agent role, or a recorded call (`@last#3`, a file with a request)
    #[arg(value_name = "TASK|ROLE", required_unless_present = "role")]
    subject: Option<String>,
    /// An agent role of the project, if a task has the same name
    #[arg(long, value_name = "NAME", conflicts_with = "subject")]
    role: Option<String>,
}

impl SubjectArgs {
    /// The arguments for a task, or for a role of it.
    pub(super) fn for_task(task: String, role: Option<String>) -> Self {
        Self {
            subject: role.is_none().then_some(task),
            role,
        }
    }

    /// Returns true if a task or role is given.
    pub(super) const fn is_given(&self) -> bool {
        self.subject.is_some() || self.role.is_some()
    }

    /// Returns the subject if it is a request that was sent.
    pub(super) fn sent_request(&self) -> Option<&str> {
        self.subject
            .as_deref()
            .filter(|subject| request::is_request(Path::new(subject)))
    }

    /// Returns the given role, if any, and the task.
    pub(super) fn resolve<'p>(
        &self,
        project: &'p CompiledProject,
    ) -> Result<(Option<&'p Role>, String)> {
        resolve(
            self.subject.as_deref().unwrap_or_default(),
            self.role.as_deref(),
            project,
        )
    }
}

/// Returns the role with the name `role`, or the task or role with the name `subject`: the task if
/// both exist.
pub(super) fn resolve<'p>(
    subject: &str,
    role: Option<&str>,
    project: &'p CompiledProject,
) -> Result<(Option<&'p Role>, String)> {
    let role = match role {
        Some(name) => Some(models::find_role(&project.config, name)?),
        None if project.registry.find(subject).is_some() => None,
        None => project.config.roles.get(subject),
    };
    let task = project.find_task(role.map_or(subject, |role| &role.task.value))?;
    Ok((role, task))
}
