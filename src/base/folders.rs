//! Where ctxc keeps what is no part of a project: what it can make again in the user's folder for caches, what it cannot (whom the
//! user trusts) in the user's folder for state, recorded calls in that for data, by project. Never inside a project, so that no repository can bring it along and no
//! link in one leads it elsewhere. Without such a folder nothing is kept.

use super::fs::{self, ReadFs, RealFs};
use super::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};

/// Names the folder for caches; `--cache-dir` comes before it.
pub const CACHE_DIR: &str = "CTXC_CACHE_DIR";
/// Characters of a project's own name in that of its folder, and of the hash of its path.
const NAME: usize = 40;
const DIGITS: std::ops::Range<usize> = 3..19;

/// The folder for what is kept of a project; `None` where nobody says where caches lie. Nothing is made.
pub fn cache(named: Option<&Path>, project: &Path) -> Option<PathBuf> {
    let caches = named.map(Path::to_path_buf).or_else(|| fs::env(CACHE_DIR).map(PathBuf::from)).or_else(caches)?;
    of_project(&caches, &RealFs.canonical(project).ok()?)
}

/// The folder for what the user says of a project; `None` where nobody says where such things lie, and where they would lie in the
/// project itself, which could bring them along. Nothing is made.
pub fn state(project: &Path) -> Option<PathBuf> {
    let project = RealFs.canonical(project).ok()?;
    let states = states()?;
    let is_inside = |folder: &Path| RealFs.canonical(folder).is_ok_and(|folder| folder.starts_with(&project));
    if states.ancestors().any(is_inside) { None } else { of_project(&states, &project) }
}

/// The user's folder for state. Nothing is made.
pub fn states() -> Option<PathBuf> {
    user("XDG_STATE_HOME", ".local/state", ".local/state", "state")
}

/// The folder for what is recorded of a project; `None` where nobody says where such things lie. Nothing is made.
pub fn data(project: &Path) -> Option<PathBuf> {
    of_project(&all_data()?, &RealFs.canonical(project).ok()?)
}

/// The user's folder for data, with a folder for each project. Nothing is made.
pub fn all_data() -> Option<PathBuf> {
    user("XDG_DATA_HOME", ".local/share", "Library/Application Support", "data")
}

/// The folder of a project below another.
fn of_project(folder: &Path, project: &Path) -> Option<PathBuf> {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = project.file_name().unwrap_or_default().to_string_lossy().chars().take(NAME).map(plain).collect();
    let hash = Hash::of(project.as_os_str().as_encoded_bytes()).to_string();
    Some(folder.join(format!("{name}-{}", hash.get(DIGITS)?)))
}

/// The user's folder for caches.
fn caches() -> Option<PathBuf> {
    user("XDG_CACHE_HOME", ".cache", "Library/Caches", "cache")
}

/// A folder of the user's: the one that a variable names, else the platform's. A relative path could lead into a repository, and
/// counts as none.
fn user(variable: &str, linux: &str, mac: &str, windows: &str) -> Option<PathBuf> {
    let given = |name: &str| fs::env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        return given("LOCALAPPDATA").map(|folder| folder.join("ctxc").join(windows));
    }
    let home = || given("HOME").map(|home| home.join(if cfg!(target_os = "macos") { mac } else { linux }));
    given(variable).or_else(home).map(|folder| folder.join("ctxc"))
}

/// Makes a folder for the user's eyes alone, which no repository takes in where it lies inside one.
///
/// # Errors
/// It cannot be made.
pub fn make(folder: &Path) -> io::Result<()> {
    if fs::is_link(folder) {
        return Err(io::Error::other(format!("{} is a link", folder.display())));
    }
    fs::create_private_dir(folder)?;
    let ignored = folder.join(".gitignore");
    if fs::exists(&ignored) {
        return Ok(());
    }
    fs::write_cache(&ignored, b"# made by ctxc: nothing in here belongs into a repository\n*\n")
}

#[cfg(test)]
#[path = "../../tests/unit/base/folders.rs"]
mod tests;
