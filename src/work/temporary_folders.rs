//! Workspaces that are empty folders.

use super::git::workspace_obstacle;
use super::leases::Leases;
use crate::base::contained_path::describe_io_error;
use crate::base::fs;
use crate::kernel::pipeline::outcome::Obstacle;
use crate::kernel::work::workspace::{Workspace, WorkspaceProvider};
use std::path::PathBuf;

/// Creates an empty folder for each task, and removes it with its contents.
#[derive(Debug)]
pub struct TemporaryFolders {
    leases: Leases,
}

impl TemporaryFolders {
    /// Folders below `root`, which is created if missing.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            leases: Leases::new(root.into()),
        }
    }
}

impl WorkspaceProvider for TemporaryFolders {
    fn acquire(&self, task: &str) -> Result<Workspace, Obstacle> {
        let (id, path) = self.leases.reserve_folder(task)?;
        fs::create_private_dir(&path).map_err(|why| {
            workspace_obstacle(format!(
                "{} cannot be made: {}",
                path.display(),
                describe_io_error(&why)
            ))
        })?;
        Ok(Workspace::folder(id, path))
    }

    fn release(&self, workspace: Workspace) -> Result<(), Obstacle> {
        self.leases.release_folder(&workspace)
    }
}
