//! The endpoint of a model's requests and its key: from `[models.NAME] provider` and
//! `[providers.NAME]`.
//!
//! A provider's key. Never printed: it has no `Display`, its `Debug` omits the value, and it is
//! removed from messages of a vendor that repeats it.

use super::dialect::ResponseDialect;
use super::read::find_dialect;
use crate::kernel::provider::ProviderError;
use crate::project::config::Config;
use crate::project::models::{ModelConfig, ProviderKind};
use std::fmt;
use std::net::IpAddr;

/// A base URL with its key.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The dialect of the endpoint.
    pub dialect: &'static ResponseDialect,
    /// The base URL, without a trailing slash.
    pub base_url: String,
    /// The key, if one is sent.
    pub key: Option<ProviderKey>,
}

/// The address of a provider, and the environment variable of its key.
#[derive(Clone, Copy, Debug)]
pub struct ProviderAddress<'c> {
    /// The kind of provider.
    pub kind: ProviderKind,
    /// The dialect of the provider.
    pub dialect: &'static ResponseDialect,
    /// The base URL.
    pub base_url: &'c str,
    /// The environment variable of the key, if one is sent.
    pub variable: Option<&'c str>,
}

impl<'c> ProviderAddress<'c> {
    /// Returns the address of a provider, by its name in `[models.NAME] provider` or
    /// `[providers.NAME]`.
    pub fn resolve(name: &str, config: &'c Config) -> Option<Self> {
        let own = config.providers.get(name);
        let kind = ProviderKind::for_provider(name, own)?;
        let dialect = find_dialect(kind.dialect())?;
        let base = own.and_then(|own| own.base_url.as_deref());
        let usual = dialect.key_variable.filter(|_| base.is_none());
        let variable = own.and_then(|own| own.api_key_env.as_deref()).or(usual);
        Some(Self {
            kind,
            dialect,
            base_url: base.unwrap_or(dialect.base_url),
            variable,
        })
    }

    /// Returns true if requests and keys would cross a network unencrypted.
    pub fn is_unencrypted(&self) -> bool {
        let Some(rest) = self.base_url.strip_prefix("http://") else {
            return false;
        };
        let host = rest.split('/').next().unwrap_or(rest);
        let name = host
            .strip_prefix('[')
            .and_then(|host| host.split(']').next())
            .unwrap_or_else(|| host.split(':').next().unwrap_or(host));
        let is_own = name.parse::<IpAddr>().map_or_else(
            |_| name == "localhost" || name.ends_with(".localhost"),
            |ip| ip.is_loopback(),
        );
        !is_own
    }
}

impl Endpoint {
    /// Returns the endpoint of a model; `None` for an unknown provider, which was reported when the
    /// project was read.
    ///
    /// A vendor at its own address requires its key, from the usual variable unless the project
    /// names another. An address that the project sets gets a key only from the variable that the
    /// project names for it.
    ///
    /// # Errors
    /// The variable of the key is not set, or does not contain a valid key.
    pub fn resolve(
        model: &ModelConfig,
        config: &Config,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, ProviderError> {
        let Some(ProviderAddress {
            dialect,
            base_url,
            variable,
            ..
        }) = ProviderAddress::resolve(&model.provider.value, config)
        else {
            return Ok(None);
        };
        let key = variable
            .map(|variable| ProviderKey::from_env(variable, env))
            .transpose()?;
        Ok(Some(Self {
            dialect,
            base_url: base_url.trim_end_matches('/').to_owned(),
            key,
        }))
    }

    /// The host, for messages.
    pub fn host(&self) -> &str {
        let rest = self
            .base_url
            .split_once("://")
            .map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }
}

/// The replacement of a key in a message.
const KEY_MASK: &str = "⟦key⟧";

/// The minimum length of a key that is searched for in messages: shorter ones would match in any
/// text.
const MIN_MASKED_LENGTH: usize = 4;

/// A key of a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct ProviderKey(String);

impl fmt::Debug for ProviderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl ProviderKey {
    /// Returns the key in an environment variable.
    ///
    /// # Errors
    /// The variable is not set, or its value cannot be sent.
    pub fn from_env(
        variable: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let missing = |why| ProviderError::NoKey {
            variable: variable.to_owned(),
            why,
        };
        let value = env(variable).ok_or_else(|| missing("is not set"))?;
        let value = value.trim();
        if value.is_empty() {
            return Err(missing("is empty"));
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(missing("holds characters that no key has"));
        }
        Ok(Self(value.to_owned()))
    }

    /// The key itself, for its header.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns a text without the key.
    pub(super) fn hide_in(&self, text: &str) -> String {
        if self.0.len() < MIN_MASKED_LENGTH {
            text.to_owned()
        } else {
            text.replace(&self.0, KEY_MASK)
        }
    }
}
