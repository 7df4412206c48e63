//! The definitions and references of a file, as plain owned facts for the index of all files.
//!
//! Small on purpose: a hundred thousand of these are in memory at once. Never a tree, never a text,
//! never a lookup.

use crate::base::source::Position;
use crate::base::span::Span;
use crate::base::words::words;
use crate::template::shape::ValueShape;
use std::collections::BTreeMap;

/// The definitions of one file and everything that it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Tasks, function templates and fragments, in document order.
    pub definitions: Vec<DefinitionFacts>,
    /// References to definitions, in document order.
    pub references: Vec<ReferenceFacts>,
    /// Files that are read by `src`, as the schema of an answer, or by `file_paths`.
    pub sources: Vec<LinkedFile>,
    /// The flow of names to the references of a definition, for each definition that has some;
    /// ordered by definition.
    pub flows: Vec<DefinitionFlow>,
    /// The shapes of values that conform to the schemas of answers, by the path as written.
    pub schemas: BTreeMap<Box<str>, ValueShape>,
}

impl FileFacts {
    /// True if two versions of a file define the same names and use them alike, wherever these
    /// stand in the text.
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
            for place in [
                &mut definition.untrusted,
                &mut definition.open_tool_result,
                &mut definition.open,
            ] {
                *place = place.map(|_| none);
            }
        }
        for reference in &mut facts.references {
            reference.span = none;
            reference
                .args
                .iter_mut()
                .for_each(|argument| argument.span = none);
        }
        facts
            .sources
            .iter_mut()
            .for_each(|source| source.span = none);
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

    /// Replaces every name by the result of a function of it: first those of definitions, then those
    /// of references.
    pub fn rename(
        &mut self,
        definition: impl Fn(&str) -> String,
        reference: impl Fn(&str) -> String,
    ) {
        for own in &mut self.definitions {
            own.name = definition(&own.name).into();
        }
        for own in &mut self.references {
            own.name = reference(&own.name).into();
        }
    }

    /// The shape of a value of a type, or of a value that must match a schema of the file.
    pub fn shape(&self, kind: &str) -> &ValueShape {
        self.schemas
            .get(kind)
            .unwrap_or_else(|| ValueShape::for_type(kind))
    }
}

words! {
    /// The kind of definition that a name refers to. Tasks, templates and fragments each have their
    /// own namespace.
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
    /// True if the definition is a part of a text.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Fragment)
    }
}

/// A named definition that other files may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionFacts {
    /// The kind of definition.
    pub kind: DefinitionKind,
    /// Its name: as written, else the file's stem.
    pub name: Box<str>,
    /// The span of the name, or of the start tag's name if the file's stem is the name.
    pub span: Span,
    /// The names that it takes: the parameters of a function template or a task, in order, followed
    /// by the variables that a task does not declare; the variables of a fragment.
    pub params: Box<[Param]>,
    /// The type or the path of a schema that a function template returns, or a task answers with,
    /// as written.
    pub returns: Option<Box<str>>,
    /// The span of a fragment's mark as a text from outside.
    pub untrusted: Option<Span>,
    /// True if its root inherits context from the place where it is used.
    pub inherits: bool,
    /// True if its result comes from outside regardless of its arguments, as far as its own file
    /// shows.
    pub has_untrusted_result: bool,
    /// True if its result contains the answer of an agent that may call tools, and no mark declares
    /// it checked; as far as its own file shows.
    pub has_tool_result: bool,
    /// The span where such an answer is named, if it is rendered for an agent whose profile is
    /// [left open](Unfenced::Open); as far as its own file shows.
    pub open_tool_result: Option<Span>,
    /// The place of an unfenced text that contains context from around the place of use, as far as
    /// its own file shows.
    pub context: Option<Unfenced>,
    /// The span where a value from outside is named, if it is rendered for an agent whose profile
    /// is [left open](Unfenced::Open); as far as its own file shows.
    pub open: Option<Span>,
    /// The size in bytes of its source and of the files that its texts are read from.
    pub bytes: u64,
    /// The number of task bodies written in it.
    pub agents: u32,
}

/// A name that a definition takes from the place where it is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: Box<str>,
    /// True if a call must pass it; for a task, if it has no value unless a binding gives one.
    pub required: bool,
    /// Its declared type.
    pub kind: Option<Box<str>>,
    /// The place where its value becomes part of an unfenced text; the system text, if both apply.
    pub unfenced: Option<Unfenced>,
    /// True if the result of the definition is made of it.
    pub in_result: bool,
    /// True if it is marked as coming from outside and is trusted only because each of its values
    /// is checked against its type.
    pub is_trusted_by_type: bool,
    /// The parts of its value that are used, such as `.a[0]`.
    pub parts: Box<[Box<str>]>,
}

/// The flow of names to the references of a definition: the bindings and references that a walk
/// over it meets, in order, and the uses of their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionFlow {
    /// The index of the definition in the file.
    pub owner: u32,
    /// Its names: bound names, unbound names, and the arguments of its calls.
    pub names: Box<[FlowName]>,
    /// The events of the walk, in order.
    pub events: Box<[FlowEvent]>,
    /// The uses of the values of names, without those that are used whole where they are fenced.
    pub uses: Box<[PartUse]>,
    /// The name of its result.
    pub result: Option<u32>,
}

/// A place where a value is not fenced, so that no value from outside may stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfenced {
    /// A system text.
    System,
    /// A text rendered for an agent whose profile is `bare`.
    Bare,
    /// A command that a shell reads.
    Shell,
    /// A text rendered for an agent whose profile is not set inside its definition: the user of the
    /// definition decides if it is fenced.
    Open,
    /// A text for a value that is declared as a number or a boolean, and would be trusted only
    /// because of that type.
    Typed,
}

