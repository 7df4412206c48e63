//! The only door to files, clock and environment: the traits, the real file system, and one in
//! memory for tests. The writing half is `write`.

use std::io;
use std::path::{Path, PathBuf};

/// The message for a pipe, a device or a socket in the place of a file.
pub(crate) const NOT_A_REGULAR_FILE: &str = "it is not a regular file";

/// The message for a file name that is not UTF-8: two such files can have the same printed name.
#[cfg(feature = "fs")]
pub(crate) const NAME_NOT_UTF8: &str = "its name is not UTF-8; give it another name";

/// The message [`NOT_A_REGULAR_FILE`] as an I/O error.
#[cfg(feature = "fs")]
pub(crate) fn irregular_file_error() -> io::Error {
    io::Error::other(NOT_A_REGULAR_FILE)
}

/// The data by which an incremental build detects that a file did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Length in bytes.
    pub len: u64,
    /// Time of the last change in nanoseconds since 1970.
    pub modified: i128,
    /// Identity of the file where the platform has one (an inode), else 0.
    pub id: u64,
    /// Time of the last change of the file's metadata in nanoseconds where the platform has it,
    /// else 0.
    pub changed: i128,
}

/// Read access to files. Implemented by the real file system and by [`MemoryFs`].
pub trait ReadFs: Sync {
    /// All bytes of a regular file. One larger than `limit` bytes is not read and returns
    /// [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Length and times of a file.
    fn stamp(&self, path: &Path) -> io::Result<Stamp>;

    /// Returns `false` for pipes and devices, whose opening may block for ever.
    fn is_regular(&self, path: &Path) -> bool;

    /// The path with links and `..` resolved, for checking that a file lies inside a folder.
    fn canonicalize(&self, path: &Path) -> io::Result<PathBuf>;

    /// The sorted names in a folder, empty if unknown; used to suggest a path close to a mistyped
    /// one.
    fn entry_names(&self, _folder: &Path) -> Vec<String> {
        Vec::new()
    }

    /// The names in a folder that are known as files, neither links nor folders; in no order.
    fn plain_file_names(&self, _folder: &Path) -> Vec<String> {
        Vec::new()
    }

    /// Returns true if a file that is missing here exists nowhere. An application that supplies
    /// files later returns `false`.
    fn is_complete(&self) -> bool {
        true
    }
}

pub use super::memory::MemoryFs;
#[cfg(feature = "fs")]
pub use super::write::{
    ExistingFolder, FileDraft, FileLock, LineFile, append_line, create_dir_all, create_private_dir,
    hold_writes, install_folder, link_temp_file, remove_file, remove_tree, remove_unused_folder,
    temp_folder, try_lock, write_atomic, write_cache, write_private, write_temp_file,
};
#[cfg(feature = "fs")]
pub use real::*;

#[cfg(feature = "fs")]
#[allow(clippy::disallowed_methods, reason = "this is the door")]
mod real {
    use super::{Path, PathBuf, ReadFs, Stamp, io, irregular_file_error};
    use std::io::Read;

    /// The file system of the machine.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct RealFs;

    impl ReadFs for RealFs {
        fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            read_regular(path, limit, &mut bytes)?;
            Ok(bytes)
        }

        fn stamp(&self, path: &Path) -> io::Result<Stamp> {
            std::fs::metadata(path).map(|meta| stamp_from_metadata(&meta))
        }

        fn is_regular(&self, path: &Path) -> bool {
            is_file(path)
        }

        fn canonicalize(&self, path: &Path) -> io::Result<PathBuf> {
            std::fs::canonicalize(path)
        }

        fn entry_names(&self, folder: &Path) -> Vec<String> {
            list_names(folder)
        }

