//! A key. Nothing shows it: it has no `Display`, its `Debug` is a word, and messages of a vendor that repeats it lose it.

use crate::kernel::provider::ProviderError;
use std::fmt;

/// What stands for a key in a message.
const HIDDEN: &str = "⟦key⟧";

/// Characters from which on a key is looked for in messages: shorter ones would be found in any text.
const FOUND: usize = 4;

/// A key of a provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The key that an environment variable holds.
    ///
    /// # Errors
    /// It is not set, or holds what cannot be sent.
    pub fn from_env(variable: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ProviderError> {
        let missing = |why| ProviderError::NoKey { variable: variable.to_owned(), why };
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

    /// The key itself, for the header that it is sent in.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the key.
    pub(super) fn hide_in(&self, text: &str) -> String {
        if self.0.len() < FOUND { text.to_owned() } else { text.replace(&self.0, HIDDEN) }
    }
}
