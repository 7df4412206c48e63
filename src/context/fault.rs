//! The reasons why a context cannot be assembled, as data: the definition, node and field of each
//! fault, and the missing value.

use crate::base::number::format_thousands;
use crate::kernel::budget::OverBudget;
use crate::kernel::context::Origin;
use crate::registry::ReadError;
use serde::Serialize;
use std::fmt;
use std::ops::Deref;

/// A place in a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct FaultPlace {
    /// The task, template or fragment.
    pub definition: String,
    /// The node; `/` for the definition itself and for fragments.
    pub node: String,
    /// The field, such as `instructions` or `examples/0/input`; empty for the node as a whole.
    pub field: String,
}

impl fmt::Display for FaultPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.definition)?;
        if self.node != "/" {
            write!(f, " {}", self.node)?;
        }
        if self.field.is_empty() {
            Ok(())
        } else {
            write!(f, ", {}", self.field)
        }
    }
}

/// A reason why a context cannot be assembled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A text or `from` names a variable without a value.
    #[error("`{name}` has no value")]
    Missing {
        /// The variable.
        name: String,
        /// The origin that would supply the value.
        origin: MissingFrom,
    },
    /// A result is passed in under a name that several nodes share, or both by name and by path.
    #[error("{}", describe_ambiguity(name, paths))]
    AmbiguousResult {
        /// The name.
        name: String,
        /// Their paths.
        paths: Vec<String>,
    },
    /// The value has no part at the path.
    #[error("`{path}` leads nowhere: the value of `{name}` is {found}")]
    NoPart {
        /// The variable.
        name: String,
        /// The whole path.
        path: String,
        /// The type of the value.
        found: &'static str,
    },
    /// A value that a run receives has another type than its parameter.
    #[error("the value of `{name}` is {found}, and its type is `{kind}`")]
    WrongType {
        /// The parameter.
        name: String,
        /// Its declared type.
        kind: String,
        /// The type of the value.
        found: &'static str,
    },
    /// A `syntax="jinja"` text cannot be rendered; contains minijinja's own message.
    #[error("the Jinja text cannot be rendered: {detail}")]
    Jinja {
        /// minijinja's message.
        detail: String,
        /// The line of the text, from 1.
        line: usize,
        /// The part of that line that the fault is about, if it is known.
        words: Option<String>,
    },
    /// A text exceeds the maximum size of a text.
    #[error("the text is larger than {limit} bytes")]
    TooLarge {
        /// Bytes.
        limit: usize,
    },
    /// Rendering a Jinja text takes more steps than allowed.
    #[error("the Jinja text takes more than {limit} steps: a loop without an end?")]
    TooLong {
        /// Steps of its machine.
        limit: u64,
    },
    /// A Jinja text copies, compares or stores more than allowed, or nests values too deeply.
    #[error(
        "the Jinja text handles more than {limit} bytes in all, or nests lists and objects more than 64 deep"
    )]
    TooCostly {
        /// Bytes; an entry of a list counts as 32.
        limit: u64,
    },
    /// A text uses a fragment that the registry does not have.
    #[error("there is no fragment `{name}`")]
    NoFragment {
        /// The fragment.
        name: String,
    },
    /// Fragments use each other in a circle, or too deeply.
    #[error("fragments use each other more than {limit} deep at `{name}`")]
    TooDeep {
        /// The fragment.
        name: String,
        /// Levels.
        limit: usize,
    },
    /// A file of `file_paths` cannot be read.
    #[error("{path} cannot be read: {reason}")]
    File {
        /// Relative to the project root.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A source of fresh context failed.
    #[error("the lookup of fresh context failed: {reason}")]
    Source {
        /// The reason.
        reason: String,
    },
    /// The objective is too long for a text that is never cut.
    #[error("the objective has {} tokens, more than the {} that it may have: it is never cut", format_thousands(*tokens), format_thousands(*limit))]
    LongObjective {
        /// Its tokens.
        tokens: usize,
        /// The maximum.
        limit: usize,
    },
    /// A message of the conversation stands at a place where no provider accepts it.
    #[error("`{id}` of the conversation: {why}")]
    Conversation {
        /// The message.
        id: String,
        /// The reason.
        why: String,
    },
    /// A result violates the schema that would make a part of it trusted.
    #[error(
        "`{part}` of the result `{name}` is not what its schema requires there: {takes}; only then would it be trusted"
    )]
    ResultForm {
        /// The result.
        name: String,
        /// The part of it.
        part: String,
        /// A description of the values that the schema accepts there.
        takes: String,
    },
    /// An untrusted value would become part of the system text.
    #[error("`{name}` is untrusted and would become part of the system text")]
    UntrustedInSystem {
        /// The value.
        name: String,
    },
    /// An untrusted value would be read by a shell.
    #[error(
        "`{name}` is untrusted and would become part of a line that a shell reads: give it to the command as an argument, or in a \
         variable of `<env>`"
    )]
    UntrustedInShell {
        /// The value.
        name: String,
    },
    /// An untrusted value would appear without a fence.
    #[error(
        "`{name}` is untrusted, and the profile `bare` has no fence to put around it: choose another profile, or take \
         `trust=\"untrusted\"` away if its words may be read as yours"
    )]
    UntrustedInBare {
        /// The value, or the segment.
        name: String,
    },
    /// The task has no such node.
    #[error("there is no node `{node}`; there are {}", there.join(", "))]
    NoNode {
        /// The requested node.
        node: String,
        /// The nodes that call an agent.
        there: Vec<String>,
    },
    /// The node has no context of its own.
    #[error("`{node}` calls no agent; {}", describe_agents(there))]
    NoAgent {
        /// The requested node.
        node: String,
        /// The nodes that call an agent.
        there: Vec<String>,
    },
    /// A `ref` or `call` names a definition that the registry does not contain, or forms a circle.
    #[error("`{name}` is not in this registry")]
    Dangling {
        /// The task or template.
        name: String,
    },
    /// The segments that are never cut exceed the budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The registry cannot be read.
    #[error("{0}")]
    Registry(String),
}

