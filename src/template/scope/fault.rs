//! What is wrong with the variables of a file, as data. Worded by the rules of family 3xx, nowhere else.

use crate::base::source::Position;
use crate::base::span::Span;
use crate::jinja::fault::JinjaFaultKind;
use crate::syntax::tree::Element;
use crate::template::condition::{ConditionFault, Demand};
use crate::template::expression::ExpressionFault;
use crate::template::names::Unfenced;
use std::borrow::Cow;
use std::sync::Arc;

/// One fault.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// What is wrong.
    pub kind: FaultKind<'a>,
    /// The place to look at.
    pub span: Span,
    /// Where in a text in a file of its own; the place to look at is its `src` then.
    pub inside: Option<Inside>,
}

/// A place in a text in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The file, as `src` has it.
    pub written: Arc<str>,
    /// Where; of a Jinja variable the first place where the word stands.
    pub span: Span,
    /// Line and column of its start.
    pub start: Position,
}

impl<'a> Fault<'a> {
    pub(super) const fn new(kind: FaultKind<'a>, span: Span) -> Self {
        Self { kind, span, inside: None }
    }
}

/// Where a variable is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// `{{…}}` in a text: the span is that of the name.
    Text,
    /// `from="…"`: the span is that of the name.
    From,
    /// A condition: the span is that of the name, or of the whole condition.
    Condition,
    /// A Jinja text: the span is that of the first place where the word stands, or of the whole text.
    Jinja,
    /// A text in a file of its own: the span is that of `src`.
    Source,
}

/// What declares the parameters that a variable is held against.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// The `params` of this function template.
    Function(Element<'a>),
    /// The `parameters` of this task.
    Task(Element<'a>),
}

/// The kinds of faults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FaultKind<'a> {
    /// A variable that nothing binds, where parameters are declared.
    Undeclared {
        /// The variable.
        name: Cow<'a, str>,
        /// The nearest name that is bound there.
        near: Option<String>,
        /// What declares the parameters around it; the task whose rounds would bind it.
        origin: Origin<'a>,
        /// What that task would need for it, where it is the name of a round.
        needs: Option<&'static str>,
    },
    /// The result of a step, or of a task that makes an input, that has not run where it is used.
    NotYet {
        /// The result's name.
        name: Cow<'a, str>,
        /// Where the step or the input says it.
        result: Span,
    },
    /// A declared parameter that nothing reads.
    Unused {
        /// Its name.
        name: String,
        /// What declares it.
        origin: Origin<'a>,
    },
    /// A parameter that may be left out, and has no value then.
    NoDefault {
        /// Its name.
        name: String,
    },
    /// A text that nothing fences is marked as one from outside.
    FromOutside(Unfenced),
    /// An expression that cannot be read.
    Expression {
        /// Why.
        fault: ExpressionFault,
        /// The text element it stands in.
        element: Element<'a>,
    },
    /// A condition that cannot be read.
    Condition(ConditionFault),
    /// A condition takes a value for what its type never is.
    ConditionType {
        /// The value.
        name: String,
        /// Its type.
        found: &'static str,
        /// What it is taken for.
        wanted: Demand,
    },
    /// A Jinja text that cannot be parsed.
    Jinja(JinjaFaultKind),
    /// `from` holds something that is no name.
    BadFrom {
        /// The name inside the braces, when it is written as `{{name}}`.
        meant: Option<String>,
    },
    /// `context_relevance` names an input that the task does not have.
    UnknownInput {
        /// The name.
        name: Cow<'a, str>,
        /// The nearest input.
        near: Option<String>,
    },
    /// A value of a round, or the answer of a step, that reaches no request. It stands at the part that ought to read it.
    Unread(Unread),
}

/// A value that is handed on to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The input at hand: each round of a reduce is the same.
    CurrentInput,
    /// The answers of the inner task.
    CurrentResult,
    /// All that earlier rounds merged.
    Accumulator,
    /// None of these three.
    Reduce,
    /// The answers of the director.
    DirectorResult,
    /// The answers of the evaluator.
    EvaluationFeedback,
    /// Neither of these two.
    Loop,
    /// The answer of a step.
    Step,
}
