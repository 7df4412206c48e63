//! Environment files in a change: masks hide their values in every compared text, and so could hide
//! a relaxation.

use super::state::hash;
use crate::cli::context::project::Compiled;
use crate::cli::error::Result;
use crate::cli::revision::Past;
use crate::eval::gate::{Kind, Safeguard, Safeguards};
use crate::record::environment_files::environment_files;
use crate::record::secret_scan::{EnvironmentFile, secrets};
use std::collections::BTreeSet;

/// Adds the environment files whose values the base does not have. A file that git ignores belongs
/// to this machine, not to the change.
pub(super) fn environment(
    then: &Past,
    now: &Compiled,
    before: &mut Safeguards,
    after: &mut Safeguards,
) -> Result<()> {
    let values =
        |text: &str| -> BTreeSet<String> { secrets(text).map(|(_, value)| value).collect() };
    for EnvironmentFile { path, text } in environment_files(&now.root) {
        let known = then.text_in_work_tree(&now.root, &path);
        let is_known = values(&text).is_subset(&known.as_deref().map(values).unwrap_or_default());
        if is_known || then.is_ignored(&now.root.join(&path))? {
            continue;
        }
        for (side, text) in [(&mut *before, known), (&mut *after, Some(text))] {
            let value = text.map_or_else(|| "none".to_owned(), |text| hash(&text));
            side.add(
                Kind::Threshold,
                &path,
                "values that masks hide",
                Safeguard::new(&path, value, None),
            );
        }
    }
    Ok(())
}
