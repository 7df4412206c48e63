//! Checks that each file that tasks show to agents (`file_paths`) can be read, before any call.
//! Retains nothing of their contents.

use super::sources::{self, FileAccess, TextReadError};
use crate::base::contained_path::{self, PathRefusal, normalize_path};
use crate::base::suggest;
use crate::rules::rule::UnreadableFile;
use crate::template::names::{FileFacts, LinkedFileKind};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The maximum number of paths of one template for which a suggestion is searched, since each
/// search lists folders.
const MAX_SUGGESTIONS: usize = 16;

/// The unreadable files, by the path as written. Allocates nothing for a template without such
/// paths.
pub(super) fn find_unreadable(
    door: FileAccess<'_>,
    template: &str,
    facts: &FileFacts,
) -> BTreeMap<Box<str>, UnreadableFile> {
    let door = FileAccess {
        limit: sources::MAX_CONTEXT_FILE_BYTES,
        ..door
    };
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut unread = BTreeMap::new();
    for source in facts
        .sources
        .iter()
        .filter(|source| source.kind == LinkedFileKind::File)
    {
        if !seen.insert(&source.path) {
            continue;
        }
        let Err(refused) = sources::read_text(door, Path::new(&*source.path)) else {
            continue;
        };
        let is_missing = matches!(&refused, TextReadError::Refused(PathRefusal::Io(error)) if error.kind() == io::ErrorKind::NotFound);
        if is_missing && !door.files.is_complete() {
            continue;
        }
        let near = (unread.len() < MAX_SUGGESTIONS)
            .then(|| suggest_path(door, template, &source.path, &refused))
            .flatten();
        unread.insert(
            source.path.clone(),
            UnreadableFile {
                why: refused.to_string(),
                near,
            },
        );
    }
    unread
}

/// The path that was probably meant: relative to the template's folder, relative to the project
/// without its leading `..`, or a similar one.
fn suggest_path(
    door: FileAccess<'_>,
    template: &str,
    written: &str,
    refused: &TextReadError,
) -> Option<String> {
    let is_there = |path: &Path| sources::read_text(door, path).is_ok();
    let folder = Path::new(template).parent().unwrap_or(Path::new(""));
    let written = Path::new(written);
    let from_root = || {
        Some(
            written
                .components()
                .filter(|part| matches!(part, Component::Normal(_)))
                .collect::<PathBuf>(),
        )
    };
    let mut candidates = [normalize_path(&folder.join(written)), from_root()]
        .into_iter()
        .flatten();
    if let Some(found) = candidates.find(|path| is_there(path)) {
        return Some(contained_path::slash_path(&found));
    }
    if !matches!(refused, TextReadError::Refused(PathRefusal::Io(_))) {
        return None;
    }
    let mut found = PathBuf::new();
    for part in &normalize_path(written)? {
        let next = found.join(part);
        if door.files.canonicalize(&door.root.join(&next)).is_ok() {
            found = next;
            continue;
        }
        let names = door.files.entry_names(&door.root.join(&found));
        found.push(suggest::nearest_candidate(
            &part.to_string_lossy(),
            names.iter().map(String::as_str),
        )?);
    }
    is_there(&found).then(|| contained_path::slash_path(&found))
}
