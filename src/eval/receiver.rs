//! The receiver of a context: a task, or an agent role with its task. `context::role` applies the
//! effects on text, budget, profile and token counter.

use crate::base::suggest;
use crate::project::roles::Role;
use crate::scenario::model::{CaseSubject, ScenarioCase};
use std::collections::BTreeMap;

/// Agent roles by name.
pub type Roles = BTreeMap<String, Role>;

/// The receiver of a context.
#[derive(Clone, Copy, Debug)]
pub struct Receiver<'a> {
    /// The task.
    pub task: &'a str,
    /// The agent role, if any.
    pub role: Option<&'a Role>,
}

impl<'a> Receiver<'a> {
    /// A task alone.
    pub const fn for_task(task: &'a str) -> Self {
        Self { task, role: None }
    }

    /// A role with its task.
    pub fn for_role(role: &'a Role) -> Self {
        Self {
            task: &role.task.value,
            role: Some(role),
        }
    }

    /// The name of the role.
    pub fn role_name(&self) -> Option<&'a str> {
        self.role.map(|role| role.name.value.as_str())
    }

    /// The name of the role, or else of the task.
    pub fn name(&self) -> &'a str {
        self.role_name().unwrap_or(self.task)
    }

    /// The allowed tools, then the blocked ones with the prefix `!`.
    pub fn tools(&self) -> Vec<String> {
        let Some(tools) = self.role.and_then(|role| role.tools.as_ref()) else {
            return Vec::new();
        };
        let blocked = tools.blocked.iter().map(|tool| format!("!{}", tool.value));
        tools
            .allowed
            .iter()
            .map(|tool| tool.value.clone())
            .chain(blocked)
            .collect()
    }

    /// The paths that its tools must not touch.
    pub fn protected_paths(&self) -> Vec<String> {
        self.role.map_or_else(Vec::new, |role| {
            role.protected_paths
                .iter()
                .map(|path| path.value.clone())
                .collect()
        })
    }
}

/// Resolves the receiver of a case.
///
/// # Errors
/// There is no such role; the text suggests a similar one.
pub fn resolve_receiver<'a>(
    case: &'a ScenarioCase,
    roles: &'a Roles,
) -> Result<Receiver<'a>, String> {
    match &case.subject.value {
        CaseSubject::Request(source) => Err(format!(
            "it is about {}, not about an agent of this project",
            source.describe()
        )),
        CaseSubject::Task(task) => Ok(Receiver::for_task(task)),
        CaseSubject::Compaction(compaction) if compaction.role().is_none() => Err(format!(
            "it is about a compaction by {}, not about an agent of this project",
            compaction.method.describe()
        )),
        subject @ (CaseSubject::Role(_) | CaseSubject::Compaction(_)) => {
            let role = subject.role().unwrap_or_default();
            roles.get(role).map(Receiver::for_role).ok_or_else(|| {
                let near = suggest::nearest_candidate(role, roles.keys().map(String::as_str));
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                format!("there is no agent role `{role}` in this project{near}")
            })
        }
    }
}
