//! `--accept`: requests are stored, or stored anew, after what changed was shown.

use crate::base::fs;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Result};
use crate::cli::put::{self, Change};
use std::path::Path;

/// A request that is not the stored one.
#[derive(Debug)]
pub(super) struct Moved<'m> {
    /// Where it belongs, relative to the project.
    pub(super) path: String,
    /// What is stored; `None` for nothing.
    pub(super) before: Option<&'m str>,
    /// The request as it is now.
    pub(super) now: &'m str,
}

/// What standard output is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// What changed in each request.
    Differences,
    /// One document, and nothing else.
    Document,
}

/// Shows each change, where the screen is free for it, and writes it.
pub(super) fn accept(root: &Path, moved: &[Moved<'_>], shown: Shown, cx: &mut Cx) -> Result<()> {
    for one in moved {
        let path = root.join(&one.path);
        put::refuse_links(root, &one.path)?;
        let before = one.before.unwrap_or("");
        let change = Change { name: &one.path, path: &path, before: before.as_bytes(), after: one.now.as_bytes() };
        if shown == Shown::Differences {
            put::diff(&change, cx)?;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|err| CliError::write(folder, &err))?;
        }
        if one.before.is_none() {
            fs::write_atomic(&path, one.now.as_bytes()).map_err(|err| CliError::write(&path, &err))?;
        } else if put::write(&change)? == put::Written::Overtaken {
            return Err(CliError::usage(format!("{} was changed meanwhile, so it was left alone", one.path)));
        }
        let what = if one.before.is_some() { "stored anew" } else { "stored" };
        cx.note(&format!("{what}: {}", one.path));
    }
    Ok(())
}
