//! Files that a verb rewrites: shown as a diff, or written completely over exactly the bytes that
//! were read.

use super::render::unified;
use super::secret_check::SecretsChecked;
use crate::base::fs;
use crate::cli::prelude::*;
use crate::syntax::decode;

/// The output of a verb that changes texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RewriteMode {
    /// The files are written.
    Write,
    /// A diff is shown, and nothing is written.
    Diff,
}

/// A file before and after.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileChange<'c> {
    /// Its name for people.
    pub(super) name: &'c str,
    pub(super) path: &'c Path,
    /// Its bytes when it was read.
    pub(super) before: &'c [u8],
    /// Its bytes now.
    pub(super) after: &'c [u8],
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RewriteOutcome {
    /// The file was written.
    Done,
    /// Another program changed the file meanwhile, so it was left alone.
    Overtaken,
}

/// Writes a file like [`write_change`], for a text made from contexts or answers that was checked
/// for secrets.
pub(super) fn write_checked(change: &FileChange<'_>, _: SecretsChecked) -> Result<RewriteOutcome> {
    write_change(change)
}

/// Writes a whole file, unless it changed since it was read. The text is the author's own and is
/// not checked for secrets.
pub(super) fn write_change(change: &FileChange<'_>) -> Result<RewriteOutcome> {
    let mut now = Vec::new();
    // One byte more than the expected length is enough to notice a change.
    let same = fs::read_regular(change.path, change.before.len() as u64 + 1, &mut now).is_ok()
        && now == change.before;
    if !same {
        return Ok(RewriteOutcome::Overtaken);
    }
    fs::write_atomic(change.path, change.after)
        .map_err(|err| CliError::write_failed(change.path, &err))?;
    Ok(RewriteOutcome::Done)
}

/// Writes a new file and the folders that it needs. Its text was checked for secrets together with
/// all files of the command.
pub(super) fn create_file(path: &Path, text: &str, _: SecretsChecked) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|err| CliError::write_failed(folder, &err))?;
    }
    fs::write_atomic(path, text.as_bytes())
        .map(drop)
        .map_err(|err| CliError::write_failed(path, &err))
}

/// Prints a change as a diff.
pub(super) fn print_diff(change: &FileChange<'_>, cx: &mut Cx) -> Result<()> {
    let screen = cx.options.screen;
    // Both texts were decoded before, so that this never fails.
    let (Ok(old), Ok(new)) = (decode::decode(change.before), decode::decode(change.after)) else {
        return Ok(());
    };
    cx.print(|out| unified::write_diff(out, change.name, &old, &new, screen))
}

#[cfg(test)]
#[path = "../../tests/unit/cli/rewrite.rs"]
mod tests;
