//! The documents that are open in the editor: their texts and edits. The server reads them in place
//! of the files on disk.

use crate::base::fs::{ReadFs, RealFs, Stamp};
use crate::base::source::LineIndex;
use crate::lsp::encoding::PositionEncoding;
use gen_lsp_types::{TextDocumentContentChangeEvent as Change, Uri};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The length above which only the structure of a text is checked: 5 MB.
const MAX_CHECKED_BYTES: usize = 5_000_000;

/// An open document.
#[derive(Clone, Debug)]
pub(in crate::lsp) struct DocumentBuffer {
    /// The URI as the client writes it.
    pub(in crate::lsp) uri: Uri,
    /// The client's version number.
    pub(in crate::lsp) version: i32,
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) index: LineIndex,
    /// True if the client declares it as XML, regardless of its name.
    pub(in crate::lsp) is_xml: bool,
}

impl DocumentBuffer {
    /// Creates the buffer of an opened document.
    pub(in crate::lsp) fn new(uri: Uri, version: i32, text: String) -> Self {
        let index = LineIndex::new(&text);
        Self {
            uri,
            version,
            text,
            index,
            is_xml: false,
        }
    }

    /// Returns true if only its structure is checked.
    pub(in crate::lsp) const fn is_large(&self) -> bool {
        self.text.len() > MAX_CHECKED_BYTES
    }

    /// Returns true if only the structure of a text is checked.
    pub(in crate::lsp) const fn is_large_text(text: &str) -> bool {
        text.len() > MAX_CHECKED_BYTES
    }

    /// Applies edits in order, each to the result of the previous one.
    pub(in crate::lsp) fn apply_changes(
        &mut self,
        changes: Vec<Change>,
        version: i32,
        encoding: PositionEncoding,
    ) {
        for change in changes {
            match change {
                Change::TextDocumentContentChangePartial(part) => {
                    let span = encoding.span(&self.text, &self.index, part.range);
                    self.text
                        .replace_range(span.start as usize..span.end as usize, &part.text);
                }
                Change::TextDocumentContentChangeWholeDocument(whole) => self.text = whole.text,
            }
            self.index = LineIndex::new(&self.text);
        }
        self.version = version;
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/lsp/state/open_documents.rs"]
mod tests;

/// Open documents by their names in findings. Each is shared with threads that read it.
pub(in crate::lsp) type OpenBuffers = BTreeMap<Arc<str>, Arc<DocumentBuffer>>;

/// A file system in which open documents replace files on disk.
#[derive(Debug)]
pub(in crate::lsp) struct EditorOverlay<'o> {
    pub(in crate::lsp) root: &'o Path,
    pub(in crate::lsp) open: &'o OpenBuffers,
}

impl EditorOverlay<'_> {
    fn buffer(&self, path: &Path) -> Option<&DocumentBuffer> {
        let name = crate::registry::workspace::request::name_in(self.root, path);
        self.open.get(name.as_str()).map(Arc::as_ref)
    }
}

impl ReadFs for EditorOverlay<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.buffer(path) {
            Some(buffer) if buffer.text.len() as u64 > limit => {
                Err(io::ErrorKind::FileTooLarge.into())
            }
            Some(buffer) => Ok(buffer.text.clone().into_bytes()),
            None => RealFs.read(path, limit),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        RealFs.stamp(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        self.buffer(path).is_some() || RealFs.is_regular(path)
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        match (
            RealFs.canonicalize(path),
            path.parent().zip(path.file_name()),
        ) {
            // An unsaved new document counts as saved in its folder.
            (Err(_), Some((folder, name))) if self.buffer(path).is_some() => {
                Ok(RealFs.canonicalize(folder)?.join(name))
            }
            (found, _) => found,
        }
    }

    fn entry_names(&self, folder: &Path) -> Vec<String> {
        RealFs.entry_names(folder)
    }

    fn plain_file_names(&self, folder: &Path) -> Vec<String> {
        RealFs.plain_file_names(folder)
    }
}
