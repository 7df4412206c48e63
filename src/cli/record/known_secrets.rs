//! Values of secrets that masks know in advance: from this environment, the keys of providers, and
//! the project's own environment files.

use crate::base::fs;
use crate::base::secrets::names::is_secret_variable;
use crate::project::config::Config;
use crate::record::environment_files::secret_values;
use std::path::Path;

/// Returns the values for the project in a folder.
pub(crate) fn known_secrets(root: &Path, config: &Config) -> impl Iterator<Item = String> {
    let named = config
        .providers
        .values()
        .filter_map(|provider| fs::env_var(provider.api_key_env.as_deref()?));
    fs::env_values(is_secret_variable)
        .into_iter()
        .chain(named)
        .chain(secret_values(root))
}
