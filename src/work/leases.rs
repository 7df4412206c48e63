//! Folders that belong to a program as long as it runs: each has a lock beside it, which the system lets go of however the program ends.
//!
//! A folder without a living owner is what a crashed run left; [`sweep`] removes it.

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

/// The folder of a project's workspaces within its folder for state: what `ctxc gc` sweeps.
pub const WORKSPACES: &str = "workspaces";
/// Characters of a task's id in the name of its folder.
const NAME: usize = 40;
/// The ending of the file that is locked.
const LOCK: &str = ".lock";

/// The folders that this program holds below another.
#[derive(Debug)]
pub(super) struct Leases {
    root: PathBuf,
    held: Mutex<BTreeMap<String, Lock>>,
}

impl Leases {
    pub(super) const fn new(root: PathBuf) -> Self {
        Self { root, held: Mutex::new(BTreeMap::new()) }
    }

    /// A place for a task that nothing has been at yet.
    pub(super) fn take(&self, task: &str) -> Result<(String, PathBuf), Obstacle> {
        let unmade = |why: &io::Error| obstacle(format!("no folder can be made in {}: {}", self.root.display(), reason(why)));
        folders::make(&self.root).map_err(|why| unmade(&why))?;
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let name: String = task.chars().take(NAME).map(plain).collect();
        let id = format!("{name}-{}", Hash(fs::random()).to_string().get(3..19).unwrap_or_default());
        let lock = fs::try_lock(&self.beside(&id, LOCK)).map_err(|why| unmade(&why))?;
        let lock = lock.ok_or_else(|| obstacle(format!("{id} is taken")))?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), lock);
        let path = self.root.join(&id);
        Ok((id, path))
    }

    /// A file beside the folder of an id.
    pub(super) fn beside(&self, id: &str, ending: &str) -> PathBuf {
        self.root.join([id, ending].concat())
    }

    /// Lets go of a place, once nothing is there.
    pub(super) fn end(&self, workspace: &Workspace) -> Result<(), Obstacle> {
        clear(&self.root, &workspace.id)?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&workspace.id);
        fs::remove(&self.beside(&workspace.id, LOCK)).map_err(|why| left(&workspace.id, &why))
    }
}

/// Removes what belongs to an id, but its lock.
fn clear(root: &Path, id: &str) -> Result<(), Obstacle> {
    let folder = root.join(id);
    let repository = root.join([id, REPOSITORY].concat());
    if fs::exists(&repository) {
        git::remove(&repository, &folder, id)?;
    }
    fs::remove_tree(&folder).and_then(|()| fs::remove(&repository)).map_err(|why| left(id, &why))
}

/// Removes what crashed programs left in a folder of workspaces, and says how many workspaces that were. Those of programs that run
/// stay.
///
/// # Errors
/// One of them cannot be removed.
pub fn sweep(root: &Path) -> Result<usize, Obstacle> {
    let mut removed = 0;
    for name in fs::names_in(root) {
        let Some(id) = name.strip_suffix(LOCK) else { continue };
        let lock = root.join(&name);
        let Some(_held) = fs::try_lock(&lock).map_err(|why| left(id, &why))? else { continue };
        removed += usize::from(fs::exists(&root.join(id)));
        clear(root, id)?;
        fs::remove(&lock).map_err(|why| left(id, &why))?;
    }
    Ok(removed)
}

fn left(id: &str, why: &io::Error) -> Obstacle {
    obstacle(format!("the workspace {id} cannot be removed: {}", reason(why)))
}
