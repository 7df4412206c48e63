//! Environment files in a change: masks hide their values in every compared text, and so could hide
//! a relaxation.

use super::state::short_hash;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::cli::revision::ProjectAtRevision;
use crate::eval::gate::{Safeguard, SafeguardKind, Safeguards};
use crate::record::environment_files::environment_files;
use crate::record::secret_scan::{EnvironmentFile, environment_secrets};
use std::collections::BTreeSet;

/// Adds the environment files whose values the base does not have. A file that git ignores belongs
/// to this machine, not to the change.
pub(super) fn add_environment_files(
    then: &ProjectAtRevision,
    now: &CompiledProject,
    before: &mut Safeguards,
    after: &mut Safeguards,
) -> Result<()> {
    let values = |text: &str| -> BTreeSet<String> {
        environment_secrets(text).map(|(_, value)| value).collect()
    };
    for EnvironmentFile { path, text } in environment_files(&now.root) {
        let known = then.text_in_work_tree(&now.root, &path);
        let is_known = values(&text).is_subset(&known.as_deref().map(values).unwrap_or_default());
        if is_known || then.is_ignored(&now.root.join(&path))? {
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
