//! Why a Jinja text cannot be rendered, as data: its words are those of the rule `bad-jinja` and of `import`.

use super::names::JinjaName;
use crate::base::span::Span;

/// Why a text cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JinjaFault {
    /// What is wrong.
    pub kind: JinjaFaultKind,
    /// The place, as byte positions in the text.
    pub span: Span,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JinjaFaultKind {
    /// The text is longer than [`MAX_BYTES`](super::limits::MAX_BYTES).
    TooLarge,
    /// A tag, a comment or raw text reaches beyond [`MAX_COLUMNS`](super::limits::MAX_COLUMNS) of its line.
    LineTooLong,
    /// Blocks nest deeper than [`MAX_BLOCKS`](super::limits::MAX_BLOCKS), or an expression is longer than
    /// [`MAX_CHAIN`](super::limits::MAX_CHAIN).
    TooDeep,
    /// Repeated constants make more than [`MAX_REPEATED`](super::limits::MAX_REPEATED) bytes.
    TooMuchRepeated,
    /// `include`, `extends`, `import`, `from` or `block`: text comes from here alone.
    OtherTemplate(&'static str),
    /// minijinja cannot parse it; its own words.
    Syntax(String),
    /// It divides by a zero that is written there.
    ByZero,
    /// The default of a macro's argument names an argument, which has no value yet.
    TooEarly {
        /// The argument.
        argument: String,
        /// What its default names.
        name: String,
    },
    /// A name that minijinja does not have. Reported once, at its first place.
    Unknown {
        /// What it would be.
        what: JinjaName,
        /// The name.
        name: String,
        /// The nearest one that exists.
        near: Option<String>,
    },
}
