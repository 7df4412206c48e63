//! What a file defines and what it points at, as plain owned facts for the index of all files.
//!
//! Small on purpose: a hundred thousand of these are held at once. Never a tree, never a text, never a lookup.

use crate::base::source::Position;
use crate::base::span::Span;
use crate::base::words::words;
use crate::template::shape::Shape;
use std::collections::BTreeMap;

/// What one file defines and needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Tasks, function templates and fragments, in document order.
    pub definitions: Vec<Definition>,
    /// References to definitions, in document order.
    pub references: Vec<Reference>,
    /// Files that are pulled in by `src`, as the schema of an answer, or by `file_paths`.
    pub sources: Vec<Source>,
    /// How names reach the references of a definition, for each that has some; by definition.
    pub flows: Vec<Flow>,
    /// What the schemas of answers say of their form, by the path as written.
    pub schemas: BTreeMap<Box<str>, Shape>,
}

impl FileFacts {
    /// True if two versions of a file define the same names and use them alike, wherever these stand in the text.
    pub fn same_names(&self, other: &Self) -> bool {
        self.without_places() == other.without_places()
    }

    /// The facts with every place at the start of the file, and no size of a definition.
    fn without_places(&self) -> Self {
        let none = Span::default();
        let mut facts = self.clone();
        for definition in &mut facts.definitions {
            definition.span = none;
            definition.bytes = 0;
            for place in [&mut definition.untrusted, &mut definition.open_tool_result, &mut definition.open] {
                *place = place.map(|_| none);
            }
        }
        for reference in &mut facts.references {
            reference.span = none;
            reference.args.iter_mut().for_each(|argument| argument.span = none);
        }
        facts.sources.iter_mut().for_each(|source| source.span = none);
        for flow in &mut facts.flows {
            flow.names.iter_mut().for_each(|name| name.span = none);
            for part in &mut flow.uses {
                part.span = none;
                // The other place is in another file, which did not change.
                part.inside = part.inside.map(|(_, start)| (none, start));
            }
        }
        facts
    }

    /// The form of what is of a type, or held to a schema of the file.
    pub fn shape(&self, kind: &str) -> &Shape {
        self.schemas.get(kind).unwrap_or_else(|| Shape::declared(kind))
    }
}

words! {
    /// What kind of thing a name stands for. Tasks, templates and fragments have a namespace each.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum DefinitionKind {
        /// `<task name="…">` at the root or in a library.
        Task = "task",
        /// `<template name="…">`.
        Template = "template",
        /// `<fragment name="…">`.
        Fragment = "fragment",
    }
}

impl DefinitionKind {
    /// Whether it is a part of a text.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Fragment)
    }
}

/// Something with a name that other files may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its name: as written, else the file's stem.
    pub name: Box<str>,
    /// Where the name stands; the start tag's name where the file's stem names it.
    pub span: Span,
    /// What it takes by name: the parameters of a function template or a task, in order, and then the variables that a task does
    /// not declare; the variables of a fragment.
    pub params: Box<[Param]>,
    /// What a function template returns, or a task answers with, as written: a type or the path of a schema.
    pub returns: Option<Box<str>>,
    /// Where a fragment is marked as a text from outside.
    pub untrusted: Option<Span>,
    /// Whether its root inherits of the context around the place where it is used.
    pub inherits: bool,
    /// Whether its result is from outside whatever it takes, as far as its own file shows it.
    pub is_foreign: bool,
    /// Set if its result is made of the answer of an agent that may call tools and that no mark says was checked; as far as its own file shows it.
    pub has_tool_result: bool,
    /// The place where such an answer gets its name that an agent is shown whose profile is [left open](Unfenced::Open); as far as its own file shows it.
    pub open_tool_result: Option<Span>,
    /// Whether a text that nothing fences is made of the context around the place where it is used, as far as its own file shows it.
    pub context: Option<Unfenced>,
    /// Where a value from outside gets its name that an agent is shown whose profile is [left open](Unfenced::Open); as far as its own file
    /// shows it.
    pub open: Option<Span>,
    /// Bytes of its source, and of the files that its texts are pulled from.
    pub bytes: u64,
    /// Task bodies in it that are written out.
    pub agents: u32,
}

/// A name that a definition takes from where it is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Box<str>,
    /// Whether a call must give it; of a task, whether it has no value where nothing binds it.
    pub required: bool,
    /// Its declared type.
    pub kind: Option<Box<str>>,
    /// Whether its value becomes a part of a text where nothing fences it; of the system text, if of both.
    pub unfenced: Option<Unfenced>,
    /// Whether the result of the definition is made of it.
    pub in_result: bool,
    /// Whether every value of it is held to its type, by which alone it is trusted: it is marked as coming from outside.
    pub is_held: bool,
    /// The parts that are used of its value, such as `.a[0]`.
    pub parts: Box<[Box<str>]>,
}

/// How names reach the references of a definition: what a walk over it binds and meets, in order; and what it uses of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Which definition of the file.
    pub owner: u32,
    /// Its names: those that are bound, those that nothing binds, and the arguments of its calls.
    pub names: Box<[FlowName]>,
    /// What happens.
    pub events: Box<[Event]>,
    /// What is used of the values of names, but for those used as they are where they are fenced.
    pub uses: Box<[PartUse]>,
    /// The name of its result.
    pub result: Option<u32>,
}

/// Where nothing fences a value, so that none from outside may stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfenced {
    /// A system text.
    System,
    /// What is shown to an agent whose profile is `bare`.
    Bare,
    /// A command that a shell reads.
    Shell,
    /// What is shown to an agent whose profile nobody names around it in its definition: fenced or not as the user of the definition says.
    Open,
    /// A text for what is declared as a number or a truth value: by that alone it would be trusted.
    Typed,
}

