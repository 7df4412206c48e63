//! The comparison of requests with recorded ones, by the settings of a project.

use crate::eval::masks;
use crate::eval::volatile::volatile;
use crate::project::config::Config;
use crate::record::comparison::Comparison;
use crate::record::redact::Redactor;
use crate::store::secret;

/// Returns the comparison of a project: ignores its volatile parts, and uses its masks and the
/// secrets of this environment. Works even if ctxc cannot store a secret of its own: placeholders
/// then differ only by their kinds.
pub(crate) fn comparison(secrets: impl Iterator<Item = String>, config: &Config) -> Comparison {
    Comparison::new(volatile(config), comparison_masks(secrets, config))
}

/// Returns the masks of a project, with the known secrets.
pub(crate) fn comparison_masks(secrets: impl Iterator<Item = String>, config: &Config) -> Redactor {
    Redactor::new(secret::known().unwrap_or_default(), secrets)
        .replacing(masks(&config.record.mask))
}
