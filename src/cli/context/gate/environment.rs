//! Environment files that a change brings: masks hide their values in every text that is compared, so they would hide what it loosens.

use super::state::hash;
use crate::cli::context::project::Compiled;
use crate::cli::error::Result;
use crate::cli::revision::Past;
use crate::eval::gate::{Kind, Safeguard, Safeguards};
use crate::record::environment_files::environment_files;
use crate::record::secret_scan::{EnvironmentFile, secrets};
use std::collections::BTreeSet;

/// Adds the files with values that the base does not have. One that git ignores is of this machine, and of no change.
pub(super) fn environment(then: &Past, now: &Compiled, before: &mut Safeguards, after: &mut Safeguards) -> Result<()> {
    let values = |text: &str| -> BTreeSet<String> { secrets(text).map(|(_, value)| value).collect() };
    for EnvironmentFile { path, text } in environment_files(&now.root) {
        let known = then.text_in_work_tree(&now.root, &path);
        let is_known = values(&text).is_subset(&known.as_deref().map(values).unwrap_or_default());
        if is_known || then.is_ignored(&now.root.join(&path))? {
            continue;
        }
        for (side, text) in [(&mut *before, known), (&mut *after, Some(text))] {
            let value = text.map_or_else(|| "none".to_owned(), |text| hash(&text));
            side.add(Kind::Threshold, &path, "values that masks hide", Safeguard::new(&path, value, None));
        }
    }
    Ok(())
}
