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
pub enum ElementKind {
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
pub enum ElementContent {
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
pub enum AttrValues {
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
    pub values: AttrValues,
    /// True if the attribute is required.
    pub required: bool,
    /// A description in one lower-case line.
    pub doc: &'static str,
    /// Names of the same attribute in other languages, for suggestions.
    pub aliases: &'static [&'static str],
    /// The meaning of each of its words, in the order of [`Attr::allowed_words`].
    pub meanings: &'static [&'static str],
}

/// The types of task that a child belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerType {
    /// Every type.
    Any,
    /// This type and the types built on it.
    Type(&'static str),
}

/// A child of an element.
#[derive(Clone, Copy, Debug)]
pub struct ChildSpec {
    /// The kind of the child.
    pub kind: ElementKind,
    /// True if the child may be repeated.
    pub is_repeatable: bool,
    /// The types of task that it belongs to.
    pub owner: OwnerType,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct ElementSpec {
    /// The kind that this row describes.
    pub kind: ElementKind,
    /// Its tag.
    pub tag: &'static str,
    /// A description in one lower-case line.
    pub doc: &'static str,
    /// The content between its tags.
    pub content: ElementContent,
    /// Its attributes, without those that every text element has.
    pub attributes: &'static [Attr],
    /// Its children.
    pub children: &'static [ChildSpec],
    /// The replacement, if the element belongs to an older dialect.
    pub deprecated: Option<&'static str>,
}

/// The meanings of the words of `trust`.
pub(super) const TRUST_MEANINGS: &[&str] = &[
    "an author's own text, or a value that was checked: rendered unchanged",
    "from outside: fenced when rendered, and never part of `system`",
];

/// The attributes of every text element.
pub static TEXT_ATTRIBUTES: &[Attr] = &[
    Attr {
        name: "src",
        values: AttrValues::Name,
        required: false,
        doc: "the file that contains the text, relative to the template's folder",
        aliases: &["file", "path", "href"],
        meanings: &[],
    },
    Attr {
        name: "syntax",
        values: AttrValues::OneOf(&["plain", "jinja"]),
        required: false,
        doc: "`plain` substitutes `{{…}}`; `jinja` has conditions, loops and filters",
        aliases: &[],
        meanings: &[
            "each `{{…}}` is replaced by its value",
            "a Jinja template: conditions, loops and filters",
        ],
    },
    Attr {
        name: "verbatim",
        values: AttrValues::Bool,
        required: false,
        doc: "`true` turns substitution off",
        aliases: &[],
        meanings: &[
            "the text stays as it is: `{{…}}` in it is not replaced",
            "each `{{…}}` is replaced by its value",
        ],
    },
    Attr {
        name: "trust",
        values: AttrValues::OneOf(&["trusted", "untrusted"]),
        required: false,
        doc: "`untrusted` text is fenced when rendered",
        aliases: &[],
        meanings: TRUST_MEANINGS,
    },
];

impl Attr {
    /// The words that it accepts; empty if it accepts any text.
    pub const fn allowed_words(&self) -> &'static [&'static str] {
        match self.values {
            AttrValues::OneOf(words) => words,
            AttrValues::Bool => &["true", "false"],
            AttrValues::Name | AttrValues::Any | AttrValues::Count | AttrValues::Sampling(_) => &[],
        }
    }

    /// The meaning of one of its words.
    pub fn word_meaning(&self, word: &str) -> Option<&'static str> {
        let at = self.allowed_words().iter().position(|own| *own == word)?;
        self.meanings.get(at).copied()
    }

    /// Returns the attribute with alternative names for suggestions.
    pub(super) const fn with_aliases(self, also: &'static [&'static str]) -> Self {
        Self {
            aliases: also,
            ..self
        }
    }

    /// Returns the attribute with the meanings of its words. A wrong number of meanings does not
    /// compile.
    pub(super) const fn with_meanings(self, meanings: &'static [&'static str]) -> Self {
        assert!(
            self.allowed_words().len() == meanings.len(),
            "a meaning for each word"
        );
        Self { meanings, ..self }
    }
}

impl ElementKind {
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
