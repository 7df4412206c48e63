//! Files that a verb rewrites: shown as a diff, or written whole over exactly the bytes that were read.

use super::cx::Cx;
use super::error::{CliError, Result};
use super::render::unified;
use crate::base::fs;
use crate::syntax::decode;
use std::path::Path;

/// What is done with texts that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// They are written.
    Write,
    /// They are shown as a diff, and nothing is written.
    Diff,
}

/// A file before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'c> {
    /// Its name for people.
    pub(super) name: &'c str,
    /// Where it lies.
    pub(super) path: &'c Path,
    /// Its bytes when it was read.
    pub(super) before: &'c [u8],
    /// Its bytes now.
    pub(super) after: &'c [u8],
}

/// Whether a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It was.
    Yes,
    /// Somebody changed it meanwhile, so it was left alone.
    Overtaken,
}

/// Writes a file as a whole, unless it is no longer the one that was read.
pub(super) fn write(change: &Change<'_>) -> Result<Written> {
    let mut now = Vec::new();
    // One byte more than it had tells enough.
    let same = fs::read_own(change.path, change.before.len() as u64 + 1, &mut now).is_ok() && now == change.before;
    if !same {
        return Ok(Written::Overtaken);
    }
    fs::write_atomic(change.path, change.after).map_err(|err| CliError::write(change.path, &err))?;
    Ok(Written::Yes)
}

/// Writes a file that is not there yet, and the folders that it needs.
pub(super) fn create(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|err| CliError::write(folder, &err))?;
    }
    fs::write_atomic(path, text.as_bytes()).map(drop).map_err(|err| CliError::write(path, &err))
}

/// Prints what would change.
pub(super) fn diff(change: &Change<'_>, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    // What was changed had been decoded.
    let (Ok(old), Ok(new)) = (decode::decode(change.before), decode::decode(change.after)) else { return Ok(()) };
    cx.print(|out| unified::write(out, change.name, &old, &new, screen))
}

#[cfg(test)]
mod tests {
    use super::{Change, Written, write};
    use crate::base::fs::{self, ReadFs};

    #[test]
    fn a_file_that_somebody_else_changed_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.xml");
        let change = |before| Change { name: "a.xml", path: &path, before, after: b"new" };
        let now = || fs::RealFs.read(&path, 100).unwrap();
        for meanwhile in [&b"other"[..], b"old and more", b""] {
            fs::write_cache(&path, meanwhile).unwrap();
            assert_eq!(write(&change(b"old")).unwrap(), Written::Overtaken);
            assert_eq!(now(), meanwhile);
        }
        fs::write_cache(&path, b"old").unwrap();
        assert_eq!(write(&change(b"old")).unwrap(), Written::Yes);
        assert_eq!(now(), b"new");
        // One that is gone does not come back.
        let gone = folder.path().join("gone.xml");
        assert_eq!(write(&Change { path: &gone, ..change(b"old") }).unwrap(), Written::Overtaken);
        assert!(!fs::exists(&gone));
    }
}
