//! Which name stands for what: every binding of a file and every use, each with its place, for those who navigate and rename.
//!
//! Written down by the walk that looks for faults, and only when somebody asks. Owned, without the tree.

use super::fault::Place;
use crate::base::span::Span;
use crate::template::keywords::TextSyntax;
use crate::template::parts::Text;
use std::collections::BTreeMap;

/// The names of a file.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// What gives names to values, in the order of the walk.
    pub bindings: Vec<Bound>,
    /// What says those names, in the order of the walk.
    pub uses: Vec<TracedUse>,
    /// Inputs that hand a parameter of the same body its value: by the place of the input's name that of the parameter's.
    joined: BTreeMap<Span, Span>,
    within: TextCursor,
}

/// What gives a name to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: BoundKind,
    /// Which definition of the file it belongs to.
    pub owner: u32,
    /// The element that holds it: the task body, the function template.
    pub body: Span,
}

/// What a name that is bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BoundKind {
    /// A parameter of the definition: others hand it over.
    Outer,
    /// A parameter of a body inside.
    Parameter,
    /// An input.
    Input,
    /// The result of a step.
    Step,
}

impl BoundKind {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Outer | Self::Parameter => "parameter",
            Self::Input => "input",
            Self::Step => "result of a step",
        }
    }
}

/// What a use stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The binding at this place.
    Bound(Span),
    /// A name that the language gives: `current_input`, `director_result`.
    Language,
    /// Nothing in this definition of the file: an implicit parameter, or a mistake.
    Free(u32),
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedUse {
    /// The name.
    pub name: String,
    /// The name's place, or that of what it stands in: see [`How`].
    pub span: Span,
    /// How it is used.
    pub how: How,
    /// What it stands for.
    pub target: Target,
}

/// How a name is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// In `{{…}}`, `from` or a condition: the span is that of the name, or of the words around it where references hide it.
    Word,
    /// In a Jinja text: the span is that of the text.
    Jinja,
    /// In a text of its own, by the path as written: the span is that of `src`.
    Source(Box<str>, TextSyntax),
    /// Where the same variable is declared once more.
    Again,
    /// Taken by name by the task or the fragment that is used here: the span is that of the other's name.
    Taken,
}

/// The text that is being read.
#[derive(Clone, Debug, Default)]
struct TextCursor {
    text: Span,
    source: Option<(Box<str>, TextSyntax)>,
}

impl Trace {
    /// What stands at the end of joins.
    pub fn settled(&self, target: Target) -> Target {
        match target {
            Target::Bound(span) => Target::Bound(self.joined.get(&span).copied().unwrap_or(span)),
            Target::Language | Target::Free(_) => target,
        }
    }

    pub(super) fn join(&mut self, input: Span, parameter: Span) {
        self.joined.insert(input, parameter);
    }

    pub(super) fn enter(&mut self, text: &Text<'_>) {
        let source = text.src.as_ref().map(|src| (Box::from(&*src.value), text.syntax));
        self.within = TextCursor { text: text.element.inner(), source };
    }

    pub(super) fn used(&mut self, name: &str, span: Span, place: Place, target: Target) {
        let how = match (place, &self.within.source) {
            (Place::Source, Some((path, syntax))) => How::Source(path.clone(), *syntax),
            (Place::Jinja, _) => How::Jinja,
            _ => How::Word,
        };
        let span = if how == How::Jinja { self.within.text } else { span };
        self.note(name, span, how, target);
    }

    pub(super) fn note(&mut self, name: &str, span: Span, how: How, target: Target) {
        self.uses.push(TracedUse { name: name.to_owned(), span, how, target });
    }
}
