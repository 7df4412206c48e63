//! What a project compares requests with recorded ones by.

use super::known_secrets::known_secrets;
use crate::eval::masks;
use crate::eval::volatile::volatile;
use crate::project::config::Config;
use crate::record::comparison::Comparison;
use crate::record::redact::Redactor;
use crate::store::secret;
use std::path::Path;

/// The comparison of a project: without what it calls volatile, by its masks and the secrets of this environment. It works where no secret of ctxc's own
/// can be kept: placeholders are then told apart by their kinds alone.
pub(crate) fn comparison(root: &Path, config: &Config) -> Comparison {
    Comparison::new(volatile(config), comparison_masks(root, config))
}

/// The masks of a project, with the secrets of this environment.
pub(crate) fn comparison_masks(root: &Path, config: &Config) -> Redactor {
    Redactor::new(secret::known().unwrap_or_default(), known_secrets(root, config)).replacing(masks(&config.record.mask))
}
