//! Request bodies of providers, without any call: the same messages in the form of each provider.
//!
//! Every body contains exactly the text of the messages, in their order; the same call gives the same bytes. What a
//! provider does not take is left out, never approximated: the form of the answer is described in the text anyway.

use super::call::{Call, is_said};
use super::message::Message;
use crate::kernel::assembler::Speaker;

/// A kind of request that a provider takes.
#[derive(Debug)]
pub struct Target {
    /// The word of `--as`.
    pub name: &'static str,
    /// Whose it is, for the help.
    pub about: &'static str,
    /// Whether its body names the model; else the address does.
    pub names_model: bool,
    pub(super) body: fn(&[Message], &Call) -> String,
}

/// No message but the system's says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is nothing to ask: every text but the system's is blank, and no provider takes a request without one")]
pub struct EmptyMessages;

impl Target {
    /// The body of the request that says some messages: JSON with an indentation of two.
    ///
    /// # Errors
    /// There is nothing to ask.
    pub fn body(&self, messages: &[Message], call: &Call) -> Result<String, EmptyMessages> {
        if !messages.iter().any(|message| message.speaker != Speaker::System && is_said(message)) {
            return Err(EmptyMessages);
        }
        Ok((self.body)(messages, call))
    }
}
