//! The comparison and the masks of recordings by the settings of a project: the parts of requests to
//! ignore, and the values of secrets that masks know in advance (from this environment, the keys of
//! providers, and the project's own environment files).

use crate::base::fs;
use crate::base::secrets::names::is_secret_variable;
use crate::eval::compile_masks;
use crate::eval::compiled_patterns::compile_volatile;
use crate::project::config::Config;
use crate::record::comparison::RequestComparison;
use crate::record::environment_files::secret_values;
use crate::record::redact::Redactor;
use crate::store::secret;
use std::path::Path;

/// Returns the comparison of a project: ignores its volatile parts, and uses its masks and the
/// secrets of this environment. Works even if ctxc cannot store a secret of its own: placeholders
/// then differ only by their kinds.
pub(crate) fn project_comparison(
    secrets: impl Iterator<Item = String>,
    config: &Config,
) -> RequestComparison {
    RequestComparison::new(compile_volatile(config), comparison_masks(secrets, config))
}

/// Returns the masks of a project, with the known secrets.
pub(crate) fn comparison_masks(secrets: impl Iterator<Item = String>, config: &Config) -> Redactor {
    Redactor::new(secret::stored_secret().unwrap_or_default(), secrets)
        .with_patterns(compile_masks(&config.record.mask))
}

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
