//! Where the build cache lies: `.ctxc/cache/<output>/`, an index and the facts beside it.
//!
//! Nothing here can fail a build: what cannot be read is no cache, what cannot be written is left out.

use super::cache::{self, Head, Index, Seen};
use super::facts::{self, StoredFile};
use crate::base::fs;
use crate::base::hash::Hash;
use std::path::{Path, PathBuf};

/// More than any cache: beyond this nothing is read.
const LIMIT: u64 = 1 << 32;

/// The cache of one output.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// `.ctxc`.
    base: PathBuf,
    folder: PathBuf,
}

impl Store {
    /// The cache for a registry, by its name relative to the project root.
    pub(super) fn new(root: &Path, output: &str) -> Self {
        let base = root.join(".ctxc");
        let key = Hash::of(output.as_bytes()).to_string();
        let folder = base.join("cache").join(key.get(3..19).unwrap_or("registry"));
        Self { base, folder }
    }

    /// What the last build left.
    pub(super) fn index(&self) -> Option<Index> {
        cache::decode(self.read("index")?)
    }

    /// The facts that belong to an index, by ordinal.
    pub(super) fn facts(&self, index: &Index) -> Option<Vec<Option<StoredFile>>> {
        let bytes = self.read("facts")?;
        if index.head.facts != Some(Hash::of(&bytes)) {
            return None;
        }
        facts::decode(&bytes).filter(|files| files.len() == index.len())
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        fs::read_own(&self.folder.join(name), LIMIT, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Replaces the cache. The index is last: until it is there, the old one finds facts that are not its own.
    pub(super) fn save(&self, mut head: Head, seen: &[Seen<'_>], files: &[Option<&StoredFile>]) {
        let facts = facts::encode(files.iter().copied());
        head.facts = Some(Hash::of(&facts));
        let index = cache::encode(&head, seen);
        let write = || {
            fs::create_dir_all(&self.folder)?;
            fs::clear_leftovers(&self.folder);
            keep_out(&self.base)?;
            fs::write_cache(&self.folder.join("facts"), &facts)?;
            fs::write_cache(&self.folder.join("index"), &index)
        };
        // A folder that takes no files costs the next build its head start, not this one its result.
        let _: std::io::Result<()> = write();
    }
}

/// Keeps `.ctxc` out of repositories.
fn keep_out(base: &Path) -> std::io::Result<()> {
    let ignored = base.join(IGNORED);
    if fs::exists(&ignored) {
        return Ok(());
    }
    fs::write_cache(&ignored, b"# made by ctxc; nothing in here is worth keeping\n*\n")
}

/// What `.ctxc` holds before anything was built.
const IGNORED: &str = ".gitignore";
const LOCK: &str = "build.lock";

/// The lock of a build on its project, which stands in `.ctxc`.
#[derive(Debug)]
pub struct BuildLock {
    base: PathBuf,
    was_there: bool,
    _lock: fs::Lock,
}

impl BuildLock {
    /// Takes it. `None` when another build holds it.
    ///
    /// # Errors
    /// The project's folder takes no files.
    pub fn take(root: &Path) -> std::io::Result<Option<Self>> {
        let base = root.join(".ctxc");
        let was_there = fs::exists(&base);
        let Some(lock) = fs::try_lock(&base.join(LOCK))? else { return Ok(None) };
        keep_out(&base)?;
        Ok(Some(Self { base, was_there, _lock: lock }))
    }

    /// Gives it back after a build of nothing at all, of which nothing is to be seen afterwards.
    pub fn undo(self) {
        let has_more = fs::names_in(&self.base).iter().any(|name| name != IGNORED && name != LOCK);
        if !self.was_there && !has_more {
            fs::take_back(&self.base, &[IGNORED, LOCK]);
        }
    }
}
