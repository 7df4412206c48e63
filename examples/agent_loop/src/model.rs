//! The model behind the loop: whoever replies to messages.

use std::error::Error;

/// Something said to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// `system` or `user`.
    pub role: &'static str,
    /// What.
    pub text: String,
}

/// Replies to messages: a client of some provider, or a stand-in.
pub trait Model {
    /// The reply.
    ///
    /// # Errors
    /// The provider cannot be reached, or refuses.
    fn reply(&mut self, messages: &[Said]) -> Result<String, Box<dyn Error>>;
}

/// A stand-in that reads one document and then answers. It keeps what it was told.
#[derive(Debug, Default)]
pub struct Stub {
    /// The messages of each turn.
    pub told: Vec<Vec<Said>>,
}

impl Model for Stub {
    fn reply(&mut self, messages: &[Said]) -> Result<String, Box<dyn Error>> {
        self.told.push(messages.to_vec());
        let knows = messages.iter().any(|said| said.text.contains("reset link"));
        let reply = if knows {
            r#"{"answer": "Use the link on the login page."}"#
        } else {
            r#"{"read": "docs/logins.md"}"#
        };
        Ok(reply.to_owned())
    }
}
