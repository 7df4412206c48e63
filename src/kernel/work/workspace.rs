//! Where a task is worked on: a folder that is acquired before and released after, or nothing.
//!
//! Makes no folder itself and knows no kind of them.

use crate::kernel::pipeline::outcome::Obstacle;
use std::path::{Path, PathBuf};

/// A place to work on one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// What its provider knows it by.
    pub id: String,
    path: Option<PathBuf>,
}

impl Workspace {
    /// A folder.
    pub fn folder(id: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { id: id.into(), path: Some(path.into()) }
    }

    /// The folder; `None` where the task needs none.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }
}

/// Gives tasks a place of their own.
pub trait WorkspaceProvider {
    /// A workspace for a task. Nobody else is given the same until it is released.
    ///
    /// # Errors
    /// There is none.
    fn acquire(&self, task: &str) -> Result<Workspace, Obstacle>;

    /// Takes a workspace back.
    ///
    /// # Errors
    /// Something of it could not be removed.
    fn release(&self, workspace: Workspace) -> Result<(), Obstacle>;
}

/// No place: for organisations whose tasks need none.
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
        Ok(Workspace { id: task.to_owned(), path: None })
    }

    fn release(&self, _: Workspace) -> Result<(), Obstacle> {
        Ok(())
    }
}
