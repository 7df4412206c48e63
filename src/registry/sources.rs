//! The texts that a file pulls in by `src`: read once, inside the project, before entries are written.
//!
//! A path that leaves the project's folder, by `..` or through a link, is refused without being read.

use super::texts::Sources;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::ReadFs;
use crate::rules::input::read_fault::reason;
use crate::rules::links::missing_source;
use crate::syntax::decode;
use crate::template::names::FileFacts;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where texts are read from.
#[derive(Clone, Copy)]
pub(super) struct Door<'a> {
    pub(super) root: &'a Path,
    pub(super) files: &'a dyn ReadFs,
    pub(super) limit: u64,
}

/// Texts by the path that is written in the template.
#[derive(Debug, Default)]
pub(super) struct Texts(BTreeMap<Box<str>, Arc<str>>);

impl Texts {
    /// The text of a file, shared; `None` where it could not be read.
    pub(super) fn shared(&self, written: &str) -> Option<Arc<str>> {
        self.0.get(written).map(Arc::clone)
    }
}

impl Sources for Texts {
    fn text(&self, written: &str) -> Option<&str> {
        self.0.get(written).map(|text| &**text)
    }
}

/// Reads every text that the facts of a file name; each one that cannot be had is a finding.
pub(super) fn read(door: Door<'_>, path: &Arc<str>, facts: &FileFacts, found: &mut Vec<Diagnostic>) -> Texts {
    let mut texts = Texts::default();
    for source in &facts.sources {
        if texts.0.contains_key(&source.path) {
            continue;
        }
        match text(door, path, &source.path) {
            Ok(text) => {
                texts.0.insert(source.path.clone(), text.into());
            }
            Err(why) => found.push(missing_source::word(path, source, &why)),
        }
    }
    texts
}

fn text(door: Door<'_>, template: &str, written: &str) -> Result<String, String> {
    let folder = Path::new(template).parent().unwrap_or(Path::new(""));
    let outside = || "it lies outside the project's folder".to_owned();
    let inside = plain(&folder.join(written)).ok_or_else(outside)?;
    let file = door.root.join(inside);
    let said = |err: io::Error| reason(&err);
    let (root, real) = (door.files.canonical(door.root).map_err(said)?, door.files.canonical(&file).map_err(said)?);
    if !real.starts_with(&root) {
        return Err(outside());
    }
    let bytes = door.files.read(&real, door.limit).map_err(said)?;
    decode::decode(&bytes).map(std::borrow::Cow::into_owned).map_err(|fault| fault.to_string())
}

/// The name of a file that a template pulls in, as findings give it; `None` when it lies outside the project.
#[cfg(feature = "lsp")]
pub(crate) fn name_of(template: &str, written: &str) -> Option<String> {
    let folder = Path::new(template).parent().unwrap_or(Path::new(""));
    let parts: Vec<String> = plain(&folder.join(written))?.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    Some(parts.join("/"))
}

/// The path without `.` and `..`; `None` when it leaves the folder it is relative to.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}
