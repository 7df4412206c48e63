//! The texts behind findings, read again when a report shows lines of them. One file is kept at a time: findings
//! come sorted by path.

use crate::base::fs;
use crate::base::source::LineIndex;
use crate::syntax::decode;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text with its lines indexed once.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) index: LineIndex,
}

/// Where texts come from: the project's folder, and standard input under the name it was given.
#[derive(Debug)]
pub(crate) struct Sources {
    root: PathBuf,
    limit: u64,
    held: Option<Arc<(String, Source)>>,
    cached: Option<(String, Option<Source>)>,
    other: Option<(String, Option<Source>)>,
}

impl Sources {
    /// Texts under a folder. Files above `limit` bytes are not read.
    pub(crate) fn new(root: PathBuf, limit: u64) -> Self {
        Self { root, limit, held: None, cached: None, other: None }
    }

    /// Keeps a text that has no file: standard input.
    #[must_use]
    pub(crate) fn holding(mut self, path: &str, bytes: &[u8]) -> Self {
        self.held = decode(bytes).map(|source| Arc::new((path.to_string(), source)));
        self
    }

    /// The same for another thread.
    pub(crate) fn fork(&self) -> Self {
        Self { root: self.root.clone(), limit: self.limit, held: self.held.clone(), cached: None, other: None }
    }

    /// The text of the file a report is about.
    pub(crate) fn main(&mut self, path: &str) -> Option<&Source> {
        if let Some(held) = &self.held
            && held.0 == path
        {
            return Some(&held.1);
        }
        load(&mut self.cached, &self.root, path, self.limit)
    }

    /// The text of another file that a report points to, without forgetting the first.
    pub(crate) fn aside(&mut self, path: &str) -> Option<&Source> {
        load(&mut self.other, &self.root, path, self.limit)
    }
}

fn load<'c>(cache: &'c mut Option<(String, Option<Source>)>, root: &Path, path: &str, limit: u64) -> Option<&'c Source> {
    if cache.as_ref().is_none_or(|(known, _)| known != path) {
        let mut bytes = Vec::new();
        let full = root.join(path);
        // A pipe would be waited for without end.
        let read = fs::is_file(&full) && fs::read_into(&full, limit, &mut bytes).is_ok();
        let source = if read { decode(&bytes) } else { None };
        *cache = Some((path.to_string(), source));
    }
    cache.as_ref().and_then(|(_, source)| source.as_ref())
}

/// Bytes that are no text show no lines; their finding says where it is.
fn decode(bytes: &[u8]) -> Option<Source> {
    let text = decode::decode(bytes).ok()?.into_owned();
    let index = LineIndex::new(&text);
    Some(Source { text, index })
}
