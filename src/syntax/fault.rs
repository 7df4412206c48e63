//! What the reader found wrong, as data. Worded by the rules of family 0xx, nowhere else.

use crate::base::span::Span;

/// One structural fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// The place to look at.
    pub span: Span,
    /// A second place that explains it (where the close was expected, the first of two).
    pub other: Option<Span>,
}

/// The kinds of structural faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// No root element.
    NoRoot,
}
