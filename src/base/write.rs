//! The writing half of the door to files ([`super::fs`]): a temporary file in the same folder,
//! `sync`, and a rename, so that a reader sees the old bytes or the new ones, never a mixture. Also
//! file locks.
#![allow(clippy::disallowed_methods, reason = "this is the door")]

use super::fs::{Stamp, exists, is_file, is_link, is_read_only, list_names, stamp_from_metadata};
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard};

/// Held shared by every write in progress, and exclusively by a thread that is about to end the
/// program.
static WRITE_LOCK: RwLock<()> = RwLock::new(());

/// Waits for writes in progress and blocks new ones while the guard lives: an interrupt ends the
/// program with every file complete and no temporary file left behind.
pub fn hold_writes() -> RwLockWriteGuard<'static, ()> {
    WRITE_LOCK.write().unwrap_or_else(PoisonError::into_inner)
}

/// Replaces a file atomically: temporary file in the same folder, sync, rename, sync of the folder.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<Stamp> {
    replace_file(path, Durability::Synced, 0o644, &mut |file| {
        file.write_all(bytes)
    })
}

/// Writes a file as [`write_atomic`] does; a new one is readable by the user alone if the system
/// supports it.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file(path, Durability::Synced, 0o600, &mut |file| {
        file.write_all(bytes)
    })
    .map(drop)
}

/// Replaces a file that can be rebuilt and whose reader detects damage: atomic for every reader,
/// not synced.
pub fn write_cache(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file(path, Durability::Unsynced, 0o644, &mut |file| {
        file.write_all(bytes)
    })
    .map(drop)
}

/// Bytes of a result that are held in memory; a larger one spills to the disk.
const MAX_BYTES_IN_MEMORY: usize = 1 << 20;

/// A file in preparation. Other programs cannot see it until it is complete, and a killed program
/// leaves nothing behind.
#[derive(Debug)]
pub struct FileDraft {
    /// The path of the future file.
    pub path: PathBuf,
    bytes: BufWriter<tempfile::SpooledTempFile>,
}

impl FileDraft {
    /// An empty draft. A large one spills to the folder of the file, which needs the space in any
    /// case.
    pub fn new(path: &Path) -> Self {
        // A folder of pipes or devices cannot hold temporary files.
        let max = if exists(path) && !is_file(path) {
            usize::MAX
        } else {
            MAX_BYTES_IN_MEMORY
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        Self {
            path: path.to_path_buf(),
            bytes: BufWriter::new(tempfile::spooled_tempfile_in(max, folder)),
        }
    }

    /// Reads the first bytes, at most `max`.
    pub fn read_head(&mut self, max: u64) -> io::Result<Vec<u8>> {
        self.bytes.flush()?;
        let file = self.bytes.get_mut();
        let mut head = Vec::new();
        file.rewind()?;
        file.take(max).read_to_end(&mut head)?;
        file.seek(io::SeekFrom::End(0)).map(|_| head)
    }

    /// Passes each line and its number to `look` until `look` returns a value.
    pub fn find_line<T>(
        &mut self,
        mut look: impl FnMut(usize, &str) -> Option<T>,
    ) -> io::Result<Option<T>> {
        self.bytes.flush()?;
        let file = self.bytes.get_mut();
        file.rewind()?;
        let mut reader = BufReader::with_capacity(1 << 16, &mut *file);
        let (mut line, mut number, mut found) = (Vec::new(), 0, None);
        while found.is_none() && reader.read_until(b'\n', &mut line)? > 0 {
            number += 1;
            found = look(number, &String::from_utf8_lossy(&line));
            line.clear();
        }
        file.seek(io::SeekFrom::End(0)).map(|_| found)
    }

    /// Replaces the file with the draft, as [`write_atomic`] does.
    pub fn write_atomic(mut self) -> io::Result<()> {
        self.bytes.flush()?;
        let bytes = self.bytes.get_mut();
        bytes.rewind()?;
        replace_file(&self.path, Durability::Synced, 0o644, &mut |file| {
            io::copy(bytes, file).map(drop)
        })
        .map(drop)
    }
}

impl Write for FileDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bytes.flush()
    }
}

/// Prefix and suffix of the names of temporary files.
const TEMP_NAME_AFFIXES: (&str, &str) = (".ctxc-", ".tmp");

/// The minimum age of a leftover: a younger temporary file may have just been created and not be
/// locked yet.
const MIN_LEFTOVER_AGE: std::time::Duration = std::time::Duration::from_secs(2);

