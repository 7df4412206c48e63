//! A provider's key. Never printed: it has no `Display`, its `Debug` omits the value, and it is
//! removed from messages of a vendor that repeats it.

use crate::kernel::provider::ProviderError;
use std::fmt;

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
