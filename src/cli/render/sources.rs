//! The texts behind findings, read again when a report shows lines of them. One file is kept at a time: findings
//! come sorted by path.
//!
//! Lines of a file outside the project are shown only where the user named that file: what `extends` names, or a
//! link leads to, has places and no lines.

use crate::base::contained_path;
use crate::base::fs::{self, RealFs};
use crate::base::source::LineIndex;
use crate::syntax::decode;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text with its lines indexed once.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) index: LineIndex,
    /// Whether its lines may be shown; else only places in it are named.
    pub(crate) is_shown: bool,
}

/// The project's folder.
#[derive(Debug)]
struct Folder {
    root: PathBuf,
    limit: u64,
    /// The file that `extends` names, as it is written there.
    shared: Option<Arc<str>>,
}

/// Where texts come from: the project's folder, and standard input under the name it was given.
#[derive(Debug)]
pub(crate) struct Sources {
    folder: Folder,
    held: BTreeMap<String, Source>,
    cached: Option<(String, Option<Source>)>,
    other: Option<(String, Option<Source>)>,
}

impl Sources {
    /// Texts under a folder. Files above `limit` bytes are not read.
    pub(crate) fn new(root: PathBuf, limit: u64) -> Self {
        Self { folder: Folder { root, limit, shared: None }, held: BTreeMap::new(), cached: None, other: None }
    }

    /// The same for a project that extends a shared file.
    #[must_use]
    pub(crate) fn sharing(mut self, shared: Option<Arc<str>>) -> Self {
        self.folder.shared = shared;
        self
    }

    /// Keeps a text that has no file: standard input.
    #[must_use]
    pub(crate) fn with_stdin(mut self, path: &str, bytes: &[u8]) -> Self {
        let held = decode(bytes).map(|(text, index)| (path.to_owned(), Source { text, index, is_shown: true }));
        self.held = held.into_iter().collect();
        self
    }

    /// The same for texts that are in no file by themselves, by their names: requests of a recording.
    #[must_use]
    pub(crate) fn with_texts(mut self, texts: &BTreeMap<String, String>) -> Self {
        let source = |text: &String| Source { index: LineIndex::new(text), text: text.clone(), is_shown: true };
        self.held = texts.iter().map(|(name, text)| (name.clone(), source(text))).collect();
        self
    }

    /// The text of the file a report is about.
    pub(crate) fn main(&mut self, path: &str) -> Option<&Source> {
        match self.held.get(path) {
            Some(held) => Some(held),
            None => self.folder.load(&mut self.cached, path),
        }
    }

    /// The text of another file that a report points to, without forgetting the first.
    pub(crate) fn aside(&mut self, path: &str) -> Option<&Source> {
        self.folder.load(&mut self.other, path)
    }
}

impl Folder {
    fn load<'c>(&self, cache: &'c mut Option<(String, Option<Source>)>, path: &str) -> Option<&'c Source> {
        if cache.as_ref().is_none_or(|(known, _)| known != path) {
            let mut bytes = Vec::new();
            let full = self.root.join(path);
            // A pipe would be waited for without end.
            let read = fs::is_file(&full) && fs::read_into(&full, self.limit, &mut bytes).is_ok();
            let decoded = if read { decode(&bytes) } else { None };
            let source = decoded.map(|(text, index)| Source { text, index, is_shown: self.shows(path, &full) });
            *cache = Some((path.to_string(), source));
        }
        cache.as_ref().and_then(|(_, source)| source.as_ref())
    }

    /// Whether the lines of a file may be shown. The paths that a project's own files give stay below its folder but for `extends`, so
    /// any other that leaves it was named by the user.
    fn shows(&self, path: &str, full: &Path) -> bool {
        let was_named = contained_path::plain(Path::new(path)).is_none() && self.shared.as_deref() != Some(path);
        was_named || contained_path::leads_out(&RealFs, &self.root, full).is_none()
    }
}

/// Bytes that are no text show no lines; their finding says where it is.
fn decode(bytes: &[u8]) -> Option<(String, LineIndex)> {
    let text = decode::decode(bytes).ok()?.into_owned();
    let index = LineIndex::new(&text);
    Some((text, index))
}