/// The origin that would supply the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFrom {
    /// The caller.
    Input,
    /// An earlier step or iteration.
    Result,
}

impl MissingFrom {
    /// Returns the kind of an origin, and the name under which it supplies the value if that
    /// differs from the variable's name.
    pub(super) fn from_origin(origin: &Origin) -> (Self, Option<&str>) {
        match origin {
            Origin::Result { name } => (Self::Result, Some(name)),
            Origin::Input { name } => (Self::Input, Some(name)),
            Origin::Template { .. }
            | Origin::Fragment { .. }
            | Origin::File { .. }
            | Origin::Schema { .. }
            | Origin::Parent { .. }
            | Origin::Match { .. }
            | Origin::History
            | Origin::Conversation
            | Origin::Generated => (Self::Input, None),
        }
    }
}

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct Fault {
    /// The place; `None` if the fault concerns the whole context.
    pub place: Option<FaultPlace>,
    /// The line of the text that the fault is about: a line of the field itself, of a fragment or
    /// of a file; `None` if the fault is not about a line.
    pub at: Option<Box<Origin>>,
    /// The reason.
    pub kind: Box<FaultKind>,
}

impl Fault {
    /// Creates a fault of a field.
    pub(crate) fn at_place(place: FaultPlace, kind: FaultKind) -> Self {
        Self {
            place: Some(place),
            at: None,
            kind: Box::new(kind),
        }
    }
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Self {
            place: None,
            at: None,
            kind: Box::new(kind),
        }
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        FaultKind::Registry(error.to_string()).into()
    }
}

/// The error of an assembly: every fault at once, in the order of their places; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(Vec<Fault>);

impl Deref for Refused {
    type Target = [Fault];

    fn deref(&self) -> &[Fault] {
        &self.0
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.iter().enumerate() {
            f.write_str(if number > 0 { "; " } else { "" })?;
            match &fault.place {
                Some(place) => write!(f, "{place}: {fault}")?,
                None => write!(f, "{fault}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

impl From<Vec<Fault>> for Refused {
    fn from(faults: Vec<Fault>) -> Self {
        Self(faults)
    }
}

impl From<Refused> for Vec<Fault> {
    fn from(refused: Refused) -> Self {
        refused.0
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

/// Describes why the name of a result is ambiguous.
fn describe_ambiguity(name: &str, paths: &[String]) -> String {
    match paths {
        [path] => format!(
            "the result `{name}` is that of {path}, which is there by its path as well; expected one of them"
        ),
        several => format!(
            "the result `{name}` could be that of {}; expected a path in place of the name",
            several.join(", ")
        ),
    }
}

/// Lists the nodes that call an agent, as a phrase.
fn describe_agents(there: &[String]) -> String {
    if there.is_empty() {
        "nothing in this task does".to_owned()
    } else {
        format!("these do: {}", there.join(", "))
    }
}