/// The folders already searched for leftovers: only the first write into a folder searches it.
static CLEARED_FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes the temporary files that killed programs left in a folder: those that are not locked.
fn clear_leftovers(folder: &Path) {
    if !CLEARED_FOLDERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(folder.to_path_buf())
    {
        return;
    }
    let ours =
        |name: &str| name.starts_with(TEMP_NAME_AFFIXES.0) && name.ends_with(TEMP_NAME_AFFIXES.1);
    for name in list_names(folder).iter().filter(|name| ours(name)) {
        let path = folder.join(name);
        let settled = |meta: std::fs::Metadata| {
            meta.is_file()
                && meta
                    .modified()
                    .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > MIN_LEFTOVER_AGE))
        };
        if std::fs::symlink_metadata(&path).is_ok_and(settled)
            && let Ok(file) = std::fs::File::open(&path)
            && file.try_lock().is_ok()
        {
            // A failure to remove it does no harm.
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// The durability of a replaced file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// The bytes reach the disk before the rename.
    Synced,
    /// For files that can be rebuilt: a power cut may damage them, and their reader detects that.
    Unsynced,
}

fn replace_file(
    path: &Path,
    durability: Durability,
    new_mode: u32,
    write: &mut dyn FnMut(&mut std::fs::File) -> io::Result<()>,
) -> io::Result<Stamp> {
    let _writing = WRITE_LOCK.read().unwrap_or_else(PoisonError::into_inner);
    // A write goes through a link rather than replacing it. A cache file is never a legitimate
    // link, so a link in its place is replaced.
    let is_cache = durability == Durability::Unsynced;
    let target = if is_cache {
        None
    } else {
        std::fs::canonicalize(path).ok()
    }
    .unwrap_or_else(|| path.to_path_buf());
    if let Ok(meta) = std::fs::metadata(&target)
        && !is_cache
        && !meta.is_file()
    {
        return write_through(&target, &meta, write);
    }
    // A rename needs only write permission on the folder, and would overwrite a file that its owner
    // protected.
    if is_read_only(&target) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    clear_leftovers(folder);
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(TEMP_NAME_AFFIXES.0)
        .suffix(TEMP_NAME_AFFIXES.1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            std::fs::metadata(&target).map_or(new_mode, |meta| meta.permissions().mode() & 0o777);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = new_mode;
    let mut temp = builder.tempfile_in(folder)?;
    // Marks the file as in use. On a system without locks, leftovers cannot be locked and are not
    // removed either.
    let _ = temp.as_file().try_lock();
    write(temp.as_file_mut())?;
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
    file.metadata().map(|meta| stamp_from_metadata(&meta))
}

/// Writes to a pipe or a device, which is never replaced; a folder is an error.
fn write_through(
    target: &Path,
    meta: &std::fs::Metadata,
    write: &mut dyn FnMut(&mut std::fs::File) -> io::Result<()>,
) -> io::Result<Stamp> {
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    write(&mut std::fs::OpenOptions::new().write(true).open(target)?)?;
    Ok(stamp_from_metadata(meta))
}

/// The handling of a folder that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingFolder {
    /// The new one takes its place.
    Replaced,
    /// It stays.
    Unchanged,
}

/// The age of a folder that a killed program left.
const MIN_LEFT_FOLDER_AGE: std::time::Duration = std::time::Duration::from_hours(1);

/// Writes a folder of read-only files that other programs see completely or not at all: temporary
/// folder beside it, sync, rename.
pub fn install_folder<'f>(
    folder: &Path,
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    existing: ExistingFolder,
) -> io::Result<()> {
    let _writing = WRITE_LOCK.read().unwrap_or_else(PoisonError::into_inner);
    let parent = folder.parent().unwrap_or(Path::new("."));
    create_private_dir(parent)?;
    remove_left_folders(parent);
    let (prefix, suffix) = TEMP_NAME_AFFIXES;
    let temp = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).suffix(suffix).tempdir_in(parent)
    };
    let new = temp()?;
    let mut folders = BTreeSet::from([new.path().to_path_buf()]);
    for (path, bytes) in files {
        let path = new.path().join(path);
        let own = path.parent().unwrap_or(new.path());
        std::fs::create_dir_all(own)?;
        folders.extend(
            own.ancestors()
                .take_while(|own| own.starts_with(new.path()))
                .map(Path::to_path_buf),
        );
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o444);
        let mut file = options.open(&path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    // Deeper folders first.
    folders.iter().rev().for_each(|own| sync_folder(own));
    let old = temp()?;
    let is_moved = existing == ExistingFolder::Replaced
        && std::fs::rename(folder, old.path().join("old")).is_ok();
    match std::fs::rename(new.path(), folder) {
        Ok(()) => drop(new.keep()),
        // Another program was faster.
        Err(_) if folder.is_dir() => {}
        Err(error) => {
            if is_moved {
                std::fs::rename(old.path().join("old"), folder)?;
            }
            return Err(error);
        }
    }
    sync_folder(parent);
    Ok(())
}

/// Syncs a folder where the file system can; the files in it are synced already.
fn sync_folder(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = folder;
}

