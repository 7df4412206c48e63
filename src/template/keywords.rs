//! The keywords of attributes, shared by templates and compiled tasks.

use crate::base::words::words;
use serde::{Deserialize, Serialize};

/// The template languages of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TextSyntax {
    /// `{{…}}`.
    #[default]
    Plain,
    /// A Jinja template.
    Jinja,
}

/// The origin of a text or a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The author's own text.
    #[default]
    Trusted,
    /// From outside: fenced when rendered, never part of `system`.
    Untrusted,
}

impl Trust {
    /// Parses the value of a `trust` attribute.
    #[cfg(feature = "compile")]
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "trusted" => Some(Self::Trusted),
            "untrusted" => Some(Self::Untrusted),
            _ => None,
        }
    }

    /// Returns the lower trust of two.
    #[cfg(feature = "compile")]
    pub(super) fn at_most(self, other: Self) -> Self {
        if other == Self::Untrusted {
            other
        } else {
            self
        }
    }
}

words! {
    /// The source of a list of files.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum FileSource {
        /// The paths are listed.
        #[default]
        Literal = "literal",
        /// A command lists them.
        Command = "command",
        /// They are described.
        Description = "description",
    }
}