        fn plain_file_names(&self, folder: &Path) -> Vec<String> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
            let names = files.map(|entry| entry.file_name().into_string());
            names.filter_map(Result::ok).collect()
        }
    }

    /// Opens a regular file without ever blocking: some files that report themselves as regular,
    /// such as `/proc/kmsg`, block their reader.
    fn open_nonblocking(path: &Path) -> io::Result<std::fs::File> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        options.open(path)
    }

    /// Reads to the end of a file, but at most one byte past the limit, even if the length in its
    /// metadata is wrong. A read that returns fewer bytes than requested marks the end, so one call
    /// suffices unless the file is longer than its metadata.
    fn read_to_limit(
        mut file: std::fs::File,
        len: u64,
        limit: u64,
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
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
        if bytes.len() as u64 > limit {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(())
        }
    }

    /// Reads a file, or a pipe that the user passed, into a buffer that is reused from file to
    /// file. Returns its stamp.
    pub fn read_into(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> io::Result<Stamp> {
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_file() || kind.is_dir() {
            return read_regular(path, limit, bytes);
        }
        let file = std::fs::File::open(path)?;
        // A pipe has no length of its own.
        let meta = file.metadata()?;
        bytes.clear();
        read_to_limit(file, 0, limit, bytes).map(|()| stamp_from_metadata(&meta))
    }

    /// Opens a file, or a pipe that the user passed, for reading line by line.
    pub fn open_lines(path: &Path) -> io::Result<io::BufReader<std::fs::File>> {
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let file = if kind.is_file() {
            open_nonblocking(path)?
        } else {
            std::fs::File::open(path)?
        };
        Ok(io::BufReader::with_capacity(1 << 18, file))
    }

    /// Bytes of a regular file from an offset on; fewer if the file ends earlier.
    pub fn read_range(path: &Path, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut file = open_nonblocking(path)?;
        io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a file that was not passed on the command line. A pipe in its place is rejected,
    /// because opening it would block for ever. The file type comes from the opened handle, so that
    /// the file cannot be replaced between the check and the read.
    pub fn read_regular(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> io::Result<Stamp> {
        bytes.clear();
        let file = open_nonblocking(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !meta.is_file() {
            return Err(irregular_file_error());
        }
        if meta.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        match read_to_limit(file, meta.len(), limit, bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(irregular_file_error()),
            read => read.map(|()| stamp_from_metadata(&meta)),
        }
    }

    /// The stamp in a file's metadata.
    pub fn stamp_from_metadata(meta: &std::fs::Metadata) -> Stamp {
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
            Stamp {
                len: meta.len(),
                modified,
                id: 0,
                changed: 0,
            }
        }
    }

    /// The first bytes of a regular file, at most `max`; `None` for a path that is not a regular
    /// file.
    pub fn read_head(path: &Path, max: u64) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let file = std::fs::metadata(path)?
            .is_file()
            .then(|| open_nonblocking(path))
            .transpose()?;
        file.map(|file| file.take(max).read_to_end(&mut bytes).map(|_| bytes))
            .transpose()
    }

    /// Returns true if a path exists and is a folder.
    pub fn is_dir(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_dir())
    }

    /// Returns true if a path exists and is a regular file.
    pub fn is_file(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file())
    }

    /// Returns true if a path exists.
    pub fn exists(path: &Path) -> bool {
        std::fs::metadata(path).is_ok()
    }

    /// Returns true if a path is a link, even a broken one.
    pub fn is_link(path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink())
    }

    /// Returns true if a file exists and its permissions are read-only for all. The current user
    /// may still be able to write it.
    pub fn is_read_only(path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().readonly())
    }

    /// The reason why a folder cannot be listed; `None` if it can be.
    pub fn listing_error(path: &Path) -> Option<io::Error> {
        std::fs::read_dir(path).err()
    }

    /// The sorted names in a folder; empty if it cannot be read. Names that are not UTF-8 are
    /// omitted.
    pub fn list_names(path: &Path) -> Vec<String> {
        list_entries(path)
            .into_iter()
            .filter(|(name, path)| path.file_name() == Some(name.as_ref()))
            .map(|(name, _)| name)
            .collect()
    }

    /// The entries of a folder, sorted by their printable names; empty if it cannot be read.
    pub fn list_entries(path: &Path) -> Vec<(String, PathBuf)> {
        list_folder(path)
            .into_iter()
            .map(|entry| (entry.name, entry.path))
            .collect()
    }

    /// An entry of a folder.
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct FolderEntry {
        /// Its printable name.
        pub name: String,
        /// Its path.
        pub path: PathBuf,
        /// True for a folder, false for a link to one. Most systems report this without a stat
        /// call.
        pub is_folder: bool,
    }

    /// The entries of a folder, sorted by name; empty if it cannot be read.
    pub fn list_folder(path: &Path) -> Vec<FolderEntry> {
        let entries = std::fs::read_dir(path)
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        let entry = |entry: std::fs::DirEntry| FolderEntry {
            name: entry.file_name().to_string_lossy().into_owned(),
            path: entry.path(),
            is_folder: entry.file_type().is_ok_and(|kind| kind.is_dir()),
        };
        let mut entries: Vec<FolderEntry> = entries.map(entry).collect();
        entries.sort();
        entries
    }

    /// The path of the running program.
    pub fn current_exe() -> io::Result<PathBuf> {
        std::env::current_exe()
    }

    /// The current folder.
    pub fn current_dir() -> io::Result<PathBuf> {
        std::env::current_dir()
    }

    /// Changes the current folder of the process.
    pub fn enter_folder(folder: &Path) -> io::Result<()> {
        std::env::set_current_dir(folder)
    }

    /// Nanoseconds since 1970 by the machine's clock, for fresh stamps and the last line of
    /// `watch`. Never part of a stored output.
    pub fn now_nanos() -> i128 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |time| {
            i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
        })
    }

    /// Seconds since 1970: `SOURCE_DATE_EPOCH` if it is set, else the machine's clock.
    pub fn timestamp_seconds() -> i64 {
        let given =
            env_var("SOURCE_DATE_EPOCH").and_then(|seconds| seconds.trim().parse::<i64>().ok());
        given.unwrap_or_else(|| i64::try_from(now_nanos() / 1_000_000_000).unwrap_or(i64::MAX))
    }

    /// The value of an environment variable; `None` if it is unset or empty.
    pub fn env_var(name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// The values of the environment variables for which `is_wanted(name, value)` is true; those
    /// that are not UTF-8 are omitted.
    pub fn env_values(is_wanted: fn(&str, &str) -> bool) -> Vec<String> {
        env_vars()
            .into_iter()
            .filter(|(name, value)| is_wanted(name, value))
            .map(|(_, value)| value)
            .collect()
    }

    /// Every environment variable with its value; those that are not UTF-8 are omitted.
    pub fn env_vars() -> Vec<(String, String)> {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// Unpredictable bytes, from the seeds that the system supplies to hash tables.
    pub fn random_bytes() -> [u8; 32] {
        use std::hash::BuildHasher;
        let mut hasher = crate::base::hash::Hasher::new();
        for _ in 0..4 {
            hasher.add_number(std::hash::RandomState::new().hash_one(now_nanos()));
        }
        hasher.add_number(u64::from(std::process::id())).finish().0
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "../../tests/unit/base/fs.rs"]
mod tests;
