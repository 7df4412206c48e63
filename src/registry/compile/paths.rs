//! Checks that each file that tasks show to agents (`file_paths`) can be read, before any call.
//! Retains nothing of their contents.

use super::sources::{self, FileAccess, NoText};
use crate::base::contained_path::{self, Refused, plain};
use crate::base::suggest;
use crate::rules::rule::Unread;
use crate::template::names::{FileFacts, SourceKind};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The maximum number of paths of one template for which a suggestion is searched, since each
/// search lists folders.
const MOST: usize = 16;

/// The unreadable files, by the path as written. Allocates nothing for a template without such
/// paths.
pub(super) fn judge(
    door: FileAccess<'_>,
    template: &str,
    facts: &FileFacts,
) -> BTreeMap<Box<str>, Unread> {
    let door = FileAccess {
        limit: sources::CONTEXT_FILE,
        ..door
    };
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut unread = BTreeMap::new();
    for source in facts
        .sources
        .iter()
        .filter(|source| source.kind == SourceKind::File)
    {
        if !seen.insert(&source.path) {
            continue;
        }
        let Err(refused) = sources::read_text(door, Path::new(&*source.path)) else {
            continue;
        };
        let is_missing = matches!(&refused, NoText::Refused(Refused::Io(error)) if error.kind() == io::ErrorKind::NotFound);
        if is_missing && !door.files.is_whole() {
            continue;
        }
        let near = (unread.len() < MOST)
            .then(|| near(door, template, &source.path, &refused))
            .flatten();
        unread.insert(
            source.path.clone(),
            Unread {
                why: refused.to_string(),
                near,
            },
        );
    }
    unread
}

/// The path that was probably meant: relative to the template's folder, relative to the project
/// without its leading `..`, or a similar one.
fn near(door: FileAccess<'_>, template: &str, written: &str, refused: &NoText) -> Option<String> {
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
    let mut told = [plain(&folder.join(written)), from_root()]
        .into_iter()
        .flatten();
    if let Some(found) = told.find(|path| is_there(path)) {
        return Some(contained_path::name(&found));
    }
    if !matches!(refused, NoText::Refused(Refused::Io(_))) {
        return None;
    }
    let mut found = PathBuf::new();
    for part in &plain(written)? {
        let next = found.join(part);
        if door.files.canonical(&door.root.join(&next)).is_ok() {
            found = next;
            continue;
        }
        let names = door.files.names(&door.root.join(&found));
        found.push(suggest::nearest(
            &part.to_string_lossy(),
            names.iter().map(String::as_str),
        )?);
    }
    is_there(&found).then(|| contained_path::name(&found))
}
