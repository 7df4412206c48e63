//! Files inside a folder. A path that leaves the folder, by `..` or through a link, is rejected
//! without being read, and so is anything but a regular file: reading a pipe would block for ever.

#[cfg(feature = "cli")]
use super::fs::list_folder;
use super::fs::{NOT_A_REGULAR_FILE, ReadFs, Stamp};
use super::number::{format_size, format_thousands};
use std::path::{Component, Path, PathBuf};
use std::{fmt, io};

/// The message for a file whose path, or a link on it, leads out of the project.
const OUTSIDE_PROJECT: &str = "it lies outside the project's folder";

/// An I/O error if a link leads out of a folder; `None` if it stays inside or is broken.
#[cfg(feature = "fs")]
pub(crate) fn link_out_error(files: &dyn ReadFs, folder: &Path, path: &Path) -> Option<io::Error> {
    let folder = files.canonicalize(folder).ok()?;
    let real = files.canonicalize(path).ok()?;
    (!real.starts_with(folder)).then(|| io::Error::other(OUTSIDE_PROJECT))
}

/// The reason why a file inside a folder was not read.
#[derive(Debug)]
pub enum PathRefusal {
    /// Its path, or a link on it, leads out of the folder.
    Outside,
    /// It belongs to git, whose configuration may contain keys.
    OfGit,
    /// It is a folder, a pipe or a device.
    Irregular,
    /// Its path ends in `/`.
    Slash,
    /// It has more bytes than the limit.
    TooLarge {
        /// Its size in bytes, if known.
        size: Option<u64>,
        /// The maximum size in bytes.
        limit: u64,
    },
    /// The system refused.
    Io(io::Error),
}

impl fmt::Display for PathRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str(OUTSIDE_PROJECT),
            Self::OfGit => {
                f.write_str("it lies in `.git`, where keys may stand: no agent is shown it")
            }
            Self::Irregular => f.write_str(NOT_A_REGULAR_FILE),
            Self::Slash => f.write_str("its path ends in `/`, as that of a folder does"),
            Self::TooLarge {
                size: Some(bytes),
                limit,
            } => {
                write!(
                    f,
                    "it is larger than {}, the limit: {} bytes",
                    format_size(*limit),
                    format_thousands(*bytes as usize)
                )
            }
            Self::TooLarge { size: None, limit } => {
                write!(f, "it is larger than {}", format_size(*limit))
            }
            Self::Io(err) => f.write_str(&describe_io_error(err)),
        }
    }
}

impl From<PathRefusal> for io::Error {
    fn from(refused: PathRefusal) -> Self {
        match refused {
            PathRefusal::Io(err) => err,
            PathRefusal::TooLarge { .. } => io::ErrorKind::FileTooLarge.into(),
            PathRefusal::Outside
            | PathRefusal::OfGit
            | PathRefusal::Irregular
            | PathRefusal::Slash => Self::other(refused.to_string()),
        }
    }
}

/// All bytes of a file of at most `limit` bytes, by its path relative to `root`.
///
/// # Errors
/// The file lies outside `root`, is not a regular file, cannot be read, or is too large.
pub fn read_file(
    files: &dyn ReadFs,
    root: &Path,
    path: &Path,
    limit: u64,
) -> Result<Vec<u8>, PathRefusal> {
    let file = root.join(normalize_path(path).ok_or(PathRefusal::Outside)?);
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(PathRefusal::Slash);
    }
    let root = files.canonicalize(root).map_err(PathRefusal::Io)?;
    let real = files.canonicalize(&file).map_err(PathRefusal::Io)?;
    let Ok(inside) = real.strip_prefix(&root) else {
        return Err(PathRefusal::Outside);
    };
    if inside.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
        return Err(PathRefusal::OfGit);
    }
    if !files.is_regular(&real) {
        return Err(PathRefusal::Irregular);
    }
    files
        .read(&real, limit)
        .map_err(|err| explain_read_error(err, limit, || files.stamp(&real)))
}

/// Converts a read error; if the file is too large, adds its size.
pub fn explain_read_error(
    err: io::Error,
    limit: u64,
    stamp: impl FnOnce() -> io::Result<Stamp>,
) -> PathRefusal {
    if err.kind() != io::ErrorKind::FileTooLarge {
        return PathRefusal::Io(err);
    }
    PathRefusal::TooLarge {
        size: stamp().ok().map(|stamp| stamp.len),
        limit,
    }
}

/// The files below a folder, by their sorted paths relative to it, with links to folders among them.
/// Leaves out each entry that `is_excluded` by its name and path, with all below it.
#[cfg(feature = "cli")]
pub(crate) fn list_files_below(
    folder: &Path,
    is_excluded: impl Fn(&str, &Path) -> bool,
) -> Vec<String> {
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inside) = open.pop() {
        for entry in list_folder(&folder.join(&inside)) {
            let path = inside.join(&entry.name);
            if is_excluded(&entry.name, &path) {
                continue;
            }
            if entry.is_folder {
                open.push(path);
            } else {
                files.push(slash_path(&path));
            }
        }
    }
    files.sort();
    files
}

/// The path without `.` and `..`; `None` when it leaves the folder it is relative to.
pub fn normalize_path(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

/// Resolves a name that is written relative to the folder of another file. Both the result and
/// `file` are relative to the same folder; `None` if the result leaves it.
pub fn resolve_beside(file: &str, written: &str) -> Option<String> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    normalize_path(&folder.join(written)).map(|path| slash_path(&path))
}

/// A path relative to `folder`, the inverse of [`resolve_beside`]; both are relative to the same base.
pub fn relative_path(folder: &str, path: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from
        .iter()
        .zip(&to)
        .take_while(|(from, to)| from == to)
        .count()
        .min(to.len().saturating_sub(1));
    let up = std::iter::repeat_n("..", from.len() - shared);
    up.chain(to.iter().skip(shared).copied())
        .collect::<Vec<_>>()
        .join("/")
}

/// A path with `/` between its parts.
pub fn slash_path(path: &Path) -> String {
    let parts: Vec<String> = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    parts.join("/")
}

/// The reason of an I/O error in plain words instead of “(os error 13)”. A lower-case fragment.
pub fn describe_io_error(err: &io::Error) -> String {
    IO_REASONS
        .iter()
        .find(|(kind, _)| *kind == err.kind())
        .map_or_else(
            || error_fragment(&err.to_string()),
            |(_, words)| (*words).to_owned(),
        )
}

const IO_REASONS: [(io::ErrorKind, &str); 9] = [
    (io::ErrorKind::NotFound, "it does not exist"),
    (io::ErrorKind::PermissionDenied, "permission denied"),
    (
        io::ErrorKind::ReadOnlyFilesystem,
        "the file system is read-only",
    ),
    (io::ErrorKind::StorageFull, "no space is left on the disk"),
    (io::ErrorKind::QuotaExceeded, "the disk quota is used up"),
    (io::ErrorKind::IsADirectory, "it is a folder"),
    (
        io::ErrorKind::NotADirectory,
        "a part of the path is a file, not a folder",
    ),
    (io::ErrorKind::FileTooLarge, "it is larger than the limit"),
    (
        io::ErrorKind::InvalidFilename,
        "the file system takes no such file name",
    ),
];

/// An operating system's error text as a fragment, without its number.
pub fn error_fragment(text: &str) -> String {
    let text = text.split(" (os error").next().unwrap_or(text);
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