impl Unfenced {
    /// All places, in the order in which marks of values refer to them.
    pub const ALL: [Self; 5] = [
        Self::System,
        Self::Bare,
        Self::Shell,
        Self::Open,
        Self::Typed,
    ];

    /// Returns the first of [`Self::ALL`] with marks that satisfy `is`.
    pub fn first_marked(marks: &[Vec<bool>; 5], is: impl Fn(&[bool]) -> bool) -> Option<Self> {
        Self::ALL
            .into_iter()
            .zip(marks)
            .find_map(|(own, marks)| is(marks).then_some(own))
    }
}

/// The certainty with which a run with the default arguments reaches a use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UseCertainty {
    /// Always.
    #[default]
    Always,
    /// Only if another value permits it.
    Perhaps,
    /// Determined elsewhere.
    Unknown,
}

/// A use of a part of a value, or of a value as one of a certain type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartUse {
    /// The name of the value.
    pub name: u32,
    /// The path into the value, such as `.a[0]`.
    pub path: Box<str>,
    /// The type that the value is declared to have here.
    pub expected_type: Option<Box<str>>,
    /// The place of the use, if it is not fenced.
    pub unfenced: Option<Unfenced>,
    /// The certainty with which a run with the default arguments reaches it.
    pub reached: UseCertainty,
    /// The span of the use.
    pub span: Span,
    /// The span and position in a separate text file; `span` is then that of its `src`.
    pub inside: Option<(Span, Position)>,
}

/// A name in a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowName {
    /// The name; empty for an argument, for the context of an agent and for its answer.
    pub name: Box<str>,
    /// Its path in the definition, as in [`TrustNode::at`](super::trust::TrustNode::at); empty if
    /// it is never looked up.
    pub at: Box<str>,
    /// The span where it is named.
    pub span: Span,
    /// The type that all its values have.
    pub kind: Option<Box<str>>,
    /// True if its value comes from outside.
    pub untrusted: bool,
    /// The names that its value is made of, each with the part of it that is used.
    pub made_of: Box<[(u32, Box<str>)]>,
    /// The names that it stands for, as a whole or as a part; if several, it may be any of them.
    pub part_of: Box<[(u32, Box<str>)]>,
    /// The shape of its default, if the default is its value unless a run passes another.
    pub default: Option<Box<ValueShape>>,
    /// The offset of the reference whose answer it is.
    pub answer_of: Option<u32>,
}

/// An event that a walk over a definition meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowEvent {
    /// A name is bound from here on.
    Bind(u32),
    /// Only this number of bound names stay bound.
    Unbind(u32),
    /// A reference.
    Reference(Box<ReferenceSite>),
}

/// A reference, with the names visible at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceSite {
    /// The offset of the referenced name.
    pub at: u32,
    /// The treatment of a name that is not bound here.
    pub free: UnboundName,
    /// The name that the result of the reference is part of; none if the result is marked as
    /// checked.
    pub into: Option<u32>,
    /// For a task or call: the name of the context that reaches its agents from around the place,
    /// and the number of names inherited into it.
    pub context: Option<(u32, u32)>,
    /// For a fragment: the place, if it is not fenced.
    pub unfenced: Option<Unfenced>,
    /// The place of a text that is rendered for an agent behind the reference whose profile is left
    /// open.
    pub open: Option<Unfenced>,
    /// The names of a call's arguments, in order.
    pub args: Box<[u32]>,
}

impl ReferenceSite {
    /// Returns the unfenced place of a text behind the reference. If its agent leaves the profile
    /// open, the profile that the agents here render decides.
    pub fn resolve_unfenced(&self, unfenced: Option<Unfenced>) -> Option<Unfenced> {
        if unfenced == Some(Unfenced::Open) {
            self.open
        } else {
            unfenced
        }
    }
}

/// The treatment of a name that is not bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnboundName {
    /// It is an implicit parameter of the definition.
    Taken,
    /// It has no value: parameters are declared.
    Undeclared,
    /// Damaged markup hides the declarations.
    Unknown,
}

words! {
    /// The form of a reference to a definition.
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
    /// The kind of definition that it refers to.
    pub const fn definition_kind(self) -> DefinitionKind {
        match self {
            Self::Ref => DefinitionKind::Task,
            Self::Call => DefinitionKind::Template,
            Self::Use => DefinitionKind::Fragment,
        }
    }
}

/// A use of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceFacts {
    /// The form of the reference.
    pub kind: ReferenceKind,
    /// The referenced name.
    pub name: Box<str>,
    /// The span of that name.
    pub span: Span,
    /// The index of the definition that contains it.
    pub owner: u32,
    /// The node that contains it: `/steps/1`.
    pub node: Box<str>,
    /// The arguments of a call, in order.
    pub args: Box<[Arg]>,
    /// The JSON type that the result of a call must have, if its place requires one.
    pub expects: Option<Box<str>>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The parameter's name; `None` if the argument is positional.
    pub name: Option<Box<str>>,
    /// The span of its name, or of its element's name.
    pub span: Span,
}

/// The use of a file that a template refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkedFileKind {
    /// A text for the agent: `src`.
    Text,
    /// The JSON Schema of an answer: `schema` of `output_format`, `returns` of a function.
    Schema,
    /// A file that the agent receives: a `path` of `file_paths`. The registry contains only its
    /// path.
    File,
}

/// A reference to a separate file: a text, the schema of an answer, or a file for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedFile {
    /// The use of the file.
    pub kind: LinkedFileKind,
    /// The path as written: relative to the template's folder, or to the project's for a
    /// [`LinkedFileKind::File`].
    pub path: Box<str>,
    /// The span of the path.
    pub span: Span,
    /// The index of the definition that it belongs to.
    pub owner: u32,
}
