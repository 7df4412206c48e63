//! Where the requests for a model go, and with which key: from `[models.NAME] provider` and `[providers.NAME]`.

use super::dialect::Dialect;
use super::read::dialect;
use super::secret::Secret;
use crate::kernel::provider::ProviderError;
use crate::project::config::Config;
use crate::project::models::{Model, ProviderKind};

/// An address with its key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// What is spoken there.
    pub dialect: &'static Dialect,
    /// The address, without a slash at its end.
    pub base_url: String,
    /// The key, where one is sent.
    pub key: Option<Secret>,
}

impl Endpoint {
    /// The endpoint of a model; `None` where its provider is not known, which was reported when the project was read.
    ///
    /// A vendor at its own address wants its key, from the usual variable unless the project names one. An address of the project's own gets
    /// a key only from the variable that the project names for it.
    ///
    /// # Errors
    /// The variable with the key is not set, or holds what is no key.
    pub fn of(model: &Model, config: &Config, env: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, ProviderError> {
        let name = &model.provider.value;
        let own = config.providers.get(name);
        let kind = own.map(|own| own.kind).or_else(|| ProviderKind::parse(name));
        let Some(dialect) = kind.and_then(|kind| dialect(kind.dialect())) else { return Ok(None) };
        let base = own.and_then(|own| own.base_url.as_deref());
        let usual = dialect.key_variable.filter(|_| base.is_none());
        let variable = own.and_then(|own| own.api_key_env.as_deref()).or(usual);
        let key = variable.map(|variable| Secret::from_env(variable, env)).transpose()?;
        let base_url = base.unwrap_or(dialect.base_url).trim_end_matches('/').to_owned();
        Ok(Some(Self { dialect, base_url, key }))
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }
}
