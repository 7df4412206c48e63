//! The workspace of a task: a folder that is acquired before and released after it, or none.
//!
//! Creates no folder itself and is independent of their kind.

use crate::kernel::pipeline::outcome::Obstacle;
use std::path::{Path, PathBuf};

/// A workspace for one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The identifier that its provider uses.
    pub id: String,
    path: Option<PathBuf>,
}

impl Workspace {
    /// A workspace in a folder.
    pub fn folder(id: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            id: id.into(),
            path: Some(path.into()),
        }
    }

    /// The folder; `None` if the task needs none.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

/// Provides tasks with workspaces of their own.
pub trait WorkspaceProvider {
    /// A workspace for a task. No other task receives it until it is released.
    ///
    /// # Errors
    /// No workspace is available.
    fn acquire(&self, task: &str) -> Result<Workspace, Obstacle>;

    /// Releases a workspace.
    ///
    /// # Errors
    /// Part of it could not be removed.
    fn release(&self, workspace: Workspace) -> Result<(), Obstacle>;
}

/// Provides empty workspaces, for organisations whose tasks need no folder.
///
/// ```
/// use ctxc::runtime::WorkspaceProvider;
///
/// let workspace = ().acquire("T-1")?;
/// assert_eq!(workspace.path(), None);
/// ().release(workspace)?;
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
impl WorkspaceProvider for () {
    fn acquire(&self, task: &str) -> Result<Workspace, Obstacle> {
        Ok(Workspace {
            id: task.to_owned(),
            path: None,
        })
    }

    fn release(&self, _: Workspace) -> Result<(), Obstacle> {
        Ok(())
    }
}