impl Unfenced {
    /// All, as marks of values stand for them.
    pub const ALL: [Self; 5] = [Self::System, Self::Bare, Self::Shell, Self::Open, Self::Typed];

    /// The first of [`Self::ALL`] whose marks hold.
    pub fn of(marks: &[Vec<bool>; 5], is: impl Fn(&[bool]) -> bool) -> Option<Self> {
        Self::ALL.into_iter().zip(marks).find_map(|(own, marks)| is(marks).then_some(own))
    }
}

/// The certainty with which a run with the defaults of parameters gets to a use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Always.
    #[default]
    Always,
    /// Only if another value has it so.
    Perhaps,
    /// That is asked elsewhere.
    Unknown,
}

/// A part of a value that is used, or a value that is used as one of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartUse {
    /// The name of the value.
    pub name: u32,
    /// The way into it: `.a[0]`.
    pub path: Box<str>,
    /// The type that it is declared to have here.
    pub wanted: Option<Box<str>>,
    /// Whether it is used where nothing fences it.
    pub unfenced: Option<Unfenced>,
    /// True if a run with the defaults gets there.
    pub reached: Reached,
    /// Where it is used.
    pub span: Span,
    /// Where in a text in a file of its own, whose `src` the other place is.
    pub inside: Option<(Span, Position)>,
}

/// A name in a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowName {
    /// The name; empty for an argument, for what an agent sees and for what it answers.
    pub name: Box<str>,
    /// Where it stands in the definition, as [`TrustNode::at`](super::trust::TrustNode::at) has it; empty where nobody asks for it.
    pub at: Box<str>,
    /// The place where it is named.
    pub span: Span,
    /// The type that its values are known to have.
    pub kind: Option<Box<str>>,
    /// Whether its value comes from outside.
    pub untrusted: bool,
    /// The names that its value is made of, each with the part of it that it is.
    pub made_of: Box<[(u32, Box<str>)]>,
    /// The names that it is another one for, or for a part of; of several, each may be the one.
    pub part_of: Box<[(u32, Box<str>)]>,
    /// What its default has, where that is its value unless a run brings another.
    pub default: Option<Box<Shape>>,
    /// The place of the reference whose answer it is.
    pub answer_of: Option<u32>,
}

/// One thing that a walk over a definition meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A name is bound from here on.
    Bind(u32),
    /// Only so many of the names that are bound stay so.
    Unbind(u32),
    /// A reference.
    Reference(Box<Site>),
}

/// A reference as the names around it see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where the name starts that the reference gives.
    pub at: u32,
    /// What becomes of a name that nothing binds here.
    pub free: Free,
    /// The name that is made of what the reference gives; none where somebody checked that.
    pub into: Option<u32>,
    /// Of a task or call: what reaches its agents of the context around the place, and the names that are inherited into that.
    pub context: Option<(u32, u32)>,
    /// Of a fragment: whether it stands where nothing fences a value.
    pub unfenced: Option<Unfenced>,
    /// Where an agent behind it is shown what it is shown whose profile is left open.
    pub open: Option<Unfenced>,
    /// The names of a call's arguments, in order.
    pub args: Box<[u32]>,
}

impl Site {
    /// Where a value stands behind the reference, its profile being known as far as it is here.
    pub fn settle(&self, unfenced: Option<Unfenced>) -> Option<Unfenced> {
        if unfenced == Some(Unfenced::Open) { self.open } else { unfenced }
    }
}

/// What becomes of a name that nothing binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// It is an implicit parameter of the definition.
    Taken,
    /// It has no value: parameters are declared around it.
    Undeclared,
    /// Damage hides what is declared.
    Unknown,
}

words! {
    /// How a definition is used.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ReferenceKind {
        /// `<task ref="…"/>`.
        Ref = "ref",
        /// `<call template="…">`.
        Call = "call",
        /// `<use fragment="…"/>`.
        Use = "use",
    }
}

impl ReferenceKind {
    /// The kind of definition that it leads to.
    pub const fn target(self) -> DefinitionKind {
        match self {
            Self::Ref => DefinitionKind::Task,
            Self::Call => DefinitionKind::Template,
            Self::Use => DefinitionKind::Fragment,
        }
    }
}

/// A use of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// How.
    pub kind: ReferenceKind,
    /// The name it gives.
    pub name: Box<str>,
    /// Where that name stands.
    pub span: Span,
    /// Which definition of the file it stands in.
    pub owner: u32,
    /// The node it stands in: `/steps/1`.
    pub node: Box<str>,
    /// The arguments of a call, in order.
    pub args: Box<[Arg]>,
    /// The JSON type that the result of a call must have, where the place asks for one.
    pub expects: Option<Box<str>>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The parameter it is for; `None` when it goes by position.
    pub name: Option<Box<str>>,
    /// Where its name, else its element's name, stands.
    pub span: Span,
}

/// What a file that a template pulls in is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// A text for the agent: `src`.
    Text,
    /// The JSON Schema of an answer: `schema` of `output_format`, `returns` of a function.
    Schema,
    /// A file that the agent is shown: a `path` of `file_paths`. The registry carries its name alone.
    File,
}

/// A text, the schema of an answer or what an agent is shown, kept in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What is in it.
    pub kind: SourceKind,
    /// As written: relative to the template's folder, a [`SourceKind::File`] to the project's.
    pub path: Box<str>,
    /// Where the path stands.
    pub span: Span,
    /// Which definition of the file it belongs to.
    pub owner: u32,
}
