//! Files in memory, which replace the real file system in tests, editors and build steps.

use super::fs::{ReadFs, Stamp};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Files in memory, for tests, editors and build steps that hold their own text.
#[derive(Clone, Debug, Default)]
pub struct MemoryFs {
    files: std::collections::BTreeMap<PathBuf, Vec<u8>>,
}

impl MemoryFs {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), bytes.into());
    }
}

impl ReadFs for MemoryFs {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        if bytes.len() as u64 > limit {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(bytes.clone())
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Stamp {
            len: bytes.len() as u64,
            ..Stamp::default()
        })
    }

    // Reads from memory never block; a missing file is detected by the read.
    fn is_regular(&self, _: &Path) -> bool {
        true
    }

    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
        let mut out = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => {
                    out.pop();
                }
                std::path::Component::CurDir => {}
                std::path::Component::Prefix(_)
                | std::path::Component::RootDir
                | std::path::Component::Normal(_) => {
                    out.push(part);
                }
            }
        }
        Ok(out)
    }

    fn entry_names(&self, folder: &Path) -> Vec<String> {
        let below = self.files.keys().filter_map(|path| {
            let first = path.strip_prefix(folder).ok()?.components().next()?;
            Some(first.as_os_str().to_str()?.to_owned())
        });
        below.collect::<BTreeSet<_>>().into_iter().collect()
    }

    fn is_complete(&self) -> bool {
        false
    }
}
