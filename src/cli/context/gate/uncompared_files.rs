//! Files in a change that the comparison does not see: environment files, whose values masks hide in
//! every compared text, and files that the repository's commit does not contain, in a submodule or
//! behind a link. The gate lists them.

use super::state::short_hash;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::cli::revision::{ExternalPart, ExternalPartKind, ProjectAtRevision};
use crate::eval::gate::{Safeguard, SafeguardKind, Safeguards};
use crate::record::environment_files::environment_files;
use crate::record::secret_scan::{EnvironmentFile, environment_secrets};
use std::collections::BTreeSet;

/// Adds the environment files whose values the base does not have. A file that git ignores belongs
/// to this machine, not to the change.
pub(super) fn add_environment_files(
    base: &ProjectAtRevision,
    now: &CompiledProject,
    before: &mut Safeguards,
    after: &mut Safeguards,
) -> Result<()> {
    let values = |text: &str| -> BTreeSet<String> {
        environment_secrets(text).map(|(_, value)| value).collect()
    };
    for EnvironmentFile { path, text } in environment_files(&now.root) {
        let known = base.text_in_work_tree(&now.root, &path);
        let is_known = values(&text).is_subset(&known.as_deref().map(values).unwrap_or_default());
        if is_known || base.is_ignored(&now.root.join(&path))? {
            continue;
        }
        for (side, text) in [(&mut *before, known), (&mut *after, Some(text))] {
            let value = text.map_or_else(|| "none".to_owned(), |text| short_hash(&text));
            side.add(
                SafeguardKind::Threshold,
                &path,
                "values that masks hide",
                Safeguard::new(&path, value, None),
            );
        }
    }
    Ok(())
}

/// The files and folders that affect the decision.
#[derive(Debug, Default)]
pub(super) struct DecidingFiles {
    /// Files that were read.
    pub(super) files: BTreeSet<String>,
    /// Those of `files` that are project files, templates or scenarios.
    pub(super) read: BTreeSet<String>,
    /// Folders that are searched for scenarios, templates and accepted results.
    pub(super) folders: BTreeSet<String>,
}

/// Returns the reasons why some of them are unknown, one line for each submodule or link.
pub(super) fn find_doubts(
    parts: &[ExternalPart],
    deciding: &DecidingFiles,
    base: &str,
) -> Vec<String> {
    let doubt = |part: &ExternalPart| {
        let path = deciding.affected_path(part)?;
        let ExternalPart { path: place, .. } = part;
        Some(match part.kind {
            ExternalPartKind::Submodule => format!(
                "{path} lies in the submodule {place}, whose files of {base} are not read, so nothing holds it to what it was: \
                 gate it in its own repository, or keep it in this one"
            ),
            ExternalPartKind::Link if part.is_moved => format!(
                "{path} lies behind the link {place}, which this change adds, removes or leads elsewhere, so it is not compared: \
                 put the files themselves in its place"
            ),
            ExternalPartKind::Link => format!(
                "{path} is a link, and what it leads to is not read in {base}: put the folder itself in its place, or name the other \
                 one in ctxc.toml"
            ),
        })
    };
    parts.iter().filter_map(doubt).collect()
}

/// Describes a file of the base whose content requires a filter of git.
pub(super) fn describe_unfiltered(path: &str, base: &str) -> String {
    format!(
        "{path} goes through a filter of git, so {base} does not hold what is to be compared with it: store it without one"
    )
}

impl DecidingFiles {
    /// Returns a file or folder that is not read because of a submodule or link.
    fn affected_path(
        &self,
        ExternalPart {
            path,
            kind,
            is_moved,
        }: &ExternalPart,
    ) -> Option<&str> {
        let is_below = |one: &str, folder: &str| {
            one.strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let file = self
            .files
            .iter()
            .find(|file| is_below(file, path))
            .filter(|_| *is_moved || *kind == ExternalPartKind::Submodule);
        // A link to a folder is followed at the start of a search only.
        let is_hit = |folder: &&String| match kind {
            ExternalPartKind::Submodule => {
                *is_moved && (is_below(folder, path) || is_below(path, folder))
            }
            ExternalPartKind::Link => is_below(folder, path),
        };
        file.or_else(|| self.folders.iter().find(is_hit))
            .map(String::as_str)
    }
}
