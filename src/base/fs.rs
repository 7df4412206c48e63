//! The only door to files, clock and environment: traits, their real form, and one in memory for tests.
//!
//! Everything written goes through a temporary file in the same folder, `sync`, and a rename, so that a reader
//! sees the old bytes or the new ones, never a part.

use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with a pipe, a device or a socket in the place of a file.
pub(crate) const IRREGULAR: &str = "it is no regular file";

/// The same as an error of the system.
#[cfg(feature = "fs")]
pub(crate) fn irregular() -> io::Error {
    io::Error::other(IRREGULAR)
}

/// What an incremental build compares to know that a file did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Length in bytes.
    pub len: u64,
    /// Time of the last change in nanoseconds since 1970.
    pub modified: i128,
    /// Identity of the file where the platform has one (an inode), else 0.
    pub id: u64,
    /// Time of the last change of the file's metadata in nanoseconds where the platform has it, else 0.
    pub changed: i128,
}

/// Read access to files. Implemented by the real file system and by [`MemoryFs`].
pub trait ReadFs: Sync {
    /// All bytes of a regular file; one larger than `limit` bytes gives [`io::ErrorKind::FileTooLarge`] unread.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Length and times of a file.
    fn stamp(&self, path: &Path) -> io::Result<Stamp>;

    /// `false` for pipes and devices, whose opening may wait for ever.
    fn is_regular(&self, path: &Path) -> bool;

    /// The path with links and `..` resolved, to tell whether a file lies inside a folder.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The names in a folder, sorted, where they are known; to tell what a path was meant to be.
    fn names(&self, _folder: &Path) -> Vec<String> {
        Vec::new()
    }

    /// Whether a file that is not here is nowhere. Not so where an application hands files in later.
    fn is_whole(&self) -> bool {
        true
    }
}

pub use super::memory::MemoryFs;
#[cfg(feature = "fs")]
pub use real::*;

