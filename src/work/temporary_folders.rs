//! Workspaces that are empty folders.

use super::git::obstacle;
use super::leases::Leases;
use crate::base::contained_path::reason;
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
        let (id, path) = self.leases.take(task)?;
        fs::create_private_dir(&path).map_err(|why| {
            obstacle(format!(
                "{} cannot be made: {}",
                path.display(),
                reason(&why)
            ))
        })?;
        Ok(Workspace::folder(id, path))
    }

    fn release(&self, workspace: Workspace) -> Result<(), Obstacle> {
        self.leases.end(&workspace)
    }
}