/// Removes the temporary folders that killed programs left in a folder.
fn remove_left_folders(folder: &Path) {
    let (prefix, suffix) = TEMP_NAME_AFFIXES;
    for name in list_names(folder) {
        let path = folder.join(&name);
        let is_old = |meta: std::fs::Metadata| {
            let modified = meta.modified().ok();
            let age = modified.and_then(|time| time.elapsed().ok());
            meta.is_dir() && age.is_some_and(|age| age > MIN_LEFT_FOLDER_AGE)
        };
        if name.starts_with(prefix)
            && name.ends_with(suffix)
            && std::fs::symlink_metadata(&path).is_ok_and(is_old)
        {
            // A failure to remove it does no harm.
            let _ = remove_tree(&path);
        }
    }
}

/// A temporary folder for this program's own files; it is removed when the returned value is
/// dropped.
pub fn temp_folder() -> io::Result<tempfile::TempDir> {
    tempfile::tempdir()
}

/// Writes a file into a temporary folder; `is_program` makes it executable.
pub fn write_temp_file(path: &Path, bytes: &[u8], is_program: bool) -> io::Result<()> {
    std::fs::write(path, bytes)?;
    #[cfg(unix)]
    if is_program {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    }
    #[cfg(not(unix))]
    let _ = is_program;
    Ok(())
}

/// Creates a link in a temporary folder.
pub fn link_temp_file(target: &Path, path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, path);
    #[cfg(windows)]
    return std::os::windows::fs::symlink_dir(target, path);
    #[cfg(not(any(unix, windows)))]
    return Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{} to {}", path.display(), target.display()),
    ));
}

/// Creates a folder and its parents.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Creates a folder and its parents, readable by the user alone if the system supports it.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes a folder that this run created in vain: these files in it, and the folder itself if it
/// is then empty.
pub fn remove_unused_folder(folder: &Path, files: &[&str]) {
    for name in files {
        // A failure to remove one does no harm.
        let _ = std::fs::remove_file(folder.join(name));
    }
    let _ = std::fs::remove_dir(folder);
}

/// Appends a line to a file, which is created if missing, and returns once the line is on the disk.
/// Text behind the last line end becomes a line of its own if `is_whole` returns true for it;
/// otherwise it is a remnant of a killed program and is removed.
pub fn append_line(path: &Path, line: &[u8], is_whole: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let _writing = WRITE_LOCK.read().unwrap_or_else(PoisonError::into_inner);
    if is_link(path) || exists(path) && !is_file(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)?;
    let mut last = [b'\n'];
    let len = file.seek(SeekFrom::End(0))?;
    if len > 0 {
        file.seek(SeekFrom::Start(len - 1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let start = memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1);
        if bytes.get(start..).is_some_and(is_whole) {
            file.write_all(b"\n")?;
        } else {
            file.set_len(start as u64)?;
        }
    }
    file.seek(SeekFrom::End(0))?;
    file.write_all(line)?;
    file.sync_data()
}

/// An append-only file of lines, readable by the user alone. Each line is written completely or not
/// at all.
#[derive(Debug)]
pub struct LineFile(Mutex<std::fs::File>);

impl LineFile {
    /// Creates the file, or empties an existing one.
    pub fn create(path: &Path) -> io::Result<Self> {
        if is_link(path) || exists(path) && !is_file(path) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut options = std::fs::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        file.set_len(0)?;
        Ok(Self(Mutex::new(file)))
    }

    /// Opens an existing file to append behind its last complete line; a partial line of a killed
    /// program is removed.
    pub fn open(path: &Path) -> io::Result<Self> {
        if is_link(path) || !is_file(path) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let bytes = std::fs::read(path)?;
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        let file = std::fs::OpenOptions::new().append(true).open(path)?;
        file.set_len(whole as u64)?;
        Ok(Self(Mutex::new(file)))
    }

    /// Appends a line. If the write fails, for example for lack of space, none of it remains.
    pub fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = file.metadata()?.len();
        file.write_all(line)
            .inspect_err(|_| drop(file.set_len(before)))
    }

    /// Appends a line that is written part by part, so that a large one is never in memory
    /// completely.
    pub fn append_parts(
        &self,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = file.metadata()?.len();
        // Most lines fit into the buffer.
        let mut out = io::BufWriter::with_capacity(1 << 20, &*file);
        let written = write(&mut out).and_then(|()| io::Write::flush(&mut out));
        // The buffered remainder of a failed write is dropped.
        drop(out.into_parts());
        written.inspect_err(|_| drop(file.set_len(before)))
    }

    /// Returns once all appended lines are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        // Holding the lock would block other writers meanwhile.
        let file = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .try_clone()?;
        file.sync_data()
    }
}

/// Removes a file; a missing one is not an error.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes a folder with its contents; a missing one is not an error. Links in it are removed, not
/// followed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// A lock that lasts as long as the value; the system releases it even if the program is killed.
#[derive(Debug)]
pub struct FileLock {
    _file: std::fs::File,
}

/// Takes the lock of a lock file, and creates file and folder if they are missing; `None` if
/// another process holds it. A link is an error: the file would be created at its target.
pub fn try_lock(path: &Path) -> io::Result<Option<FileLock>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if is_link(path) || exists(path) && !is_file(path) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(FileLock { _file: file })),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(err)) => Err(err),
    }
}
