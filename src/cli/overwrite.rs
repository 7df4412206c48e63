//! The places that a result may be written to: never over another file, never through a link of the
//! project, never into a pipe that the user did not name.

use super::error::{CliError, Result};
use super::project::PROJECT_FILE;
use crate::base::fs;
use std::path::Path;

/// Returns an error for a file that is no such artifact and would be overwritten by one, such as a
/// template named by mistake. An empty file may be overwritten, unless its name makes it an input
/// of this program.
pub(super) fn check_foreign_file(path: &Path, artifact: &str) -> Result<()> {
    let is_input = path.file_name().is_some_and(|name| name == PROJECT_FILE)
        || path.extension().is_some_and(|ending| ending == "xml");
    let is_empty =
        fs::read_head(path, 1).is_ok_and(|head| head.is_some_and(|head| head.is_empty()));
    if is_empty && !is_input {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{} is no {artifact}, and would be overwritten",
        path.display()
    ))
    .with_hint("name another file, or remove this one first"))
}

/// Returns an error if a path of the project leads through a link. The project's own settings
/// choose such paths, and a repository can contain a link to anywhere.
pub(super) fn reject_links(root: &Path, relative: &str) -> Result<()> {
    let mut path = root.to_path_buf();
    for part in Path::new(relative).components() {
        path.push(part);
        if fs::is_link(&path) {
            let link = path.strip_prefix(root).unwrap_or(&path).display();
            return Err(CliError::usage(format!(
                "{link} is a link, and {relative} would be written through it"
            ))
            .with_hint("put a folder or file of the project in its place"));
        }
    }
    reject_pipe(&path, relative)
}

/// Returns an error if a path that the user did not name is a pipe or a device: a write to it may
/// wait for ever.
fn reject_pipe(path: &Path, name: &str) -> Result<()> {
    if fs::is_file(path) || fs::is_dir(path) || !fs::exists(path) {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{name} is not a regular file, and it would be written into"
    ))
    .with_hint("put a file in its place, or remove it"))
}
