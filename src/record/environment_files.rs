//! The environment files of a project, hidden folders included: one reader of them for masks and for the check of what is written.

use super::secret_scan::{EnvironmentFile, secrets};
use crate::base::fs::{self, ReadFs, RealFs};
use std::path::Path;

/// Bytes of an environment file: a larger one is none.
const LIMIT: u64 = 1 << 20;
/// Levels of folders below the project's own that are looked through for environment files.
const DEPTH: usize = 2;
/// Folders of other people's code, and of caches.
const FOREIGN: [&str; 11] =
    [".cache", ".git", ".next", ".nox", ".tox", ".venv", "node_modules", "site-packages", "target", "vendor", "venv"];

/// The values of the secrets in the environment files of a project.
pub fn secret_values(root: &Path) -> impl Iterator<Item = String> {
    environment_files(root).into_iter().flat_map(|file| secrets(&file.text).map(|(_, value)| value).collect::<Vec<_>>())
}

/// The environment files of a project: in its folder and in those below it, and above it up to the root of its repository.
pub fn environment_files(root: &Path) -> Vec<EnvironmentFile> {
    let mut files = Vec::new();
    let real = RealFs.canonical(root).unwrap_or_else(|_| root.to_path_buf());
    let is_repository = |folder: &&Path| fs::exists(&folder.join(".git"));
    let depth = real.ancestors().position(|folder| is_repository(&folder)).unwrap_or(0);
    for above in real.ancestors().skip(1).take(depth) {
        read_folder(above, "", 0, &mut files);
    }
    read_folder(&real, "", DEPTH, &mut files);
    files
}

/// Reads the environment files of a folder, and of those below it as deep as `depth` says.
fn read_folder(folder: &Path, inside: &str, depth: usize, files: &mut Vec<EnvironmentFile>) {
    for (name, path) in fs::entries_in(folder) {
        if is_environment(&name) && fs::is_file(&path) {
            let text = RealFs.read(&path, LIMIT).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            // What cannot be read has no value that could be known.
            files.extend(text.ok().map(|text| EnvironmentFile { path: format!("{inside}{name}"), text }));
        } else if depth > 0 && !FOREIGN.contains(&&*name) && fs::is_dir(&path) && !fs::is_link(&path) {
            read_folder(&path, &format!("{inside}{name}/"), depth - 1, files);
        }
    }
}

/// Returns whether a name is that of an environment file with values, and not of its sample.
fn is_environment(name: &str) -> bool {
    const SAMPLES: [&str; 5] = ["defaults", "dist", "example", "sample", "template"];
    let is_named = [".env", ".envrc"].contains(&name)
        || name.starts_with(".env.")
        || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "env");
    is_named && !name.split('.').any(|part| SAMPLES.contains(&part))
}