#[cfg(feature = "fs")]
#[allow(clippy::disallowed_methods, reason = "this is the door")]
mod real {
    use super::{Path, PathBuf, ReadFs, Stamp, io, irregular};
    use std::collections::BTreeSet;
    use std::io::{Read, Write};
    use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard};

    /// Held shared by every write in progress, and alone by whoever is about to end the program.
    static WRITING: RwLock<()> = RwLock::new(());

    /// Waits for writes in progress and lets no other begin while the guard lives: an interrupt ends the program
    /// with every file whole and no temporary file left behind.
    pub fn hold_writes() -> RwLockWriteGuard<'static, ()> {
        WRITING.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file system of the machine.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RealFs;

    impl ReadFs for RealFs {
        fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            read_own(path, limit, &mut bytes)?;
            Ok(bytes)
        }

        fn stamp(&self, path: &Path) -> io::Result<Stamp> {
            std::fs::metadata(path).map(|meta| stamp_of(&meta))
        }

        fn is_regular(&self, path: &Path) -> bool {
            is_file(path)
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            std::fs::canonicalize(path)
        }

        fn names(&self, folder: &Path) -> Vec<String> {
            names_in(folder)
        }
    }

    /// Opens a regular file without ever waiting for it: some that call themselves regular, as `/proc/kmsg` does, make a reader wait.
    fn open_at_once(path: &Path) -> io::Result<std::fs::File> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        options.open(path)
    }

    /// Reads to the end, and no more than a byte past the limit, whatever length the file says it has. One that gives less than was
    /// asked for has ended, so one call is enough unless it has more than it says.
    fn read_whole(mut file: std::fs::File, len: u64, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        let len = len as usize;
        bytes.resize(len + 1, 0);
        let mut filled = 0;
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match file.read(room) {
                Ok(got) => {
                    filled += got;
                    if got == 0 || filled == len {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        if filled > len {
            let rest = limit.saturating_add(1).saturating_sub(filled as u64);
            file.take(rest).read_to_end(bytes)?;
        }
        if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    }

    /// Reads a file, or a pipe that somebody named, into a buffer that is reused from file to file. Returns its stamp.
    pub fn read_into(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> io::Result<Stamp> {
        read_of_kind(path, std::fs::metadata(path)?.file_type(), limit, bytes)
    }

    /// Reads a file that nobody named on a command line: a pipe in its place, whose opening would wait for ever, is refused.
    pub fn read_own(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> io::Result<Stamp> {
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_file() || kind.is_dir() { read_of_kind(path, kind, limit, bytes) } else { Err(irregular()) }
    }

    fn read_of_kind(path: &Path, kind: std::fs::FileType, limit: u64, bytes: &mut Vec<u8>) -> io::Result<Stamp> {
        bytes.clear();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let file = if kind.is_file() { open_at_once(path)? } else { std::fs::File::open(path)? };
        let meta = file.metadata()?;
        // What was a file a moment ago may be a pipe by now.
        if kind.is_file() && !meta.is_file() {
            return Err(irregular());
        }
        if meta.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // A pipe has no length of its own.
        let len = if meta.is_file() { meta.len() } else { 0 };
        match read_whole(file, len, limit, bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(irregular()),
            read => read.map(|()| stamp_of(&meta)),
        }
    }

    /// The stamp in a file's metadata.
    pub fn stamp_of(meta: &std::fs::Metadata) -> Stamp {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let nanos = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
            Stamp {
                len: meta.len(),
                modified: nanos(meta.mtime(), meta.mtime_nsec()),
                id: meta.ino(),
                changed: nanos(meta.ctime(), meta.ctime_nsec()),
            }
        }
        #[cfg(not(unix))]
        {
            let modified = meta
                .modified()
                .ok()
                .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |time| time.as_nanos() as i128);
            Stamp { len: meta.len(), modified, id: 0, changed: 0 }
        }
    }

    /// The first bytes of a regular file, no more than `most`; `None` for anything else that is there.
    pub fn head(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let file = std::fs::metadata(path)?.is_file().then(|| open_at_once(path)).transpose()?;
        file.map(|file| file.take(most).read_to_end(&mut bytes).map(|_| bytes)).transpose()
    }

    /// Whether a path exists and is a folder.
    pub fn is_dir(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_dir())
    }

    /// Whether a path exists and is a regular file.
    pub fn is_file(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file())
    }

    /// Whether a path exists.
    pub fn exists(path: &Path) -> bool {
        std::fs::metadata(path).is_ok()
    }

    /// Whether a path is a link, wherever it leads.
    pub fn is_link(path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
    }

    /// Takes back a folder that this run made for nothing: these files of it, and itself when nothing else is in it.
    pub fn take_back(folder: &Path, files: &[&str]) {
        for name in files {
            // What cannot be removed stays; it is in nobody's way.
            let _ = std::fs::remove_file(folder.join(name));
        }
        let _ = std::fs::remove_dir(folder);
    }

    /// Why the names in a folder cannot be had; `None` where they can.
    pub fn why_unlisted(path: &Path) -> Option<io::Error> {
        std::fs::read_dir(path).err()
    }

    /// The names in a folder, sorted; none when it cannot be read.
    pub fn names_in(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The program that runs.
    pub fn current_exe() -> io::Result<PathBuf> {
        std::env::current_exe()
    }

    /// The current folder.
    pub fn current_dir() -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    /// Makes a folder and those above it.
    pub fn create_dir_all(path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    /// Makes a folder and those above it, for the user's eyes alone where the system knows such folders.
    pub fn create_private_dir(path: &Path) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    /// How the names of temporary files begin and end.
    const TEMPORARY: (&str, &str) = (".ctxc-", ".tmp");
    /// A temporary file younger than this may have been made this moment and not be locked yet.
    const SETTLED: std::time::Duration = std::time::Duration::from_secs(2);

    /// The folders that were cleared: the first write into a folder looks through it.
    static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

    /// Removes the temporary files that killed programs left in a folder: those that nobody holds a lock on.
    fn clear_leftovers(folder: &Path) {
        if !CLEARED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_path_buf()) {
            return;
        }
        let ours = |name: &str| name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1);
        for name in names_in(folder).iter().filter(|name| ours(name)) {
            let path = folder.join(name);
            let settled = |meta: std::fs::Metadata| {
                meta.is_file() && meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SETTLED))
            };
            if std::fs::symlink_metadata(&path).is_ok_and(settled)
                && let Ok(file) = std::fs::File::open(&path)
                && file.try_lock().is_ok()
            {
                // Whoever cannot remove it leaves it; it is in nobody's way.
                let _ = std::fs::remove_file(&path);
            }
        }
    }

    /// Whether bytes must have reached the disk before the rename.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Durability {
        Synced,
        /// For what can be made again: a power cut may leave it damaged, and its reader notices.
        Unsynced,
    }

    /// Whether a file is there and nobody may write it: what its permissions say, not what this user could do all the same.
    pub fn is_read_only(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().readonly())
    }

    fn replace(path: &Path, durability: Durability, bytes: &[u8]) -> io::Result<Stamp> {
        let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
        // Write through a link rather than replace it. A cache is nobody's link: whoever made one there means harm.
        let is_cache = durability == Durability::Unsynced;
        let target = if is_cache { None } else { std::fs::canonicalize(path).ok() }.unwrap_or_else(|| path.to_path_buf());
        if let Ok(meta) = std::fs::metadata(&target)
            && !is_cache
            && !meta.is_file()
        {
            return stream(&target, &meta, bytes);
        }
        // A rename asks the folder alone, and would take the file over from whoever protected it.
        if is_read_only(&target) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        clear_leftovers(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&target).map_or(0o644, |meta| meta.permissions().mode() & 0o777);
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        let mut temp = builder.tempfile_in(folder)?;
        // Says that somebody is at work on it. Where locks do not work, nobody clears it away either.
        let _ = temp.as_file().try_lock();
        temp.as_file_mut().write_all(bytes)?;
        if durability == Durability::Synced {
            temp.as_file().sync_all()?;
        }
        let file = temp.persist(&target).map_err(|err| err.error)?;
        #[cfg(unix)]
        if durability == Durability::Synced
            && let Ok(dir) = std::fs::File::open(folder)
        {
            // Some file systems cannot sync a folder; the rename itself has happened.
            let _ = dir.sync_all();
        }
        file.metadata().map(|meta| stamp_of(&meta))
    }

    /// A pipe or a device is written to and never replaced; a folder is neither.
    fn stream(target: &Path, meta: &std::fs::Metadata, bytes: &[u8]) -> io::Result<Stamp> {
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        std::fs::OpenOptions::new().write(true).open(target)?.write_all(bytes)?;
        Ok(stamp_of(meta))
    }

    /// A lock that lasts as long as the value; the system lets go of it however the program ends.
    #[derive(Debug)]
    pub struct Lock {
        _file: std::fs::File,
    }

    /// Takes the lock that a file stands for, and makes file and folder where they are missing; `None` when it is held. A link is no lock:
    /// the file would be made wherever it leads.
    pub fn try_lock(path: &Path) -> io::Result<Option<Lock>> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if is_link(path) || exists(path) && !is_file(path) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(err)) => Err(err),
        }
    }

    /// Replaces a file that can be made again and whose reader notices damage: whole for every reader, not synced.
    pub fn write_cache(path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace(path, Durability::Unsynced, bytes).map(drop)
    }

    /// Nanoseconds since 1970 by the machine's clock, for fresh stamps and the last line of `watch`; no kept output shows it.
    pub fn now() -> i128 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX))
    }

    /// Writes a file as a whole: temporary file in the same folder, sync, rename, sync of the folder.
    pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<Stamp> {
        replace(path, Durability::Synced, bytes)
    }

    /// An environment variable that is set and not empty.
    pub fn env(name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }
}
