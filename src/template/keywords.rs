//! The keywords of attributes, shared by templates and compiled tasks.

use crate::base::words::words;
use serde::{Deserialize, Serialize};

/// Which language a text is a template of.
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

/// Where a text or a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The author's own words.
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
}

words! {
    /// Where a list of files comes from.
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
