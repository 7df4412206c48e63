//! The environment files of a project and of its repository, hidden folders included. Masks and the
//! secret scan share this reader.

use super::secret_scan::{EnvironmentFile, environment_secrets};
use crate::base::fs::{self, FolderEntry, ReadFs, RealFs};
use crate::base::patterns::PACKAGE_FOLDERS;
use crate::base::secrets::environment::decode_text;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// The maximum size in bytes of an environment file; larger files are skipped.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// The maximum number of entries that are visited, nearest to the project and to the repository's
/// root first.
const MAX_ENTRIES: usize = 20_000;

/// Returns the secret values in the environment files of a project.
pub fn secret_values(root: &Path) -> impl Iterator<Item = String> {
    environment_files(root).into_iter().flat_map(|file| {
        environment_secrets(&file.text)
            .map(|(_, value)| value)
            .collect::<Vec<_>>()
    })
}

/// Returns the environment files of a project: in its folder, below it, and in the rest of its
/// repository. Their paths are relative to the project.
pub fn environment_files(root: &Path) -> Vec<EnvironmentFile> {
    let real = RealFs
        .canonicalize(root)
        .unwrap_or_else(|_| root.to_path_buf());
    let depth = real
        .ancestors()
        .position(|folder| fs::exists(&folder.join(".git")))
        .unwrap_or(0);
    let mut folders: VecDeque<(PathBuf, String)> = VecDeque::new();
    folders.extend(
        real.ancestors()
            .take(depth + 1)
            .enumerate()
            .map(|(above, folder)| (folder.to_path_buf(), "../".repeat(above))),
    );
    let mut known: BTreeSet<PathBuf> = folders.iter().map(|(folder, _)| folder.clone()).collect();
    let mut files = Vec::new();
    let mut left = MAX_ENTRIES;
    while let Some((folder, inside)) = folders.pop_front().filter(|_| left > 0) {
        for FolderEntry {
            name,
            path,
            is_folder,
        } in fs::list_folder(&folder).into_iter().take(left)
        {
            left -= 1;
            if is_environment_file(&name) && fs::is_file(&path) {
                // An unreadable file has no known values.
                let text = RealFs
                    .read(&path, MAX_FILE_BYTES)
                    .ok()
                    .map(|bytes| decode_text(&bytes));
                files.extend(text.map(|text| EnvironmentFile {
                    path: format!("{inside}{name}"),
                    text,
                }));
            } else if !PACKAGE_FOLDERS.contains(&&*name) && is_folder && known.insert(path.clone())
            {
                folders.push_back((path, format!("{inside}{name}/")));
            }
        }
    }
    files
}

/// Returns true if a name is that of an environment file with values, not of a sample.
fn is_environment_file(name: &str) -> bool {
    const NAMES: [&str; 3] = [".envrc", ".flaskenv", ".dev.vars"];
    const SAMPLES: [&str; 4] = ["dist", "example", "sample", "template"];
    let name = name.to_ascii_lowercase();
    let is_named = NAMES.iter().any(|one| name.starts_with(one))
        || name
            .strip_prefix(".env")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_', '~']))
        || name
            .trim_end_matches('~')
            .rsplit_once('.')
            .is_some_and(|(_, ending)| ending == "env");
    is_named
        && !name
            .split(['.', '-', '_', '~'])
            .any(|part| SAMPLES.contains(&part))
}
