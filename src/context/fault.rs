//! Why a context cannot be put together, as data: which definition, node and field, and what was missing there.

use crate::base::number::thousands;
use crate::kernel::budget::OverBudget;
use crate::kernel::context::Origin;
use crate::registry::ReadError;
use serde::Serialize;
use std::fmt;
use std::ops::Deref;

/// A place in a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The task, template or fragment.
    pub definition: String,
    /// The node; `/` for the definition itself and for fragments.
    pub node: String,
    /// The field, such as `instructions` or `examples/0/input`; empty for the node as a whole.
    pub field: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.definition)?;
        if self.node != "/" {
            write!(f, " {}", self.node)?;
        }
        if self.field.is_empty() { Ok(()) } else { write!(f, ", {}", self.field) }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A text or `from` names a variable without a value.
    #[error("`{name}` has no value")]
    Missing {
        /// The variable.
        name: String,
        /// What would give it one.
        origin: MissingFrom,
    },
    /// Results of several nodes go by a name that one is handed in by; or the one that does is handed in by its path, too.
    #[error("{}", ambiguous(name, paths))]
    AmbiguousResult {
        /// The name.
        name: String,
        /// Their paths.
        paths: Vec<String>,
    },
    /// The value has no such part.
    #[error("`{path}` leads nowhere: the value of `{name}` is {found}")]
    NoPart {
        /// The variable.
        name: String,
        /// The whole path.
        path: String,
        /// What the value is.
        found: &'static str,
    },
    /// The value that a run is given is of another type than its parameter.
    #[error("the value of `{name}` is {found}, and its type is `{kind}`")]
    WrongType {
        /// The parameter.
        name: String,
        /// Its declared type.
        kind: String,
        /// What the value is.
        found: &'static str,
    },
    /// A `syntax="jinja"` text cannot be rendered; minijinja's own words.
    #[error("the Jinja text cannot be rendered: {detail}")]
    Jinja {
        /// What it says.
        detail: String,
        /// The line of the text, from 1.
        line: usize,
        /// The words of that line that it is about, where they are known.
        words: Option<String>,
    },
    /// A text grows beyond what a text may have.
    #[error("the text is larger than {limit} bytes")]
    TooLarge {
        /// Bytes.
        limit: usize,
    },
    /// A Jinja text takes more steps than a text may take.
    #[error("the Jinja text takes more than {limit} steps: a loop without an end?")]
    TooLong {
        /// Steps of its machine.
        limit: u64,
    },
    /// A Jinja text copies, compares or keeps more than a text may, or nests it deeper.
    #[error("the Jinja text handles more than {limit} bytes in all, or nests lists and objects more than 64 deep")]
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
    /// Fragments use each other in a circle, or too deep.
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
        /// Why.
        reason: String,
    },
    /// A source of fresh context failed.
    #[error("the lookup of fresh context failed: {reason}")]
    Source {
        /// Why.
        reason: String,
    },
    /// The request itself is too long to be never cut.
    #[error("the objective has {} tokens, more than the {} that it may have: it is never cut", thousands(*tokens), thousands(*limit))]
    LongObjective {
        /// Its tokens.
        tokens: usize,
        /// What it may have.
        limit: usize,
    },
    /// A message of the conversation that no provider takes at its place.
    #[error("`{id}` of the conversation: {why}")]
    Conversation {
        /// The message.
        id: String,
        /// Why.
        why: String,
    },
    /// A result that does not keep to the schema by which a part of it would be trusted.
    #[error("`{part}` of the result `{name}` is not what its schema requires there: {takes}; only then would it be trusted")]
    ResultForm {
        /// The result.
        name: String,
        /// The part of it.
        part: String,
        /// What the schema takes there, in words.
        takes: String,
    },
    /// An untrusted value would reach what the system says.
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
    /// An untrusted value would stand without a fence.
    #[error(
        "`{name}` is untrusted, and the profile `bare` has no fence to put around it: choose another profile, or take \
         `trust=\"untrusted\"` away if its words may be read as yours"
    )]
    UntrustedInBare {
        /// The value, or the segment.
        name: String,
    },
    /// There is no such node.
    #[error("there is no node `{node}`; there are {}", there.join(", "))]
    NoNode {
        /// What was asked for.
        node: String,
        /// Nodes that an agent is called for.
        there: Vec<String>,
    },
    /// The node has no context of its own.
    #[error("`{node}` calls no agent; {}", others(there))]
    NoAgent {
        /// What was asked for.
        node: String,
        /// Nodes that an agent is called for.
        there: Vec<String>,
    },
    /// A `ref` or `call` goes to something that the registry does not have, or in a circle.
    #[error("`{name}` is not in this registry")]
    Dangling {
        /// The task or template.
        name: String,
    },
    /// What may not be cut is larger than the budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The registry cannot be read.
    #[error("{0}")]
    Registry(String),
}

/// What would give a variable its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFrom {
    /// The caller.
    Input,
    /// An earlier step or iteration.
    Result,
}

impl MissingFrom {
    /// Who would give a value of some origin, and under which name, where that is not the name it is used by.
    pub(super) fn of(origin: &Origin) -> (Self, Option<&str>) {
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
            | Origin::Frame => (Self::Input, None),
        }
    }
}

/// Something wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct Fault {
    /// Where; `None` where the whole context is meant.
    pub place: Option<Place>,
    /// The line of a text that it is about, where it is about one: the field's own, a fragment's, or that of a file.
    pub at: Option<Box<Origin>>,
    /// What.
    pub kind: Box<FaultKind>,
}

impl Fault {
    /// A fault of a field.
    pub(crate) fn of(place: Place, kind: FaultKind) -> Self {
        Self { place: Some(place), at: None, kind: Box::new(kind) }
    }
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Self { place: None, at: None, kind: Box::new(kind) }
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        FaultKind::Registry(error.to_string()).into()
    }
}

/// Why there is no context: everything that is wrong at once, in the order of the places, and never nothing.
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

/// Why a name says of no result which one it is.
fn ambiguous(name: &str, paths: &[String]) -> String {
    match paths {
        [path] => format!("the result `{name}` is that of {path}, which is there by its path as well; expected one of them"),
        several => format!("the result `{name}` could be that of {}; expected a path in place of the name", several.join(", ")),
    }
}

/// The agents that there are, in words.
fn others(there: &[String]) -> String {
    if there.is_empty() { "nothing in this task does".to_owned() } else { format!("these do: {}", there.join(", ")) }
}
