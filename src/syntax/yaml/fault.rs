//! YAML errors as data. The caller writes the message, since it knows what the text is for.

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Not YAML, in the words of the parser. Nothing after it was read.
    Syntax(String),
    /// A tab where YAML wants spaces. Nothing after it was read.
    Tab,
    /// More than [`DEPTH`] collections open at once. Nothing after it was read.
    Deep,
    /// More than [`WEIGHT`]. Nothing after it was read.
    Heavy,
    /// An alias of an anchor that does not stand before it.
    UnknownAlias(String),
    /// A key that its mapping has already.
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands first.
        first: Span,
    },
    /// A key that is a list or a mapping.
    KeyWithParts,
    /// `<<` of something that is no mapping.
    Merge,
    /// A whole number beyond 64 bits, which no JSON says exactly here.
    Beyond(String),
    /// A second document in one file.
    SecondDocument,
}

impl FaultKind {
    /// Whether the text after it was not read.
    pub const fn ends(&self) -> bool {
        matches!(self, Self::Syntax(_) | Self::Tab | Self::Deep | Self::Heavy)
    }
}
