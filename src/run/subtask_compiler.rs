//! The seam to the compiler: subtasks that agents ask for become tasks like any other.

use crate::registry::Registry;
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
