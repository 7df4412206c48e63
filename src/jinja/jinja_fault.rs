//! The reasons why a Jinja text cannot be rendered, as data. Their messages are in the rule
//! `bad-jinja` and in `import`.

use super::environment::JinjaNameKind;
use crate::base::span::Span;

/// A reason why a text cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JinjaFault {
    /// The kind of fault.
    pub kind: JinjaFaultKind,
    /// The span, as byte positions in the text.
    pub span: Span,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JinjaFaultKind {
    /// The text is longer than [`MAX_TEXT_BYTES`](super::static_limits::MAX_TEXT_BYTES).
    TooLarge,
    /// A tag, a comment or raw text reaches beyond [`MAX_COLUMNS`](super::static_limits::MAX_COLUMNS) of
    /// its line.
    LineTooLong,
    /// Blocks nest deeper than [`MAX_BLOCK_DEPTH`](super::static_limits::MAX_BLOCK_DEPTH), or an expression is
    /// longer than [`MAX_CHAIN_LENGTH`](super::static_limits::MAX_CHAIN_LENGTH).
    TooDeep,
    /// Repeated constants produce more than [`MAX_REPEATED_BYTES`](super::static_limits::MAX_REPEATED_BYTES) bytes.
    TooMuchRepeated,
    /// `include`, `extends`, `import`, `from` or `block`: other templates are not available.
    OtherTemplate(&'static str),
    /// minijinja cannot parse it; its own message.
    Syntax(String),
    /// A tuple without parentheses, which Jinja2 can parse and minijinja cannot.
    BareTuple,
    /// An expression that depends on no value of a run fails; minijinja's message.
    Fails(String),
    /// It fails with the default of a parameter; minijinja's message.
    FailsByDefault(String),
    /// It divides by a literal zero.
    ByZero,
    /// A filter has fewer or more arguments than it accepts.
    Arguments {
        /// The filter.
        filter: String,
        /// The number of arguments.
        given: usize,
        /// The minimum number.
        min: usize,
        /// The maximum number.
        max: usize,
    },
    /// The default of a macro's argument uses another argument, which has no value yet.
    TooEarly {
        /// The argument.
        argument: String,
        /// The name used in its default.
        name: String,
    },
    /// A name that minijinja does not have. Reported once, at its first use.
    Unknown {
        /// The kind of the name.
        what: JinjaNameKind,
        /// The name.
        name: String,
        /// The nearest existing name.
        near: Option<String>,
    },
}

/// The fault of a filter's arguments, as a fragment.
pub fn describe_argument_fault(filter: &str, count: usize, min: usize, max: usize) -> String {
    let bounds = match (min, max) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (min, max) if min == max => format!("{min} arguments"),
        (1, usize::MAX) => "at least one argument".to_owned(),
        (0, 1) => "at most one argument".to_owned(),
        (0, max) => format!("at most {max} arguments"),
        (min, max) => format!("{min} to {max} arguments"),
    };
    let has = if count == 0 {
        "none".to_owned()
    } else {
        count.to_string()
    };
    format!("the filter `{filter}` takes {bounds}, and has {has}")
}
