//! A text of a body as data: one string, or parts of text with fragments between them.

use crate::template::keywords::{TextSyntax, Trust};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A text of the author.
pub type AuthorText<'a> = Cow<'a, str>;

/// A text for the agent: either `text` or `parts`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Text<'a> {
    /// The text, `{{…}}` included, without the indentation of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<AuthorText<'a>>,
    /// The text in pieces, with fragments between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<TextPart<'a>>>,
    /// The file that contains the text, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src: Option<AuthorText<'a>>,
    /// `jinja` for a Jinja template.
    #[serde(skip_serializing_if = "is_default")]
    pub syntax: TextSyntax,
    /// `true` if `{{…}}` is not substituted.
    #[serde(skip_serializing_if = "is_default")]
    pub verbatim: bool,
    /// `untrusted` if the text comes from outside: it is fenced when rendered.
    #[serde(skip_serializing_if = "is_default")]
    pub trust: Trust,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(feature = "cli", schemars(rename = "Part"))]
pub enum TextPart<'a> {
    /// A literal text.
    Text {
        /// The text for the agent.
        text: AuthorText<'a>,
    },
    /// A fragment.
    Use {
        /// The fragment whose text is inserted here.
        #[serde(rename = "use")]
        name: AuthorText<'a>,
    },
}

#[cfg(feature = "assemble")]
impl Text<'_> {
    /// Its parts; empty if it is one string.
    pub(crate) fn parts(&self) -> &[TextPart<'_>] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// The fragments that it uses.
    pub(crate) fn used_fragments(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().filter_map(|part| match part {
            TextPart::Use { name } => Some(&**name),
            TextPart::Text { .. } => None,
        })
    }
}

/// Returns true if a value is the default.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
