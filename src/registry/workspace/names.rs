//! The names of files in a project, independent of the current directory.

use crate::base::fs::{self, ReadFs};
use std::path::{Component, Path, PathBuf};

/// The name of a path: joined to the project's root it denotes the same file, from any current
/// directory. The name of a file outside begins with `..`; it is absolute if the path was given so
/// or if links make `..` lead elsewhere.
pub(super) fn name_in(root: &Path, path: &Path) -> String {
    let here = fs::current_dir().unwrap_or_default();
    let base = normalize_path(&here.join(root));
    let there = normalize_path(&here.join(path));
    let goes_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let name = match there.strip_prefix(&base) {
        Ok(inside) if !goes_up(path) && !goes_up(root) => return with_slashes(inside),
        Ok(inside) => inside.to_path_buf(),
        Err(_) if path.is_absolute() => return with_slashes(path),
        Err(_) => relative_path(&base, &there),
    };
    let real = |path: &Path| fs::RealFs.canonicalize(path).ok();
    if real(&here.join(root).join(&name)) == real(path) {
        with_slashes(&name)
    } else {
        with_slashes(&here.join(path))
    }
}

/// The relative path from a folder to a path outside of it. Both are absolute and without `.` and
/// `..`.
fn relative_path(base: &Path, there: &Path) -> PathBuf {
    let shared = base
        .components()
        .zip(there.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = base.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(there.components().skip(shared)).collect()
}

/// A path without `.` and `..`, without looking at the file system.
fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => out.push(part),
        }
    }
    out
}

/// A path with `/` between its components.
pub(super) fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}
