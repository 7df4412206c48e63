//! The interface to the compiler: requested subtasks become ordinary tasks.

use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::registry::Registry;
use crate::registry::library::compile_sources;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Compiles a subtask request.
pub trait SubtaskCompiler: Debug + Sync {
    /// Returns the registry with the task of a template. The project's operators and subtypes apply
    /// to it.
    ///
    /// # Errors
    /// The faults of the template, as `ctxc check` reports them.
    fn compile(&self, template: &str) -> Result<Registry, String>;
}

/// Rejects all subtasks.
#[derive(Clone, Copy, Debug)]
pub struct NoSubtasks;

impl SubtaskCompiler for NoSubtasks {
    fn compile(&self, _: &str) -> Result<Registry, String> {
        Err("this run has no compiler".to_owned())
    }
}

/// Compiles with the settings of a project, including its defaults.
impl SubtaskCompiler for Config {
    fn compile(&self, template: &str) -> Result<Registry, String> {
        // The tasks of its roles are absent from this registry and not needed.
        let own = Self {
            roles: BTreeMap::new(),
            ..self.clone()
        };
        let built = compile_sources(&own, [("subtask.xml", template)]);
        if let Some(registry) = built.registry {
            return Ok(registry);
        }
        let errors = built
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error);
        let said: Vec<String> = errors
            .map(|one| format!("{} ({})", one.message, one.rule.name))
            .take(3)
            .collect();
        Err(if said.is_empty() {
            "it is no task".to_owned()
        } else {
            said.join("; ")
        })
    }
}
