//! Which name stands for what: every binding of a file and every use, each with its place, for those who navigate and rename.
//!
//! Written down by the walk that looks for faults, and only when somebody asks. Owned, without the tree.

use super::used::Used;
use super::walk::Walk;
use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::keywords::TextSyntax;
use crate::template::model::{Str, Task};
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
    within: Within,
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
struct Within {
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
        self.within = Within { text: text.element.inner(), source };
    }

    pub(super) fn used(&mut self, name: &str, span: Span, place: super::Place, target: Target) {
        let how = match (place, &self.within.source) {
            (super::Place::Source, Some((path, syntax))) => How::Source(path.clone(), *syntax),
            (super::Place::Jinja, _) => How::Jinja,
            _ => How::Word,
        };
        let span = if how == How::Jinja { self.within.text } else { span };
        self.note(name, span, how, target);
    }

    pub(super) fn note(&mut self, name: &str, span: Span, how: How, target: Target) {
        self.uses.push(TracedUse { name: name.to_owned(), span, how, target });
    }
}

/// Nothing of this does anything where no names are written down.
impl<'m, 'a> Walk<'m, 'a, '_> {
    pub(super) fn bound(&mut self, name: &Str<'_>, kind: BoundKind, by: Element<'a>) {
        if let Some((trace, _)) = &mut self.traced {
            let (span, body) = (name.span, by.span());
            trace.bindings.push(Bound { name: name.value.to_string(), span, kind, owner: self.owner, body });
        }
    }

    pub(super) fn note(&mut self, name: &Str<'_>, how: How, target: Target) {
        if let Some((trace, _)) = &mut self.traced {
            trace.note(&name.value, name.span, how, target);
        }
    }

    /// An input that has the name of a parameter of its own body is what that parameter is given.
    pub(super) fn join(&mut self, task: &'m Task<'a>, input: &Str<'a>) {
        let Some((trace, _)) = &mut self.traced else { return };
        let mut names = task.parameters.iter().filter_map(|parameter| parameter.name.as_ref());
        if let Some(name) = names.find(|name| name.value == input.value) {
            trace.join(input.span, name.span);
        }
    }

    pub(super) fn enter(&mut self, text: &Text<'_>) {
        if let Some((trace, _)) = &mut self.traced {
            trace.enter(text);
        }
    }

    pub(super) fn used(&mut self, used: &Used<'_>) {
        if self.traced.is_some() {
            let target = self.target(&used.name);
            if let Some((trace, _)) = &mut self.traced {
                trace.used(&used.name, used.span, used.place, target);
            }
        }
    }

    /// The inputs that `context_relevance` names.
    pub(super) fn chosen(&mut self, task: &'m Task<'a>) {
        if self.traced.is_none() {
            return;
        }
        for name in task.relevance.iter().filter_map(|entry| entry.name.as_ref()) {
            let mut inputs = task.inputs.iter().filter_map(|input| input.name.as_ref());
            if let Some(input) = inputs.find(|input| input.value == name.value) {
                self.note(name, How::Again, Target::Bound(input.span));
            }
        }
    }

    /// A task or a fragment takes its names from here.
    pub(super) fn taken(&mut self, reference: Span) {
        let Some(wanted) = self.traced.as_ref().map(|(_, wanted)| *wanted) else { return };
        let target = self.target(wanted);
        if let Some((trace, _)) = &mut self.traced {
            trace.note(wanted, reference, How::Taken, target);
        }
    }

    /// The fragments in a text.
    pub(super) fn taken_in(&mut self, text: &Text<'_>) {
        if self.traced.is_none() {
            return;
        }
        for used in text.element.elements().filter(|child| child.namespace().is_none() && child.name() == "use") {
            if let Some(fragment) = used.attribute("fragment") {
                self.taken(fragment.value_span());
            }
        }
    }

    fn target(&mut self, name: &str) -> Target {
        let found = self.env.find(name).map(|binding| binding.span);
        match found.or_else(|| self.later.find(name).map(|binding| binding.span)) {
            Some(span) if span.is_empty() => Target::Language,
            Some(span) => Target::Bound(span),
            None => Target::Free(self.owner),
        }
    }
}
