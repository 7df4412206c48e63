//! Folders that belong to a program while it runs: each has a lock file beside it, which the system
//! releases even if the program is killed.
//!
//! A folder without a living owner is the remains of a crashed run; [`sweep`] removes it.

use super::git::{self, REPOSITORY_EXTENSION, workspace_obstacle};
use crate::base::fs::{self, FileLock};
use crate::base::hash::Hash;
use crate::base::{contained_path::describe_io_error, folders};
use crate::kernel::pipeline::outcome::Obstacle;
use crate::kernel::work::workspace::Workspace;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder of a project's workspaces within its folder for state, which `ctxc gc` sweeps.
pub const WORKSPACES_FOLDER: &str = "workspaces";
/// Characters of a task's id in the name of its folder.
const MAX_NAME_CHARS: usize = 40;
/// The extension of the lock file.
const LOCK_EXTENSION: &str = ".lock";

/// The folders that this program holds below a root.
#[derive(Debug)]
pub(super) struct Leases {
    root: PathBuf,
    held: Mutex<BTreeMap<String, FileLock>>,
}

impl Leases {
    pub(super) const fn new(root: PathBuf) -> Self {
        Self {
            root,
            held: Mutex::new(BTreeMap::new()),
        }
    }

    /// Reserves an unused folder for a task.
    pub(super) fn reserve_folder(&self, task: &str) -> Result<(String, PathBuf), Obstacle> {
        let unmade = |why: &io::Error| {
            workspace_obstacle(format!(
                "no folder can be made in {}: {}",
                self.root.display(),
                describe_io_error(why)
            ))
        };
        folders::create_private(&self.root).map_err(|why| unmade(&why))?;
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                c
            } else {
                '_'
            }
        };
        let name: String = task.chars().take(MAX_NAME_CHARS).map(plain).collect();
        let id = format!(
            "{name}-{}",
            Hash(fs::random_bytes())
                .to_string()
                .get(3..19)
                .unwrap_or_default()
        );
        let lock =
            fs::try_lock(&self.sibling_path(&id, LOCK_EXTENSION)).map_err(|why| unmade(&why))?;
        let lock = lock.ok_or_else(|| workspace_obstacle(format!("{id} is taken")))?;
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), lock);
        let path = self.root.join(&id);
        Ok((id, path))
    }

    /// The path of a file beside the folder of an id.
    pub(super) fn sibling_path(&self, id: &str, ending: &str) -> PathBuf {
        self.root.join([id, ending].concat())
    }

    /// Removes the folder of a workspace and releases it.
    pub(super) fn release_folder(&self, workspace: &Workspace) -> Result<(), Obstacle> {
        remove_files(&self.root, &workspace.id)?;
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&workspace.id);
        fs::remove_file(&self.sibling_path(&workspace.id, LOCK_EXTENSION))
            .map_err(|why| removal_obstacle(&workspace.id, &why))
    }
}

/// Removes all files of an id except its lock.
fn remove_files(root: &Path, id: &str) -> Result<(), Obstacle> {
    let folder = root.join(id);
    let repository = root.join([id, REPOSITORY_EXTENSION].concat());
    if fs::exists(&repository) {
        git::remove_worktree(&repository, &folder, id)?;
    }
    fs::remove_tree(&folder)
        .and_then(|()| fs::remove_file(&repository))
        .map_err(|why| removal_obstacle(id, &why))
}

/// Removes the remains of crashed programs in a folder of workspaces, and returns the number of
/// removed workspaces. Those of running programs stay.
///
/// # Errors
/// One of them cannot be removed.
pub fn sweep(root: &Path) -> Result<usize, Obstacle> {
    let mut removed = 0;
    for name in fs::list_names(root) {
        let Some(id) = name.strip_suffix(LOCK_EXTENSION) else {
            continue;
        };
        let lock = root.join(&name);
        let Some(_held) = fs::try_lock(&lock).map_err(|why| removal_obstacle(id, &why))? else {
            continue;
        };
        removed += usize::from(fs::exists(&root.join(id)));
        remove_files(root, id)?;
        fs::remove_file(&lock).map_err(|why| removal_obstacle(id, &why))?;
    }
    Ok(removed)
}

fn removal_obstacle(id: &str, why: &io::Error) -> Obstacle {
    workspace_obstacle(format!(
        "the workspace {id} cannot be removed: {}",
        describe_io_error(why)
    ))
}
