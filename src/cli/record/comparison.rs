//! The comparison of requests with recorded ones, by the settings of a project.

use crate::eval::compile_masks;
use crate::eval::compiled_patterns::compile_volatile;
use crate::project::config::Config;
use crate::record::comparison::RequestComparison;
use crate::record::redact::Redactor;
use crate::store::secret;

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
