//! Selects the templates among a list of names if there is no folder to walk, as in a revision of a
//! repository.
//!
//! Decides as [`super::walk`] does, by name alone; tests compare the two.

use super::walk;
use crate::base::fs::ReadFs;
use crate::base::patterns::IGNORE_FILE_NAMES;
use crate::project::config::Templates;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size limit of a file of ignore patterns, in bytes.
const MAX_IGNORE_FILE_BYTES: u64 = 4 << 20;
/// The folder that is searched if a project names none.
const DEFAULT_FOLDER: &str = "templates";

/// The templates among names relative to the project's folder; `files` has the ignore files.
pub(crate) fn filter_templates<'n>(
    rules: &Templates,
    root: &Path,
    files: &dyn ReadFs,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Vec<&'n str> {
    let bases = match &rules.include {
        Some(globs) => walk::base_names(globs),
        None if names
            .clone()
            .any(|name| path_below(name, DEFAULT_FOLDER).is_some_and(|rest| !rest.is_empty())) =>
        {
            vec![DEFAULT_FOLDER.to_owned()]
        }
        None => vec![String::new()],
    };
    let mut ignored = IgnorePatterns {
        files,
        known: HashMap::new(),
    };
    let is_template = |name: &&str| {
        let rest = bases.iter().find_map(|base| path_below(name, base));
        let is_hidden = |rest: &str| rest.split('/').any(|part| part.starts_with('.'));
        name.as_bytes().ends_with(b".xml")
            && rest.is_some_and(|rest| !is_hidden(rest) && !ignored.is_ignored(root, name, rest))
            && !rules.exclude.matches(name)
            && rules
                .include
                .as_ref()
                .is_none_or(|globs| globs.matches(name))
    };
    names.filter(is_template).collect()
}

/// The part of a name below a folder; empty if the name is the folder itself.
fn path_below<'n>(name: &'n str, base: &str) -> Option<&'n str> {
    if base.is_empty() {
        return Some(name);
    }
    let rest = name.strip_prefix(base)?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

/// Ignore patterns by folder, read when a name below it is tested.
struct IgnorePatterns<'f> {
    files: &'f dyn ReadFs,
    /// The patterns that apply in a folder, those of the nearest folder first.
    known: HashMap<PathBuf, Vec<FolderPatterns>>,
}

/// The patterns of a file in one folder.
#[derive(Clone)]
struct FolderPatterns {
    /// The index of its name among [`IGNORE_FILE_NAMES`].
    name: usize,
    patterns: Arc<Gitignore>,
}

impl IgnorePatterns<'_> {
    /// Returns true if the file, or a folder between the start of the walk and the file, is
    /// ignored.
    fn is_ignored(&mut self, root: &Path, name: &str, rest: &str) -> bool {
        let begin = name.len() - rest.len();
        let ends = rest
            .match_indices('/')
            .map(|(at, _)| begin + at)
            .chain((!rest.is_empty()).then_some(name.len()));
        let mut places =
            ends.filter_map(|end| Some((root.join(name.get(..end)?), end < name.len())));
        places.any(|(path, is_folder)| self.is_path_ignored(&path, is_folder))
    }

    /// Returns true if the path is ignored; the pattern in the nearest folder decides.
    fn is_path_ignored(&mut self, path: &Path, is_folder: bool) -> bool {
        let mut matches = [Match::None, Match::None];
        let Some(folder) = path.parent() else {
            return false;
        };
        for FolderPatterns { name, patterns } in self.patterns_in(folder) {
            if let Some(found) = matches.get_mut(*name).filter(|found| found.is_none()) {
                *found = patterns.matched(path, is_folder).map(|_| ());
            }
        }
        let [own, git] = matches;
        own.or(git).is_ignore()
    }

    /// Returns the patterns of a folder and of those above it. Most folders have none.
    fn patterns_in(&mut self, folder: &Path) -> &[FolderPatterns] {
        if !self.known.contains_key(folder) {
            let names = IGNORE_FILE_NAMES.iter().enumerate();
            let own = names.map(|(name, file)| FolderPatterns {
                name,
                patterns: Arc::new(read_patterns(self.files, folder, file)),
            });
            let mut all: Vec<FolderPatterns> = own.filter(|own| !own.patterns.is_empty()).collect();
            if let Some(above) = folder.parent() {
                all.extend_from_slice(self.patterns_in(above));
            }
            self.known.insert(folder.to_owned(), all);
        }
        self.known.get(folder).map_or(&[], Vec::as_slice)
    }
}

/// Reads a file of patterns. An invalid line is skipped.
fn read_patterns(files: &dyn ReadFs, folder: &Path, name: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let bytes = files
        .read(&folder.join(name), MAX_IGNORE_FILE_BYTES)
        .unwrap_or_default();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
