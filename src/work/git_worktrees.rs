//! Workspaces as worktrees of a git repository, each on a branch of its own.
//!
//! Runs the program `git` with none of the repository's hooks. Commits in a workspace stay on its
//! branch after the release; uncommitted changes are removed with it.

use super::git::{REPOSITORY_EXTENSION, branch_name, run_git, workspace_obstacle};
use super::leases::Leases;
use crate::base::contained_path::describe_io_error;
use crate::base::fs;
use crate::kernel::pipeline::outcome::Obstacle;
use crate::kernel::work::workspace::{Workspace, WorkspaceProvider};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Creates a worktree of a repository for each task, on a branch `ctxc/ID` from its `HEAD`.
#[derive(Debug)]
pub struct GitWorktrees {
    /// The folder whose `HEAD` is the start of the worktrees.
    folder: PathBuf,
    /// The folder shared by all worktrees of the repository.
    repository: PathBuf,
    leases: Leases,
    /// Serialises git calls, which would interfere with each other in the repository.
    git_lock: Mutex<()>,
}

impl GitWorktrees {
    /// Worktrees of the repository that contains `folder`, below `root`, which is created if
    /// missing.
    ///
    /// # Errors
    /// The folder is not in a repository, or git is not available.
    pub fn new(folder: &Path, root: impl Into<PathBuf>) -> Result<Self, Obstacle> {
        let found = run_git(
            folder,
            &["rev-parse", "--path-format=absolute", "--git-common-dir"],
        )?;
        let repository = PathBuf::from(found.trim_end_matches(['\n', '\r']));
        Ok(Self {
            folder: folder.to_owned(),
            repository,
            leases: Leases::new(root.into()),
            git_lock: Mutex::new(()),
        })
    }
}

impl WorkspaceProvider for GitWorktrees {
    fn acquire(&self, task: &str) -> Result<Workspace, Obstacle> {
        let (id, path) = self.leases.reserve_folder(task)?;
        let workspace = Workspace::folder(id, &path);
        let start = run_git(&self.folder, &["rev-parse", "--verify", "HEAD^{commit}"]);
        let unmade = |why: std::io::Error| {
            workspace_obstacle(format!(
                "{} cannot be made: {}",
                path.display(),
                describe_io_error(&why)
            ))
        };
        let made = start.and_then(|start| {
            let start = start.trim_end();
            let named = [
                self.repository.as_os_str().as_encoded_bytes(),
                b"\n",
                start.as_bytes(),
            ]
            .concat();
            fs::write_private(
                &self
                    .leases
                    .sibling_path(&workspace.id, REPOSITORY_EXTENSION),
                &named,
            )
            .map_err(unmade)?;
            let _one = self.git_lock.lock().unwrap_or_else(PoisonError::into_inner);
            let (branch, folder) = (branch_name(&workspace.id), path.to_string_lossy());
            run_git(
                &self.folder,
                &[
                    "worktree", "add", "--quiet", "-b", &branch, "--", &folder, start,
                ],
            )
        });
        match made {
            Ok(_) => Ok(workspace),
            Err(why) => {
                // The first error is the reason that counts; the next sweep removes any remains.
                let _ = self.release(workspace);
                Err(why)
            }
        }
    }

    fn release(&self, workspace: Workspace) -> Result<(), Obstacle> {
        let _one = self.git_lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.leases.release_folder(&workspace)
    }
}
