//! YAML errors as data, with plain words. A caller that knows what the text is for may have better ones.

use crate::base::span::Span;

/// Collections open at once.
pub const DEPTH: usize = 64;

/// What a tree may weigh: one for a node, and one for each 64 bytes that an alias repeats.
pub const WEIGHT: usize = 1_000_000;

/// Something wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place to look at.
    pub span: Span,
    /// What.
    pub kind: FaultKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Not YAML, in the words of the parser. Nothing after it was read.
    #[error("{0}")]
    Syntax(String),
    /// A tab where YAML wants spaces. Nothing after it was read.
    #[error("found a tab where YAML expects spaces")]
    Tab,
    /// More than [`DEPTH`] collections open at once. Nothing after it was read.
    #[error("more than {DEPTH} lists and mappings are inside each other")]
    Deep,
    /// More than [`WEIGHT`]. Nothing after it was read.
    #[error("the file has more than {WEIGHT} values")]
    Heavy,
    /// An alias of an anchor that does not stand before it.
    #[error("the alias `*{0}` has no anchor before it")]
    UnknownAlias(String),
    /// A key that its mapping has already.
    #[error("the key `{key}` stands there twice")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands first.
        first: Span,
    },
    /// A key that is a list or a mapping.
    #[error("expected a key, found a list or a mapping")]
    KeyWithParts,
    /// `<<` of something that is no mapping.
    #[error("`<<` merges a mapping, and this is not one")]
    Merge,
    /// A whole number beyond 64 bits, which no JSON says exactly here.
    #[error("the number {0} has more than 64 bits")]
    Beyond(String),
    /// A second document in one file.
    #[error("a second document begins here")]
    SecondDocument,
}

impl FaultKind {
    /// Whether the text after it was not read.
    pub const fn ends(&self) -> bool {
        matches!(self, Self::Syntax(_) | Self::Tab | Self::Deep | Self::Heavy)
    }
}
