//! What a project compares requests with recorded ones by.

use crate::eval::masks;
use crate::eval::volatile::volatile;
use crate::project::config::Config;
use crate::record::comparison::Comparison;
use crate::record::redact::Redactor;
use crate::store::secret;

/// The comparison of a project: without what it calls volatile, by its masks and the secrets of this environment. It works where no secret of ctxc's own
/// can be kept: placeholders are then told apart by their kinds alone.
pub(crate) fn comparison(secrets: impl Iterator<Item = String>, config: &Config) -> Comparison {
    Comparison::new(volatile(config), comparison_masks(secrets, config))
}

/// The masks of a project, with the secrets that are known.
pub(crate) fn comparison_masks(secrets: impl Iterator<Item = String>, config: &Config) -> Redactor {
    Redactor::new(secret::known().unwrap_or_default(), secrets).replacing(masks(&config.record.mask))
}
