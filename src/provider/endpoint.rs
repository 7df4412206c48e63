//! Where the requests for a model go, and with which key: from `[models.NAME] provider` and `[providers.NAME]`.

use super::dialect::Dialect;
use super::read::dialect;
use super::secret::Secret;
use crate::kernel::provider::ProviderError;
use crate::project::config::Config;
use crate::project::models::{Model, ProviderKind};
use std::net::IpAddr;

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

/// Where the requests for a provider go, and the variable whose value goes there as a key.
#[derive(Clone, Copy, Debug)]
pub struct Address<'c> {
    /// What kind of provider it is.
    pub kind: ProviderKind,
    /// What is spoken there.
    pub dialect: &'static Dialect,
    /// The address.
    pub base_url: &'c str,
    /// The variable with the key, where one is sent.
    pub variable: Option<&'c str>,
}

impl<'c> Address<'c> {
    /// The address of a provider by the name that `[models.NAME] provider` or `[providers.NAME]` has for it.
    pub fn of(name: &str, config: &'c Config) -> Option<Self> {
        let own = config.providers.get(name);
        let kind = ProviderKind::of(name, own)?;
        let dialect = dialect(kind.dialect())?;
        let base = own.and_then(|own| own.base_url.as_deref());
        let usual = dialect.key_variable.filter(|_| base.is_none());
        let variable = own.and_then(|own| own.api_key_env.as_deref()).or(usual);
        Some(Self { kind, dialect, base_url: base.unwrap_or(dialect.base_url), variable })
    }

    /// Whether requests and keys go there over a network that everybody on the way can read.
    pub fn is_unencrypted(&self) -> bool {
        let Some(rest) = self.base_url.strip_prefix("http://") else { return false };
        let host = rest.split('/').next().unwrap_or(rest);
        let name = host
            .strip_prefix('[')
            .and_then(|host| host.split(']').next())
            .unwrap_or_else(|| host.split(':').next().unwrap_or(host));
        let is_own =
            name.parse::<IpAddr>().map_or_else(|_| name == "localhost" || name.ends_with(".localhost"), |ip| ip.is_loopback());
        !is_own
    }
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
        let Some(Address { dialect, base_url, variable, .. }) = Address::of(&model.provider.value, config) else {
            return Ok(None);
        };
        let key = variable.map(|variable| Secret::from_env(variable, env)).transpose()?;
        Ok(Some(Self { dialect, base_url: base_url.trim_end_matches('/').to_owned(), key }))
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }
}
