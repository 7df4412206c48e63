//! The layouts of the segments of a context, by name.

use crate::base::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// A format of segments.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Profile {
        /// Headings of Markdown; files in code fences.
        #[default]
        Markdown = "markdown",
        /// One XML element per segment.
        Xml = "xml",
        /// Titles and blank lines.
        Plain = "plain",
        /// Headings, and `---` between segments, as existing assemblers of this kind write them.
        Sections = "sections",
        /// The author's text alone: no headings, no fences, so nothing untrusted.
        Bare = "bare",
    }
}

impl Profile {
    /// A short description.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Markdown => "Headings of Markdown; files in code fences",
            Self::Xml => "An element for each segment",
            Self::Plain => "Titles and blank lines",
            Self::Sections => "Headings, and `---` between segments",
            Self::Bare => "The author's words and nothing else",
        }
    }

    /// The separator between two segments of one message.
    pub const fn separator(self) -> &'static str {
        match self {
            Self::Markdown | Self::Xml | Self::Plain | Self::Bare => "\n\n",
            Self::Sections => "\n\n---\n\n",
        }
    }
}
