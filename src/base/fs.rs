//! The only door to files, clock and environment: traits, their real form, one in memory for tests, and what is written (`write`).

use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with a pipe, a device or a socket in the place of a file.
pub(crate) const IRREGULAR: &str = "it is not a regular file";

/// What is wrong with a name that is not text: two files can be shown by one.
#[cfg(feature = "fs")]
pub(crate) const STRANGE: &str = "its name is not UTF-8; give it another name";

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
pub use super::write::{
    Draft, LineFile, Lock, append_line, create_dir_all, create_private_dir, hold_writes, link_temp, remove, remove_tree,
    take_back, temp_folder, try_lock, write_atomic, write_cache, write_private, write_temp,
};
#[cfg(feature = "fs")]
pub use real::*;

#[cfg(feature = "fs")]
#[allow(clippy::disallowed_methods, reason = "this is the door")]
mod real {
    use super::{Path, PathBuf, ReadFs, Stamp, io, irregular};
    use std::io::Read;

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
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_file() || kind.is_dir() {
            return read_own(path, limit, bytes);
        }
        let file = std::fs::File::open(path)?;
        // A pipe has no length of its own.
        let meta = file.metadata()?;
        bytes.clear();
        read_whole(file, 0, limit, bytes).map(|()| stamp_of(&meta))
    }

    /// A file, or a pipe that somebody named, for reading line by line.
    pub fn open_lines(path: &Path) -> io::Result<io::BufReader<std::fs::File>> {
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let file = if kind.is_file() { open_at_once(path)? } else { std::fs::File::open(path)? };
        Ok(io::BufReader::with_capacity(1 << 18, file))
    }

    /// Bytes of a regular file from an offset on; fewer where it ends before.
    pub fn read_at(path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut file = open_at_once(path)?;
        io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a file that nobody named on a command line: a pipe in its place, whose opening would wait for ever, is refused. What it is
    /// is asked of what was opened, so that nothing else can take its place between the question and the reading.
    pub fn read_own(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> io::Result<Stamp> {
        bytes.clear();
        let file = open_at_once(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !meta.is_file() {
            return Err(irregular());
        }
        if meta.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        match read_whole(file, meta.len(), limit, bytes) {
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

    /// Whether a file is there and nobody may write it: what its permissions say, not what this user could do all the same.
    pub fn is_read_only(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().readonly())
    }

    /// Why the names in a folder cannot be read; `None` where they can.
    pub fn why_unlisted(path: &Path) -> Option<io::Error> {
        std::fs::read_dir(path).err()
    }

    /// The names in a folder, sorted; none when it cannot be read. A name that is no text is left out.
    pub fn names_in(path: &Path) -> Vec<String> {
        entries_in(path)
            .into_iter()
            .filter(|(name, path)| path.file_name() == Some(name.as_ref()))
            .map(|(name, _)| name)
            .collect()
    }

    /// What is in a folder, sorted by its names as they can be shown; nothing when it cannot be read.
    pub fn entries_in(path: &Path) -> Vec<(String, PathBuf)> {
        typed_entries_in(path).into_iter().map(|entry| (entry.name, entry.path)).collect()
    }

    /// An entry of a folder.
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct FolderEntry {
        /// Its name as it can be shown.
        pub name: String,
        /// Its path.
        pub path: PathBuf,
        /// It is a folder, and no link to one. Known without a look at the entry on most systems.
        pub is_folder: bool,
    }

    /// The entries of a folder, sorted by their names; none when it cannot be read.
    pub fn typed_entries_in(path: &Path) -> Vec<FolderEntry> {
        let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let entry = |entry: std::fs::DirEntry| FolderEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            path: entry.path(),
            is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        };
        let mut entries: Vec<FolderEntry> = entries.map(entry).collect();
        entries.sort();
        entries
    }

    /// The program that runs.
    pub fn current_exe() -> io::Result<PathBuf> {
        std::env::current_exe()
    }

    /// The current folder.
    pub fn current_dir() -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    /// Nanoseconds since 1970 by the machine's clock, for fresh stamps and the last line of `watch`; no kept output shows it.
    pub fn now() -> i128 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(i128::MAX))
    }

    /// Seconds since 1970: those that `SOURCE_DATE_EPOCH` has where it is set, else those of the machine's clock.
    pub fn seconds() -> i64 {
        let given = env("SOURCE_DATE_EPOCH").and_then(|seconds| seconds.trim().parse::<i64>().ok());
        given.unwrap_or_else(|| i64::try_from(now() / 1_000_000_000).unwrap_or(i64::MAX))
    }

    /// An environment variable that is set and not empty.
    pub fn env(name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The values of the environment variables that are wanted by their names and values; those that are no text are left out.
    pub fn env_values(is_wanted: fn(&str, &str) -> bool) -> Vec<String> {
        env_all().into_iter().filter(|(name, value)| is_wanted(name, value)).map(|(_, value)| value).collect()
    }

    /// Every environment variable with its value; those that are no text are left out.
    pub fn env_all() -> Vec<(String, String)> {
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
    }

    /// Bytes that nobody can guess, from the seeds that the system gives to hash tables.
    pub fn random() -> [u8; 32] {
        use std::hash::BuildHasher;
        let mut hasher = crate::base::hash::Hasher::new();
        for _ in 0..4 {
            hasher.number(std::hash::RandomState::new().hash_one(now()));
        }
        hasher.number(u64::from(std::process::id())).finish().0
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "../../tests/unit/base/fs.rs"]
mod tests;
