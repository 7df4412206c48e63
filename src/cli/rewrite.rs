//! Files that a verb rewrites: shown as a diff, or written whole over exactly the bytes that were read.

use super::render::unified;
use super::secret_check::Checked;
use crate::base::fs;
use crate::cli::prelude::*;
use crate::syntax::decode;

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

/// The same as [`write`], of a text that is made of contexts or answers, and was checked.
pub(super) fn write_checked(change: &Change<'_>, _: Checked) -> Result<Written> {
    write(change)
}

/// Writes a file as a whole, unless it is no longer the one that was read. Its text is its author's.
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

/// Writes a file that is not there yet, and the folders that it needs. Its text was checked with those of all files of the command.
pub(super) fn create(path: &Path, text: &str, _: Checked) -> Result<()> {
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
#[path = "../../tests/unit/cli/rewrite.rs"]
mod tests;
