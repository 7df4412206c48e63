//! A door to files that remembers what was looked at, so that the next build can ask whether it is still so.

use crate::base::fs::{ReadFs, RealFs, Stamp};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Something outside the templates that a build looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dependency {
    /// The path that was asked for.
    pub(super) path: Box<str>,
    /// What was there.
    pub(super) seen: Sight,
}

/// What a build saw of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sight {
    /// Nothing that could be read.
    Nothing,
    /// The path without links.
    Real(Box<str>),
    /// A file.
    File(Stamp),
}

/// Whether a file may still change without its stamp changing: it was written so shortly before `now` (nanoseconds since
/// 1970, taken before the file was read) that another write could fall into the same tick of the file system's clock.
pub(super) fn is_racy(stamp: Stamp, now: i128) -> bool {
    let latest = stamp.modified.max(stamp.changed);
    // Whole seconds are the mark of a coarse clock: two seconds is the coarsest in use.
    let tick = if stamp.modified % 1_000_000_000 == 0 { 2_000_000_000 } else { 50_000_000 };
    latest + tick >= now
}

/// A stamp that no file has, for files that must be looked at again.
pub(super) const UNTRUSTED: Stamp = Stamp { len: u64::MAX, modified: 0, id: 0, changed: 0 };

/// The machine's files, with everything that was asked of them.
#[derive(Debug)]
pub(super) struct Watch {
    /// When the build began.
    now: i128,
    seen: Mutex<Vec<Dependency>>,
}

impl Watch {
    pub(super) fn new(now: i128) -> Self {
        Self { now, seen: Mutex::default() }
    }

    /// What was looked at since the last time, each once.
    pub(super) fn take(&self) -> Vec<Dependency> {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    fn note(&self, path: &Path, seen: Sight) {
        let path = path.to_string_lossy().into();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(Dependency { path, seen });
    }
}

impl ReadFs for Watch {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        // The stamp first: a change while reading must show.
        let stamp = RealFs.stamp(path);
        let read = RealFs.read(path, limit);
        let trusted = stamp.ok().map(|stamp| if is_racy(stamp, self.now) { UNTRUSTED } else { stamp });
        self.note(path, trusted.map_or(Sight::Nothing, Sight::File));
        read
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        RealFs.stamp(path)
    }

    fn is_regular(&self, path: &Path) -> bool {
        let is_regular = RealFs.is_regular(path);
        if !is_regular {
            // Nothing to compare with later: it is looked at again each time.
            self.note(path, Sight::Nothing);
        }
        is_regular
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let real = RealFs.canonical(path);
        let seen = real.as_ref().map_or(Sight::Nothing, |real| Sight::Real(real.to_string_lossy().into()));
        self.note(path, seen);
        real
    }

    fn names(&self, folder: &Path) -> Vec<String> {
        let stamp = RealFs.stamp(folder);
        let trusted = stamp.ok().map(|stamp| if is_racy(stamp, self.now) { UNTRUSTED } else { stamp });
        self.note(folder, trusted.map_or(Sight::Nothing, Sight::File));
        RealFs.names(folder)
    }
}

/// Whether a path still shows what it showed.
pub(super) fn holds(dependency: &Dependency) -> bool {
    let path = Path::new(&*dependency.path);
    match &dependency.seen {
        Sight::Nothing => RealFs.canonical(path).is_err(),
        Sight::Real(real) => RealFs.canonical(path).is_ok_and(|now| now.to_string_lossy() == **real),
        Sight::File(stamp) => RealFs.stamp(path).is_ok_and(|now| now == *stamp),
    }
}
