//! The ways to lay out the segments of a context, by their names.

use serde::{Deserialize, Serialize};

/// A way to lay segments out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Profile {
    /// Headings of Markdown; files in code fences.
    #[default]
    Markdown,
    /// An element a segment.
    Xml,
    /// Titles and blank lines.
    Plain,
    /// Headings, and `---` between segments, as existing assemblers of this kind write them.
    Sections,
    /// The author's words and nothing else: no headings, no fences, so nothing untrusted.
    Bare,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 5] = [Self::Markdown, Self::Xml, Self::Plain, Self::Sections, Self::Bare];
    /// Their names.
    pub const WORDS: [&'static str; 5] = ["markdown", "xml", "plain", "sections", "bare"];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Xml => "xml",
            Self::Plain => "plain",
            Self::Sections => "sections",
            Self::Bare => "bare",
        }
    }

    /// What it does, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Markdown => "Headings of Markdown; files in code fences",
            Self::Xml => "An element for each segment",
            Self::Plain => "Titles and blank lines",
            Self::Sections => "Headings, and `---` between segments",
            Self::Bare => "The author's words and nothing else",
        }
    }

    /// The profile with a name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.word() == word)
    }

    /// What stands between two segments of one message.
    pub const fn separator(self) -> &'static str {
        match self {
            Self::Markdown | Self::Xml | Self::Plain | Self::Bare => "\n\n",
            Self::Sections => "\n\n---\n\n",
        }
    }
}
