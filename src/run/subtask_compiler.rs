//! The seam to the compiler: subtasks that agents ask for become tasks like any other.

use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::registry::Registry;
use crate::registry::library::compile_sources;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Makes a task of a request.
pub trait CompileSubtask: Debug + Sync {
    /// The registry with the task of these words, a template: what the project says of operators and subtypes holds for it.
    ///
    /// # Errors
    /// What is wrong with it, as `ctxc check` says it.
    fn compile(&self, template: &str) -> Result<Registry, String>;
}

/// Runs no subtask.
#[derive(Clone, Copy, Debug)]
pub struct NoSubtasks;

impl CompileSubtask for NoSubtasks {
    fn compile(&self, _: &str) -> Result<Registry, String> {
        Err("this run has no compiler".to_owned())
    }
}

/// Compiles by the settings of a project, its own defaults among them.
impl CompileSubtask for Config {
    fn compile(&self, template: &str) -> Result<Registry, String> {
        // The tasks that its roles play are not there, and none of them is asked for.
        let own = Self { roles: BTreeMap::new(), ..self.clone() };
        let built = compile_sources(&own, [("subtask.xml", template)]);
        if let Some(registry) = built.registry {
            return Ok(registry);
        }
        let errors = built.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        let said: Vec<String> = errors.map(|one| format!("{} ({})", one.message, one.rule.name)).take(3).collect();
        Err(if said.is_empty() { "it is no task".to_owned() } else { said.join("; ") })
    }
}
