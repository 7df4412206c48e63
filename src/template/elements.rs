//! The element table of the language as data: the children and attributes of every element, and
//! their meanings.
//!
//! Lowering, messages, and the generators of pages and schemas read it. One tag can be two kinds
//! (`input` under `inputs` and under `context_relevance`): a kind is a tag with its parent. Never
//! contains a default of a setting.

use crate::kernel::sampling::Parameter;

/// A tag with its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "each is documented by its row in the table")]
pub enum Kind {
    Task,
    Template,
    Library,
    Fragment,
    Use,
    Call,
    CallArg,
    Cond,
    Case,
    Description,
    Instructions,
    System,
    Criteria,
    Constraints,
    Constraint,
    Provider,
    Model,
    Preferred,
    Fallback,
    Parameters,
    Parameter,
    Inputs,
    Input,
    ContextManagement,
    InheritContext,
    AccumulateData,
    AccumulationFormat,
    FreshContext,
    ContextRelevance,
    RelevanceInput,
    FilePaths,
    Path,
    FilesCommand,
    FilesDescription,
    OutputFormat,
    Steps,
    InitialValue,
    InnerTask,
    ReductionTask,
    Command,
    CommandArg,
    Timeout,
    Env,
    Var,
    Cwd,
    Director,
    Evaluator,
    ScriptExecution,
    MaxIterations,
    TerminationCondition,
    Condition,
    Sampling,
    History,
    Examples,
    Example,
    ExampleInput,
    ExampleOutput,
    OutputSlot,
    InputSource,
    ManualXml,
    DisableReparsing,
    ExpectedOutput,
    ContinuationPolicy,
    ValidationRules,
}

/// The content between an element's tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Elements only.
    Elements,
    /// A text for the agent: `{{…}}`, `<use/>`, and the attributes of a text element.
    Text,
    /// A text for the agent, or elements in its place.
    TextOrElements,
    /// One trimmed word or line.
    Word,
    /// Nothing.
    Empty,
    /// Anything; left unchanged.
    Opaque,
}

/// The values that an attribute accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Any text that is not empty.
    Name,
    /// Any text.
    Any,
    /// `true` or `false`.
    Bool,
    /// A whole number from 1.
    Count,
    /// The values of a sampling parameter.
    Sampling(Parameter),
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// An attribute of an element.
#[derive(Clone, Copy, Debug)]
pub struct Attr {
    /// Its name.
    pub name: &'static str,
    /// The accepted values.
    pub values: Values,
    /// True if the attribute is required.
    pub required: bool,
    /// A description in one lower-case line.
    pub doc: &'static str,
    /// Names of the same attribute in other languages, for suggestions.
    pub also: &'static [&'static str],
    /// The meaning of each of its words, in the order of [`Attr::words`].
    pub meanings: &'static [&'static str],
}

/// The types of task that a child belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Every type.
    Any,
    /// This type and the types built on it.
    Type(&'static str),
}

/// A child of an element.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// The kind of the child.
    pub kind: Kind,
    /// True if the child may be repeated.
    pub many: bool,
    /// The types of task that it belongs to.
    pub of: Of,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The kind that this row describes.
    pub kind: Kind,
    /// Its tag.
    pub tag: &'static str,
    /// A description in one lower-case line.
    pub doc: &'static str,
    /// The content between its tags.
    pub content: Content,
    /// Its attributes, without those that every text element has.
    pub attributes: &'static [Attr],
    /// Its children.
    pub children: &'static [Child],
    /// The replacement, if the element belongs to an older dialect.
    pub deprecated: Option<&'static str>,
}

/// The meanings of the words of `trust`.
pub(super) const TRUST_MEANINGS: &[&str] = &[
    "an author's own words, or a value that was checked: rendered as they are",
    "from outside: fenced when rendered, and never part of `system`",
];

/// The attributes of every text element.
pub static TEXT_ATTRIBUTES: &[Attr] = &[
    Attr {
        name: "src",
        values: Values::Name,
        required: false,
        doc: "the text is kept in this file, relative to the template's folder",
        also: &["file", "path", "href"],
        meanings: &[],
    },
    Attr {
        name: "syntax",
        values: Values::OneOf(&["plain", "jinja"]),
        required: false,
        doc: "`plain` substitutes `{{…}}`; `jinja` has conditions, loops and filters",
        also: &[],
        meanings: &[
            "each `{{…}}` is replaced by its value",
            "a Jinja template: conditions, loops and filters",
        ],
    },
    Attr {
        name: "verbatim",
        values: Values::Bool,
        required: false,
        doc: "`true` turns substitution off",
        also: &[],
        meanings: &[
            "the text stays as it is: `{{…}}` in it is not replaced",
            "each `{{…}}` is replaced by its value",
        ],
    },
    Attr {
        name: "trust",
        values: Values::OneOf(&["trusted", "untrusted"]),
        required: false,
        doc: "`untrusted` text is fenced when rendered",
        also: &[],
        meanings: TRUST_MEANINGS,
    },
];

impl Attr {
    /// The words that it accepts; empty if it accepts any text.
    pub const fn words(&self) -> &'static [&'static str] {
        match self.values {
            Values::OneOf(words) => words,
            Values::Bool => &["true", "false"],
            Values::Name | Values::Any | Values::Count | Values::Sampling(_) => &[],
        }
    }

    /// The meaning of one of its words.
    pub fn meaning(&self, word: &str) -> Option<&'static str> {
        let at = self.words().iter().position(|own| *own == word)?;
        self.meanings.get(at).copied()
    }

    /// Returns the attribute with alternative names for suggestions.
    pub(super) const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Returns the attribute with the meanings of its words. A wrong number of meanings does not
    /// compile.
    pub(super) const fn says(self, meanings: &'static [&'static str]) -> Self {
        assert!(
            self.words().len() == meanings.len(),
            "a meaning for each word"
        );
        Self { meanings, ..self }
    }
}

impl Kind {
    /// True if the element is a task of its own, with settings.
    pub const fn is_body(self) -> bool {
        matches!(
            self,
            Self::Task
                | Self::InnerTask
                | Self::ReductionTask
                | Self::Director
                | Self::Evaluator
                | Self::ScriptExecution
        )
    }
}
