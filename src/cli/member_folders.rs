//! The folders of the members of a workspace.

use super::project::PROJECT_FILE;
use crate::base::contained_path::slash_path;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::patterns::{PACKAGE_FOLDERS, is_ignored};
use crate::cli::prelude::*;
use crate::project::glob::Globs;
use crate::rules::input::read_fault::describe_io_error;
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// The maximum number of entries that are searched for projects inside a project.
const MAX_ENTRIES: usize = 10_000;

/// Returns the folders that the patterns of members match and that have a project file, by their
/// paths below the root.
pub(super) fn list_members(
    root: &Path,
    patterns: Option<&Globs>,
) -> Result<BTreeMap<String, PathBuf>> {
    let mut members = BTreeMap::new();
    for pattern in patterns.map_or(&[][..], Globs::patterns) {
        let mut matched = 0;
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        let mut folders = vec![PathBuf::new()];
        for part in plain.split('/') {
            folders = folders
                .iter()
                .flat_map(|folder| matching_folders(root, folder, part))
                .collect();
        }
        for folder in folders {
            let whole = root.join(&folder);
            if !fs::exists(&whole.join(PROJECT_FILE)) {
                continue;
            }
            require_no_link(root, &folder)?;
            matched += 1;
            members.insert(slash_path(&folder), whole);
        }
        if matched == 0 {
            return Err(CliError::new(
                CliErrorKind::Project,
                format!(
                    "`[workspace] members`: `{pattern}` matches no folder with a {PROJECT_FILE}"
                ),
            )
            .with_hint(
                "`ctxc init` in such a folder writes one; `*` stands for the folders of one level",
            ));
        }
    }
    Ok(members)
}

/// Returns the folders below a project that have a project file of their own, the nearest to the
/// top first, without those inside `known` and below each other. Hidden folders, those of packages
/// and what git ignores are left out, and so is all behind the first 10,000 entries.
pub(super) fn nested_projects(root: &Path, known: &BTreeMap<String, PathBuf>) -> Vec<String> {
    let mut folders = VecDeque::from([String::new()]);
    let mut found = Vec::new();
    let mut left = MAX_ENTRIES;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::list_folder(&root.join(&folder)).into_iter().take(left) {
            left -= 1;
            let name = entry.name;
            if !entry.is_folder || name.starts_with('.') || PACKAGE_FOLDERS.contains(&&*name) {
                continue;
            }
            let inside = slash_path(&Path::new(&folder).join(name));
            if known.contains_key(&inside) {
                continue;
            }
            let path = root.join(&inside);
            if !fs::is_file(&path.join(PROJECT_FILE)) {
                folders.push_back(inside);
            } else if !is_ignored(root, &Path::new(&inside).join(PROJECT_FILE)) {
                found.push(inside);
            }
        }
    }
    found
}

/// Returns the project files of folders as a list for messages.
pub(super) fn list_project_files(folders: &[String]) -> String {
    let files: Vec<String> = folders
        .iter()
        .map(|folder| escape_line(&format!("{folder}/{PROJECT_FILE}")).into_owned())
        .collect();
    list_first(files.iter().map(String::as_str))
}

/// Returns the folders inside `folder` whose names match one part of a pattern.
fn matching_folders(root: &Path, folder: &Path, part: &str) -> Vec<PathBuf> {
    if !part.contains(['*', '?', '[', '{']) {
        return vec![folder.join(part)];
    }
    let mut names = Globs::default();
    if names.add_pattern(part).is_err() {
        return Vec::new();
    }
    let found = RealFs.entry_names(&root.join(folder)).into_iter();
    found
        .filter(|name| !name.starts_with('.') && names.matches_name(name))
        .map(|name| folder.join(name))
        .filter(|path| fs::is_dir(&root.join(path)))
        .collect()
}

/// Returns an error for a member that is a link, or below one: it has another path, too.
fn require_no_link(root: &Path, folder: &Path) -> Result<()> {
    let whole = |path: &Path| {
        RealFs
            .canonicalize(path)
            .map_err(|error| read_error(path, &error))
    };
    if whole(&root.join(folder))? == whole(root)?.join(folder) {
        return Ok(());
    }
    let message = format!(
        "`[workspace] members`: {} is behind a link",
        folder.display()
    );
    Err(CliError::new(CliErrorKind::Project, message)
        .with_hint("list the folder itself, inside the workspace"))
}

pub(super) fn read_error(path: &Path, error: &io::Error) -> CliError {
    let reason = describe_io_error(error);
    CliError::new(
        CliErrorKind::Infrastructure,
        format!("{} cannot be read: {reason}", path.display()),
    )
}
