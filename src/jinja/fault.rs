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
    /// What needs no value of a run fails; minijinja's own words.
    Fails(String),
    /// It fails with the default of a parameter; minijinja's own words.
    FailsByDefault(String),
    /// It divides by a zero that is written there.
    ByZero,
    /// A filter has fewer or more arguments than it takes.
    Arguments {
        /// The filter.
        filter: String,
        /// How many it has.
        given: usize,
        /// How many it takes at least.
        least: usize,
        /// How many it takes at most.
        most: usize,
    },
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

/// What is wrong with the arguments of a filter, as a fragment.
pub fn arguments(filter: &str, given: usize, least: usize, most: usize) -> String {
    let bounds = match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (1, usize::MAX) => "at least one argument".to_owned(),
        (0, 1) => "at most one argument".to_owned(),
        (0, most) => format!("at most {most} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    };
    let has = if given == 0 { "none".to_owned() } else { given.to_string() };
    format!("the filter `{filter}` takes {bounds}, and has {has}")
}
