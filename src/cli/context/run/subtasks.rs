//! Makes tasks of the subtasks that agents ask for: by the compiler, with the project's own defaults.

use crate::base::rule_meta::Severity;
use crate::project::config::Config;
use crate::registry::Registry;
use crate::registry::library::compile_sources;
use crate::run::subtask_compiler::CompileSubtask;

/// Compiles by the settings of a project.
#[derive(Debug)]
pub(super) struct Subtasks<'p>(pub(super) &'p Config);

impl CompileSubtask for Subtasks<'_> {
    fn compile(&self, template: &str) -> std::result::Result<Registry, String> {
        let built = compile_sources(self.0, [("subtask.xml", template)]);
        if let Some(registry) = built.registry {
            return Ok(registry);
        }
        let errors = built.diagnostics.iter().filter(|one| one.severity == Severity::Error);
        let said: Vec<String> = errors.map(|one| format!("{} ({})", one.message, one.rule.name)).take(3).collect();
        Err(if said.is_empty() { "it is no task".to_owned() } else { said.join("; ") })
    }
}
