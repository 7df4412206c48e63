//! The one door between values and their readers: which place of a request or a command takes untrusted values.
//!
//! The names are those of the values that really came, whoever handed them in: a step, a subtask, a hinted task, a resumed run. Rules
//! at compile time find the same earlier, and nothing here relies on them.

use crate::context::fault::{Fault, FaultKind, Place};
#[cfg(feature = "eval")]
use crate::context::fence_marker::Marks;
#[cfg(feature = "eval")]
use crate::context::fill::Filled;
#[cfg(feature = "eval")]
use crate::context::request::Request;
#[cfg(feature = "eval")]
use crate::kernel::context::Trust;
#[cfg(feature = "eval")]
use crate::kernel::profile::Profile;
#[cfg(feature = "eval")]
use std::ops::Deref;

/// A place that values are put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) enum Destination {
    /// The system text of an agent.
    System,
    /// A text of an agent whose profile has no fences.
    Unfenced,
    /// A line that a shell acts on.
    #[cfg(feature = "eval")]
    Shell,
    /// An argument or a variable of a program, which no shell reads.
    #[cfg(feature = "eval")]
    Program,
}

/// The faults of untrusted values, by their names, that a destination does not take.
pub(in crate::context) fn refusals<'n>(
    to: Destination,
    place: &Place,
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
    untrusted.into_iter().filter_map(refusal).map(|kind| Fault::of(place.clone(), kind))
}

/// A text that a program is given. Only [`CommandText::admit`] and the author's own words make one.
#[cfg(feature = "eval")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandText {
    text: String,
    trust: Trust,
}

#[cfg(feature = "eval")]
impl CommandText {
    /// A filled text, where its destination takes all values in it.
    pub(super) fn admit(filled: &Filled, to: Destination, place: &Place) -> Result<Self, Vec<Fault>> {
        let refused: Vec<Fault> = refusals(to, place, filled.untrusted.iter().map(String::as_str)).collect();
        let trust = if filled.untrusted.is_empty() { Trust::Trusted } else { Trust::Untrusted };
        if refused.is_empty() { Ok(Self { text: filled.text.text().to_owned(), trust }) } else { Err(refused) }
    }

    /// Words of the author's in which no value stands.
    pub(super) fn of_author(text: &str) -> Self {
        Self { text: text.to_owned(), trust: Trust::Trusted }
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

/// What an agent is given in a conversation under way, said by the user: words of others stand in a fence.
///
/// # Errors
/// They are untrusted, and the profile has no fence to put around them.
#[cfg(feature = "eval")]
pub(crate) fn passed_on(
    request: &Request<'_>,
    profile: Profile,
    name: &str,
    words: &str,
    trust: Trust,
) -> Result<String, FaultKind> {
    match (trust, profile) {
        (Trust::Trusted, _) => Ok(words.to_owned()),
        (Trust::Untrusted, Profile::Bare) => Err(FaultKind::UntrustedInBare { name: name.to_owned() }),
        (Trust::Untrusted, _) => {
            let (open, close) = Marks::of(request).fence(name, words);
            Ok([&*open, words, &close].concat())
        }
    }
}
