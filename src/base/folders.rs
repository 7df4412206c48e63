//! The user's folders for data that belongs to no project tree: rebuildable data in the cache
//! folder, trust decisions in the state folder, recorded calls in the data folder, each by project.
//! Never inside a project, so that a repository can neither ship such data nor redirect it through
//! a link. Without such a folder nothing is stored.

use super::fs::{self, ReadFs, RealFs};
use super::hash::Hash;
use std::io;
use std::path::{Path, PathBuf};

/// The variable that names the folder for caches; `--cache-dir` overrides it.
pub const CACHE_DIR_VARIABLE: &str = "CTXC_CACHE_DIR";
/// The maximum length of a project's name in the name of its folder, in characters.
const MAX_NAME_CHARS: usize = 40;
/// The digits of the hash of the project's path that are part of the folder's name: the first 16,
/// without the prefix `b3:`.
const HASH_CHARS: std::ops::Range<usize> = 3..19;

/// The cache folder of a project; `None` if no cache folder is configured or known. Creates
/// nothing.
pub fn project_cache(named: Option<&Path>, project: &Path) -> Option<PathBuf> {
    let caches = named
        .map(Path::to_path_buf)
        .or_else(|| fs::env_var(CACHE_DIR_VARIABLE).map(PathBuf::from))
        .or_else(cache_root)?;
    project_folder(&caches, &RealFs.canonicalize(project).ok()?)
}

/// The folder for the user's trust decisions about a project; `None` if no state folder is known,
/// or if it lies inside the project, which could ship such decisions itself. Creates nothing.
pub fn project_state(project: &Path) -> Option<PathBuf> {
    let project = RealFs.canonicalize(project).ok()?;
    let states = state_root()?;
    let is_inside = |folder: &Path| {
        RealFs
            .canonicalize(folder)
            .is_ok_and(|folder| folder.starts_with(&project))
    };
    if states.ancestors().any(is_inside) {
        None
    } else {
        project_folder(&states, &project)
    }
}

/// The user's folder for state. Creates nothing.
pub fn state_root() -> Option<PathBuf> {
    user_folder("XDG_STATE_HOME", ".local/state", ".local/state", "state")
}

/// The folder for the recordings of a project; `None` if no data folder is known. Creates nothing.
pub fn project_data(project: &Path) -> Option<PathBuf> {
    project_folder(&data_root()?, &RealFs.canonicalize(project).ok()?)
}

/// The user's folder for data, with a folder for each project. Creates nothing.
pub fn data_root() -> Option<PathBuf> {
    user_folder(
        "XDG_DATA_HOME",
        ".local/share",
        "Library/Application Support",
        "data",
    )
}

/// The folder of a project inside one of the user's folders.
fn project_folder(folder: &Path, project: &Path) -> Option<PathBuf> {
    let plain = |c: char| {
        if c.is_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = project
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .chars()
        .take(MAX_NAME_CHARS)
        .map(plain)
        .collect();
    let hash = Hash::digest(project.as_os_str().as_encoded_bytes()).to_string();
    Some(folder.join(format!("{name}-{}", hash.get(HASH_CHARS)?)))
}

/// The folder of installed packages; `None` if no cache folder is known. Creates nothing.
pub fn package_cache() -> Option<PathBuf> {
    let named = fs::env_var(CACHE_DIR_VARIABLE).map(PathBuf::from);
    named
        .or_else(cache_root)
        .map(|caches| caches.join("packages"))
}

/// The user's folder for caches.
fn cache_root() -> Option<PathBuf> {
    user_folder("XDG_CACHE_HOME", ".cache", "Library/Caches", "cache")
}

/// One of the user's folders: the one that a variable names, else the platform's. A relative path
/// could lead into a repository and is ignored.
fn user_folder(variable: &str, linux: &str, mac: &str, windows: &str) -> Option<PathBuf> {
    let given = |name: &str| {
        fs::env_var(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    if cfg!(windows) {
        return given("LOCALAPPDATA").map(|folder| folder.join("ctxc").join(windows));
    }
    let home = || {
        given("HOME").map(|home| {
            home.join(if cfg!(target_os = "macos") {
                mac
            } else {
                linux
            })
        })
    };
    given(variable)
        .or_else(home)
        .map(|folder| folder.join("ctxc"))
}

/// Creates a folder that only the user can read, with a `.gitignore` that keeps its contents out of
/// any surrounding repository.
///
/// # Errors
/// The folder is a link or cannot be created.
pub fn create_private(folder: &Path) -> io::Result<()> {
    if fs::is_link(folder) {
        return Err(io::Error::other(format!("{} is a link", folder.display())));
    }
    fs::create_private_dir(folder)?;
    let ignored = folder.join(".gitignore");
    if fs::exists(&ignored) {
        return Ok(());
    }
    fs::write_cache(
        &ignored,
        b"# made by ctxc: nothing in here belongs into a repository\n*\n",
    )
}

#[cfg(test)]
#[path = "../../tests/unit/base/folders.rs"]
mod tests;
