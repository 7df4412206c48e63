//! Which places a result may be written to: never over something else, never through a link of the project, never into a pipe
//! that nobody named.

use super::error::{CliError, Result};
use super::project::FILE;
use crate::base::fs;
use std::path::Path;

/// Refuses to write an artifact over something else: a template that was named by mistake would be lost. Nothing is lost of an
/// empty file, unless this program reads it under its name.
pub(super) fn refuse_others(path: &Path, artifact: &str, is_one: bool) -> Result<()> {
    let is_input = path.file_name().is_some_and(|name| name == FILE) || path.extension().is_some_and(|ending| ending == "xml");
    let is_empty = fs::head(path, 1).is_ok_and(|head| head.is_some_and(|head| head.is_empty()));
    if is_one || (is_empty && !is_input) {
        return Ok(());
    }
    Err(CliError::usage(format!("{} is no {artifact}, and would be overwritten", path.display()))
        .hint("name another file, or remove this one first"))
}

/// What a project says about files of its own is not written through a link: a repository can carry one that leads anywhere.
pub(super) fn refuse_links(root: &Path, relative: &str) -> Result<()> {
    let mut path = root.to_path_buf();
    for part in Path::new(relative).components() {
        path.push(part);
        if fs::is_link(&path) {
            let shown = path.strip_prefix(root).unwrap_or(&path).display();
            return Err(CliError::usage(format!("{shown} is a link, and {relative} would be written through it"))
                .hint("put a folder or file of the project in its place"));
        }
    }
    refuse_pipe(&path, relative)
}

/// Refuses a place, shown as `name`, that nobody named for this run and that is a pipe or a device: to write into it may wait for
/// ever.
fn refuse_pipe(path: &Path, name: &str) -> Result<()> {
    if fs::is_file(path) || fs::is_dir(path) || !fs::exists(path) {
        return Ok(());
    }
    Err(CliError::usage(format!("{name} is not a regular file, and it would be written into"))
        .hint("put a file in its place, or remove it"))
}
