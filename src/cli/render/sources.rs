//! The source texts of findings, read again for reports that show their lines. Caches one file at a
//! time, because findings are sorted by path.
//!
//! Lines of a file outside the project are shown only if the user named the file. For a file of
//! `extends` or behind a link, only places are shown.

use crate::base::contained_path;
use crate::base::fs::{self, RealFs};
use crate::base::source::LineIndex;
use crate::project::config::Packages;
use crate::syntax::decode;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text with its lines indexed once.
#[derive(Debug)]
pub(crate) struct FindingSource {
    pub(crate) text: String,
    pub(crate) index: LineIndex,
    /// True if lines of the text may be shown, otherwise only places in it.
    pub(crate) is_shown: bool,
}

/// The project's folder.
#[derive(Debug)]
struct ProjectFolder {
    root: PathBuf,
    limit: u64,
    /// The file that `extends` names, as written.
    shared: Option<Arc<str>>,
    /// The packages that the project uses.
    packages: Packages,
}

/// The source texts of a report: files of the project's folder, and standard input under its given
/// name.
#[derive(Debug)]
pub(crate) struct SourceTexts {
    folder: ProjectFolder,
    held: BTreeMap<String, FindingSource>,
    cached: Option<(String, Option<FindingSource>)>,
    other: Option<(String, Option<FindingSource>)>,
}

impl SourceTexts {
    /// Reads texts below a folder. Files larger than `limit` bytes are not read.
    pub(crate) fn new(root: PathBuf, limit: u64) -> Self {
        Self {
            folder: ProjectFolder {
                root,
                limit,
                shared: None,
                packages: Packages::default(),
            },
            held: BTreeMap::new(),
            cached: None,
            other: None,
        }
    }

    /// Sets the shared file that the project extends.
    #[must_use]
    pub(crate) fn with_shared_file(mut self, shared: Option<Arc<str>>) -> Self {
        self.folder.shared = shared;
        self
    }

    /// Sets the packages that the project uses.
    #[must_use]
    pub(crate) fn with_packages(mut self, packages: Packages) -> Self {
        self.folder.packages = packages;
        self
    }

    /// Adds the text of standard input.
    #[must_use]
    pub(crate) fn with_stdin(mut self, path: &str, bytes: &[u8]) -> Self {
        let held = decode_source(bytes).map(|(text, index)| {
            (
                path.to_owned(),
                FindingSource {
                    text,
                    index,
                    is_shown: true,
                },
            )
        });
        self.held = held.into_iter().collect();
        self
    }

    /// Sets named texts without a file: requests of a recording.
    #[must_use]
    pub(crate) fn with_texts(mut self, texts: &BTreeMap<String, String>) -> Self {
        let source = |text: &String| FindingSource {
            index: LineIndex::new(text),
            text: text.clone(),
            is_shown: true,
        };
        self.held = texts
            .iter()
            .map(|(name, text)| (name.clone(), source(text)))
            .collect();
        self
    }

    /// Returns the text of the file of a finding.
    pub(crate) fn finding_source(&mut self, path: &str) -> Option<&FindingSource> {
        match self.held.get(path) {
            Some(held) => Some(held),
            None => self.folder.load_source(&mut self.cached, path),
        }
    }

    /// Returns the text of another file to which a finding points. The first file stays cached.
    pub(crate) fn related_source(&mut self, path: &str) -> Option<&FindingSource> {
        self.folder.load_source(&mut self.other, path)
    }
}

impl ProjectFolder {
    fn load_source<'c>(
        &self,
        cache: &'c mut Option<(String, Option<FindingSource>)>,
        path: &str,
    ) -> Option<&'c FindingSource> {
        if cache.as_ref().is_none_or(|(known, _)| known != path) {
            let mut bytes = Vec::new();
            let full = self.packages.real_path(&self.root, path);
            // A read of a pipe may wait for ever.
            let read = fs::is_file(&full) && fs::read_into(&full, self.limit, &mut bytes).is_ok();
            let decoded = if read { decode_source(&bytes) } else { None };
            let source = decoded.map(|(text, index)| FindingSource {
                text,
                index,
                is_shown: self.may_show(path, &full),
            });
            *cache = Some((path.to_string(), source));
        }
        cache.as_ref().and_then(|(_, source)| source.as_ref())
    }

    /// Returns true if the lines of a file may be shown. Paths in the project's own files, except
    /// `extends`, stay inside its folder; every other path out of it was named by the user.
    fn may_show(&self, path: &str, full: &Path) -> bool {
        let was_named = contained_path::normalize_path(Path::new(path)).is_none()
            && self.shared.as_deref() != Some(path);
        was_named || contained_path::link_out_error(&RealFs, &self.root, full).is_none()
    }
}

/// Decodes bytes. Binary files show no lines; their finding reports the offset.
fn decode_source(bytes: &[u8]) -> Option<(String, LineIndex)> {
    let text = decode::decode(bytes).ok()?.into_owned();
    let index = LineIndex::new(&text);
    Some((text, index))
}
