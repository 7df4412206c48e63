//! Files as the server reads them: open documents replace files on disk.

use super::buffer::DocumentBuffer;
use crate::base::fs::{ReadFs, RealFs, Stamp};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
}
