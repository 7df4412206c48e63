//! Faults of the variables of a file, as data. Their messages are written by the rules of family
//! 3xx, nowhere else.

use crate::base::source::Position;
use crate::base::span::Span;
use crate::jinja::jinja_fault::JinjaFaultKind;
use crate::syntax::tree::Element;
use crate::template::condition::{ConditionFault, ValueDemand};
use crate::template::expression::ExpressionFault;
use crate::template::names::Unfenced;
use std::borrow::Cow;
use std::sync::Arc;

/// A fault of a variable.
#[derive(Clone, Debug)]
pub struct ScopeFault<'a> {
    /// The kind of fault.
    pub kind: ScopeFaultKind<'a>,
    /// The span that the finding points at.
    pub span: Span,
    /// The position in a separate text file; `span` is then that of its `src`.
    pub inside: Option<TextFileSpan>,
}

/// A position in a separate text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFileSpan {
    /// The file, as written in `src`.
    pub written: Arc<str>,
    /// The span; for a Jinja variable, that of the first occurrence of its name.
    pub span: Span,
    /// The line and column of its start.
    pub start: Position,
}

impl<'a> ScopeFault<'a> {
    pub(super) const fn new(kind: ScopeFaultKind<'a>, span: Span) -> Self {
        Self {
            kind,
            span,
            inside: None,
        }
    }
}

/// The kind of place where a variable is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum UsePlace {
    /// `{{…}}` in a text: the span is that of the name.
    Text,
    /// `from="…"`: the span is that of the name.
    From,
    /// A condition: the span is that of the name, or of the whole condition.
    Condition,
    /// A Jinja text: the span is that of the first occurrence of the name, or of the whole text.
    Jinja,
    /// A separate text file: the span is that of `src`.
    Source,
}

/// The element with the declarations that a variable is checked against.
#[derive(Clone, Copy, Debug)]
pub enum ParameterOrigin<'a> {
    /// The `params` of this function template.
    Function(Element<'a>),
    /// The `parameters` of this task.
    Task(Element<'a>),
}

/// The kinds of faults of a variable.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ScopeFaultKind<'a> {
    /// An unbound variable where parameters are declared.
    Undeclared {
        /// The variable.
        name: Cow<'a, str>,
        /// The bound name that is most similar.
        near: Option<String>,
        /// The element that declares the parameters, or the task whose rounds would bind the name.
        origin: ParameterOrigin<'a>,
        /// The child that the task lacks, if the name is that of a round.
        needs: Option<&'static str>,
    },
    /// The result of a step, or of the task of an input, that has not run at the place of use.
    NotYet {
        /// The result's name.
        name: Cow<'a, str>,
        /// The span of the name in the step or input.
        result: Span,
    },
    /// A declared parameter that is never read.
    Unused {
        /// Its name.
        name: String,
        /// The element that declares it.
        origin: ParameterOrigin<'a>,
    },
    /// An optional parameter without a default: it has no value if it is omitted.
    NoDefault {
        /// Its name.
        name: String,
    },
    /// An unfenced text that is marked as one from outside.
    FromOutside(Unfenced),
    /// An expression that cannot be parsed.
    Expression {
        /// The fault of the expression.
        fault: ExpressionFault,
        /// The text element that contains it.
        element: Element<'a>,
    },
    /// A condition that cannot be parsed.
    Condition(ConditionFault),
    /// A condition uses a value in a way that its type does not permit.
    ConditionType {
        /// The value.
        name: String,
        /// Its type.
        found: &'static str,
        /// The use that the condition makes of it.
        wanted: ValueDemand,
    },
    /// A Jinja text that cannot be parsed.
    Jinja(JinjaFaultKind),
    /// `from` contains a text that is not a name.
    BadFrom {
        /// The name inside the braces, if it is written as `{{name}}`.
        meant: Option<String>,
    },
    /// `context_relevance` refers to an input that the task does not have.
    UnknownInput {
        /// The name.
        name: Cow<'a, str>,
        /// The input with the most similar name.
        near: Option<String>,
    },
    /// A value of a round, or the answer of a step, that reaches no request. The fault points at
    /// the part that should read it.
    Unread(UnreadValue),
}

/// A value that is passed on but never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadValue {
    /// The current input: without it, all rounds of a reduce are the same.
    CurrentInput,
    /// The answers of the inner task.
    CurrentResult,
    /// The merged results of earlier rounds.
    Accumulator,
    /// All three of the above.
    Reduce,
    /// The answers of the director.
    DirectorResult,
    /// The answers of the evaluator.
    EvaluationFeedback,
    /// Both of the above.
    Loop,
    /// The answer of a step.
    Step,
}
