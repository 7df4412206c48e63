//! The single check between values and the places that read them: decides which places of a request
//! or a command accept untrusted values.
//!
//! Checks the actual values of a run, whatever their source: a step, a subtask, a hinted task, a
//! resumed run. The rules of the compiler find the same faults earlier, but the check does not rely
//! on them.

use crate::context::fault::{Fault, FaultKind, FaultPlace};
#[cfg(feature = "eval")]
use crate::context::fence_marker::FenceMarks;
#[cfg(feature = "eval")]
use crate::context::fill::FilledText;
#[cfg(feature = "eval")]
use crate::context::request::Request;
#[cfg(feature = "eval")]
use crate::kernel::context::Trust;
#[cfg(feature = "eval")]
use crate::kernel::profile::Profile;
#[cfg(feature = "eval")]
use std::ops::Deref;

/// A place that receives values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) enum Destination {
    /// The system text of an agent.
    System,
    /// A text of an agent whose profile has no fences.
    Unfenced,
    /// A command line that a shell interprets.
    #[cfg(feature = "eval")]
    Shell,
    /// An argument or environment variable of a program, which no shell interprets.
    #[cfg(feature = "eval")]
    Program,
}

/// Returns the faults of untrusted values, given by name, that a destination does not accept.
pub(in crate::context) fn refusals<'n>(
    to: Destination,
    place: &FaultPlace,
    untrusted: impl IntoIterator<Item = &'n str>,
) -> impl Iterator<Item = Fault> {
    let refusal = move |name: &str| {
        let name = name.to_owned();
        match to {
            Destination::System => Some(FaultKind::UntrustedInSystem { name }),
            Destination::Unfenced => Some(FaultKind::UntrustedInBare { name }),
            #[cfg(feature = "eval")]
            Destination::Shell => Some(FaultKind::UntrustedInShell { name }),
            #[cfg(feature = "eval")]
            Destination::Program => None,
        }
    };
    untrusted
        .into_iter()
        .filter_map(refusal)
        .map(|kind| Fault::at_place(place.clone(), kind))
}

/// A text that is passed to a program. Created only by [`CommandText::admit`] and from the author's
/// text.
#[cfg(feature = "eval")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandText {
    text: String,
    trust: Trust,
}

#[cfg(feature = "eval")]
impl CommandText {
    /// Returns a filled text, if its destination accepts all values in it.
    pub(super) fn admit(
        filled: &FilledText,
        to: Destination,
        place: &FaultPlace,
    ) -> Result<Self, Vec<Fault>> {
        let refused: Vec<Fault> =
            refusals(to, place, filled.untrusted.iter().map(String::as_str)).collect();
        let trust = if filled.untrusted.is_empty() {
            Trust::Trusted
        } else {
            Trust::Untrusted
        };
        if refused.is_empty() {
            Ok(Self {
                text: filled.text.text().to_owned(),
                trust,
            })
        } else {
            Err(refused)
        }
    }

    /// Creates a text of the author that contains no value.
    pub(super) fn of_author(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            trust: Trust::Trusted,
        }
    }

    /// Trust of the values in it.
    pub(crate) const fn trust(&self) -> Trust {
        self.trust
    }
}

#[cfg(feature = "eval")]
impl Deref for CommandText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Returns a text for the user's message in a running conversation; an untrusted text is fenced.
///
/// # Errors
/// The text is untrusted, and the profile has no fences.
#[cfg(feature = "eval")]
pub(crate) fn fence_message(
    request: &Request<'_>,
    profile: Profile,
    name: &str,
    words: &str,
    trust: Trust,
) -> Result<String, FaultKind> {
    match (trust, profile) {
        (Trust::Trusted, _) => Ok(words.to_owned()),
        (Trust::Untrusted, Profile::Bare) => Err(FaultKind::UntrustedInBare {
            name: name.to_owned(),
        }),
        (Trust::Untrusted, _) => {
            let (open, close) = FenceMarks::for_request(request).fence(name, words);
            Ok([&*open, words, &close].concat())
        }
    }
}
