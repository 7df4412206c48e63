//! `compaction`: the compaction of a session that a scenario repeats, and the method that it is
//! repeated with. Reads no session and runs nothing.

use super::expect::own_check::{COMMAND_TABLE, OwnCheck, PYTHON_TABLE};
use super::table::{
    KeyGroup, NamedThingKind, ScenarioShape, ScenarioTable, optional_key, required_key,
};
use super::values::{MAX_EXACT_NUMBER, read_text, read_whole};
use crate::base::span::Spanned;
use crate::syntax::yaml::YamlNode;
use serde::Serialize;

/// The parameter of a role's task that receives the conversation to compact.
pub const CONVERSATION_PARAMETER: &str = "conversation";
/// The word for the compaction that the session itself contains.
const RECORDED: &str = "recorded";

/// The keys of `compaction`.
pub static COMPACTION_TABLE: ScenarioTable = ScenarioTable {
    what: "`compaction`",
    keys: &[
        required_key(
            "session",
            ScenarioShape::Text,
            "the session by its hash: `sessions/HASH.jsonl` beside the scenario, or in the user's folder for state",
        ),
        optional_key(
            "number",
            ScenarioShape::Whole(1, 1_000_000),
            "the number of the compaction in the session; default: 1",
        ),
        optional_key(
            "method",
            ScenarioShape::WordOr(&[RECORDED], &METHOD_TABLE),
            "the method of compaction; default: `recorded`, the summary in the session itself",
        ),
    ],
    groups: &[],
};

/// `method`.
static METHOD_TABLE: ScenarioTable = ScenarioTable {
    what: "`method`",
    keys: &[
        optional_key(
            "truncate",
            ScenarioShape::Whole(0, MAX_EXACT_NUMBER),
            "keep the newest messages up to this number of tokens, of four bytes each, without a summary",
        ),
        optional_key(
            "role",
            ScenarioShape::Text,
            "an agent role of the project, whose task receives the conversation as the parameter `conversation` and answers with the summary",
        )
        .with_names(NamedThingKind::Role),
        optional_key(
            "command",
            ScenarioShape::Or(&ScenarioShape::List(&ScenarioShape::Text, 1), &COMMAND_TABLE),
            "a program of the project, as an argument list: it reads the conversation and writes the summary",
        )
        .with_names(NamedThingKind::Argument),
        optional_key(
            "python",
            ScenarioShape::Or(&ScenarioShape::Text, &PYTHON_TABLE),
            "a function of the project, as `module:function`: it takes the conversation and returns the summary",
        ),
    ],
    groups: &[KeyGroup::ExactlyOne(&["truncate", "role", "command", "python"])],
};

/// A compaction of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompactionSubject {
    /// The hash of the session.
    pub session: Spanned<String>,
    /// The number of the compaction in the session, from 1.
    pub number: usize,
    /// The method that it is repeated with.
    pub method: CompactionMethod,
}

/// A method of compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum CompactionMethod {
    /// The compaction of the agent itself, as the session contains it.
    Recorded,
    /// The newest messages up to a number of tokens stay; there is no summary.
    Truncate {
        /// The tokens, of four bytes each.
        tokens: u64,
    },
    /// A program of the project reads the conversation and returns the summary.
    Program(OwnCheck),
    /// An agent role of the project answers with the summary.
    Role(String),
}

impl CompactionMethod {
    /// Reads the value of `method`; `None` if it is invalid.
    fn read(node: &YamlNode<'_>) -> Option<Self> {
        if node.text() == Some(RECORDED) {
            return Some(Self::Recorded);
        }
        if let Some(tokens) = node.get("truncate") {
            return Some(Self::Truncate {
                tokens: read_whole(tokens)?,
            });
        }
        if let Some(role) = node.get("role") {
            return Some(Self::Role(read_text(role)?.value));
        }
        if let Some(command) = node.get("command") {
            return Some(Self::Program(OwnCheck::read_command(command)));
        }
        Some(Self::Program(OwnCheck::read_python(node.get("python")?)?))
    }

    /// Describes the method for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Recorded => "the recorded summary".to_owned(),
            Self::Truncate { tokens } => format!("truncate={tokens}"),
            Self::Program(program) => program.describe(),
            Self::Role(role) => format!("the role `{role}`"),
        }
    }

    /// Returns the program that it runs; `None` for another method.
    pub const fn program(&self) -> Option<&OwnCheck> {
        if let Self::Program(program) = self {
            Some(program)
        } else {
            None
        }
    }
}

impl CompactionSubject {
    /// Reads the key; `None` if it is incomplete.
    pub(super) fn read(node: &YamlNode<'_>) -> Option<Self> {
        let number = node.get("number").map_or(Some(1), read_whole)?;
        let method = node
            .get("method")
            .map_or(Some(CompactionMethod::Recorded), CompactionMethod::read)?;
        Some(Self {
            session: read_text(node.get("session")?)?,
            number: usize::try_from(number).ok()?,
            method,
        })
    }

    /// Returns the role that it asks; `None` for another method.
    pub fn role(&self) -> Option<&str> {
        if let CompactionMethod::Role(role) = &self.method {
            Some(role)
        } else {
            None
        }
    }
}
