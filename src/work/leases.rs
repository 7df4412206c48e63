//! Folders that belong to a program while it runs: each has a lock file beside it, which the system
//! releases even if the program is killed.
//!
//! A folder without a living owner is the remains of a crashed run; [`sweep`] removes it.

use super::git::{self, REPOSITORY, obstacle};
use crate::base::fs::{self, Lock};
use crate::base::hash::Hash;
use crate::base::{contained_path::reason, folders};
use crate::kernel::pipeline::outcome::Obstacle;
use crate::kernel::work::workspace::Workspace;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder of a project's workspaces within its folder for state, which `ctxc gc` sweeps.
pub const WORKSPACES: &str = "workspaces";
/// Characters of a task's id in the name of its folder.
const NAME: usize = 40;
/// The extension of the lock file.
const LOCK: &str = ".lock";

/// The folders that this program holds below a root.
#[derive(Debug)]
pub(super) struct Leases {
    root: PathBuf,
    held: Mutex<BTreeMap<String, Lock>>,
}

impl Leases {
    pub(super) const fn new(root: PathBuf) -> Self {
        Self {
            root,
            held: Mutex::new(BTreeMap::new()),
        }
    }

    /// Reserves an unused folder for a task.
    pub(super) fn take(&self, task: &str) -> Result<(String, PathBuf), Obstacle> {
        let unmade = |why: &io::Error| {
            obstacle(format!(
                "no folder can be made in {}: {}",
                self.root.display(),
                reason(why)
            ))
        };
        folders::make(&self.root).map_err(|why| unmade(&why))?;
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
                c
            } else {
                '_'
            }
        };
        let name: String = task.chars().take(NAME).map(plain).collect();
        let id = format!(
            "{name}-{}",
            Hash(fs::random())
                .to_string()
                .get(3..19)
                .unwrap_or_default()
        );
        let lock = fs::try_lock(&self.beside(&id, LOCK)).map_err(|why| unmade(&why))?;
        let lock = lock.ok_or_else(|| obstacle(format!("{id} is taken")))?;
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), lock);
        let path = self.root.join(&id);
        Ok((id, path))
    }

    /// The path of a file beside the folder of an id.
    pub(super) fn beside(&self, id: &str, ending: &str) -> PathBuf {
        self.root.join([id, ending].concat())
    }

    /// Removes the folder of a workspace and releases it.
    pub(super) fn end(&self, workspace: &Workspace) -> Result<(), Obstacle> {
        clear(&self.root, &workspace.id)?;
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&workspace.id);
        fs::remove(&self.beside(&workspace.id, LOCK)).map_err(|why| left(&workspace.id, &why))
    }
}

/// Removes all files of an id except its lock.
fn clear(root: &Path, id: &str) -> Result<(), Obstacle> {
    let folder = root.join(id);
    let repository = root.join([id, REPOSITORY].concat());
    if fs::exists(&repository) {
        git::remove(&repository, &folder, id)?;
    }
    fs::remove_tree(&folder)
        .and_then(|()| fs::remove(&repository))
        .map_err(|why| left(id, &why))
}

/// Removes the remains of crashed programs in a folder of workspaces, and returns the number of
/// removed workspaces. Those of running programs stay.
///
/// # Errors
/// One of them cannot be removed.
pub fn sweep(root: &Path) -> Result<usize, Obstacle> {
    let mut removed = 0;
    for name in fs::names_in(root) {
        let Some(id) = name.strip_suffix(LOCK) else {
            continue;
        };
        let lock = root.join(&name);
        let Some(_held) = fs::try_lock(&lock).map_err(|why| left(id, &why))? else {
            continue;
        };
        removed += usize::from(fs::exists(&root.join(id)));
        clear(root, id)?;
        fs::remove(&lock).map_err(|why| left(id, &why))?;
    }
    Ok(removed)
}

fn left(id: &str, why: &io::Error) -> Obstacle {
    obstacle(format!(
        "the workspace {id} cannot be removed: {}",
        reason(why)
    ))
}
