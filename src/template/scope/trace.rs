//! The bindings and uses of all names in a file, with their positions, for navigation and renaming.
//!
//! Recorded by the same walk that finds faults, only on request. Owned, without the tree.

use super::fault::UsePlace;
use crate::base::span::Span;
use crate::template::keywords::TextSyntax;
use crate::template::parts::TextElement;
use std::collections::BTreeMap;

/// The names of a file.
#[derive(Clone, Debug, Default)]
pub struct NameTrace {
    /// The bindings, in the order of the walk.
    pub bindings: Vec<TracedBinding>,
    /// The uses, in the order of the walk.
    pub uses: Vec<TracedUse>,
    /// Inputs that are the value of a parameter of the same body: the span of the input's name to
    /// that of the parameter's.
    joined: BTreeMap<Span, Span>,
    text: CurrentText,
}

/// A binding of a name to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedBinding {
    /// The name.
    pub name: String,
    /// The span of the name.
    pub span: Span,
    /// The kind of binding.
    pub kind: TracedBindingKind,
    /// The index of the definition that it belongs to.
    pub owner: u32,
    /// The element that contains it: the task body or the function template.
    pub body: Span,
}

/// The kind of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TracedBindingKind {
    /// A parameter of the definition, passed from outside.
    Outer,
    /// A parameter of an inner body.
    Parameter,
    /// An input.
    Input,
    /// The result of a step.
    Step,
}

impl TracedBindingKind {
    /// A description for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Outer | Self::Parameter => "parameter",
            Self::Input => "input",
            Self::Step => "result of a step",
        }
    }
}

/// The target that a use refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UseTarget {
    /// The binding with this span.
    Bound(Span),
    /// A name defined by the language: `current_input`, `director_result`.
    Language,
    /// No binding in this definition of the file: an implicit parameter, or a mistake.
    Free(u32),
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedUse {
    /// The name.
    pub name: String,
    /// The span of the name, or of the text that contains it: see [`UseForm`].
    pub span: Span,
    /// The form of the use.
    pub form: UseForm,
    /// The target of the use.
    pub target: UseTarget,
}

/// The form of a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseForm {
    /// In `{{…}}`, `from` or a condition: the span is that of the name, or of the surrounding text
    /// if references in it hide the position.
    Word,
    /// In a Jinja text: the span is that of the text.
    Jinja,
    /// In a separate text file, with its path as written: the span is that of `src`.
    Source(Box<str>, TextSyntax),
    /// A second declaration of the same variable.
    Again,
    /// The referenced task or fragment takes the name: the span is that of the reference's name.
    Taken,
}

/// The text that the walk is in.
#[derive(Clone, Debug, Default)]
struct CurrentText {
    /// The span of the content of its element.
    span: Span,
    /// The path as written and the syntax, if it is in a separate file.
    source: Option<(Box<str>, TextSyntax)>,
}

impl NameTrace {
    /// Resolves joined inputs to their parameters.
    pub fn resolve_target(&self, target: UseTarget) -> UseTarget {
        match target {
            UseTarget::Bound(span) => {
                UseTarget::Bound(self.joined.get(&span).copied().unwrap_or(span))
            }
            UseTarget::Language | UseTarget::Free(_) => target,
        }
    }

    /// Records that an input is the value of a parameter of the same body.
    pub(super) fn join_parameter(&mut self, input: Span, parameter: Span) {
        self.joined.insert(input, parameter);
    }

    /// Enters a text: the uses recorded from now on are in it.
    pub(super) fn enter_text(&mut self, text: &TextElement<'_>) {
        let source = text
            .src
            .as_ref()
            .map(|src| (Box::from(&*src.value), text.syntax));
        self.text = CurrentText {
            span: text.element.inner(),
            source,
        };
    }

    /// Records a use of a name in the current text. The position inside a Jinja text is not known
    /// here: such a use has the span of the text.
    pub(super) fn record_variable(
        &mut self,
        name: &str,
        span: Span,
        place: UsePlace,
        target: UseTarget,
    ) {
        let form = match (place, &self.text.source) {
            (UsePlace::Source, Some((path, syntax))) => UseForm::Source(path.clone(), *syntax),
            (UsePlace::Jinja, _) => UseForm::Jinja,
            _ => UseForm::Word,
        };
        let span = if form == UseForm::Jinja {
            self.text.span
        } else {
            span
        };
        self.record_use(name, span, form, target);
    }

    /// Records a use of a name.
    pub(super) fn record_use(&mut self, name: &str, span: Span, form: UseForm, target: UseTarget) {
        self.uses.push(TracedUse {
            name: name.to_owned(),
            span,
            form,
            target,
        });
    }
}
