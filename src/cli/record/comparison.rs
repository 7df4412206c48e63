//! What a project compares requests with recorded ones by.

use crate::base::fs;
use crate::base::secrets::names::is_secret_variable;
use crate::eval::masks;
use crate::eval::volatile::volatile;
use crate::project::config::Config;
use crate::record::comparison::Comparison;
use crate::record::redact::Redactor;
use crate::store::secret;

/// The comparison of a project: without what it calls volatile, by its masks and the secrets of this environment. It works where no secret of ctxc's own
/// can be kept: placeholders are then told apart by their kinds alone.
pub(crate) fn comparison(config: &Config) -> Comparison {
    let named = config.providers.values().filter_map(|provider| fs::env(provider.api_key_env.as_deref()?));
    let secrets = fs::env_values(is_secret_variable).into_iter().chain(named);
    let redactor = Redactor::new(secret::known().unwrap_or_default(), secrets).replacing(masks(&config.record.mask));
    Comparison::new(volatile(config), redactor)
}
