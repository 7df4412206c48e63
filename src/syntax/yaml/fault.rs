//! YAML errors as data, with plain messages. A caller that knows the purpose of the text may have
//! better ones.

use crate::base::span::Span;

/// The maximum number of collections that are open at once.
pub const MAX_DEPTH: usize = 64;

/// Maximum weight of a tree: one for each node, and one for each 64 bytes that an alias repeats.
pub const MAX_WEIGHT: usize = 1_000_000;

/// A fault in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlFault {
    /// The faulty place.
    pub span: Span,
    /// The kind of fault.
    pub kind: YamlFaultKind,
}

/// The kind of fault in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum YamlFaultKind {
    /// Not YAML, with the parser's message. Nothing after it was read.
    #[error("{0}")]
    Syntax(String),
    /// A tab instead of the spaces that YAML requires. Nothing after it was read.
    #[error("found a tab where YAML expects spaces")]
    Tab,
    /// More than [`MAX_DEPTH`] collections open at once. Nothing after it was read.
    #[error("more than {MAX_DEPTH} lists and mappings are inside each other")]
    TooDeep,
    /// More than [`MAX_WEIGHT`]. Nothing after it was read.
    #[error("the file has more than {MAX_WEIGHT} values")]
    TooHeavy,
    /// An alias of an anchor that does not stand before it.
    #[error("the alias `*{0}` has no anchor before it")]
    UnknownAlias(String),
    /// A duplicate key of a mapping.
    #[error("the key `{key}` stands there twice")]
    DuplicateKey {
        /// The key.
        key: String,
        /// The span of its first occurrence.
        first: Span,
    },
    /// A key that is a list or a mapping.
    #[error("expected a key, found a list or a mapping")]
    KeyWithParts,
    /// `<<` with a value that is not a mapping.
    #[error("`<<` merges a mapping, and this is not one")]
    Merge,
    /// A whole number beyond 64 bits, which JSON cannot represent exactly here.
    #[error("the number {0} has more than 64 bits")]
    NumberTooLarge(String),
    /// A second document in one file.
    #[error("a second document begins here")]
    SecondDocument,
}

impl YamlFaultKind {
    /// Returns true if the text after the fault was not read.
    pub const fn stops_reading(&self) -> bool {
        matches!(
            self,
            Self::Syntax(_) | Self::Tab | Self::TooDeep | Self::TooHeavy
        )
    }
}
