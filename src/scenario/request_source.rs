//! `request`: the source of another program's request.

use super::table::{Group, Shape, Table, Thing, key, needed};
use super::values::{text, texts, whole};
use crate::syntax::yaml::Node;
use serde::Serialize;

/// The default timeout of a command or function, in seconds.
const SECONDS: u64 = 120;

/// The keys of `request`.
pub static REQUEST: Table = Table {
    what: "`request`",
    keys: &[
        key(
            "file",
            Shape::Text,
            "the path of a file beside the scenario: the body of a request, or a recorded call; `PATH#3` is the third of a recording",
        )
        .names(Thing::Beside),
        key(
            "command",
            Shape::List(&Shape::Text, 1),
            "a program as an argument list: `ctxc eval` runs it in the project's folder, answers its calls from `answers`, and takes the request of `call`",
        )
        .names(Thing::Argument),
        key(
            "python",
            Shape::Text,
            "a function as `module:function` that returns the body of a request; the project's folder is on the module path",
        ),
        key("call", Shape::Table(&CALL), "which call of the command is meant; default: the first"),
        key(
            "answers",
            Shape::Text,
            "the path of a recording beside the scenario that answers the command: by an equal request, else by the call at the same place",
        )
        .names(Thing::Beside),
        key(
            "timeout_s",
            Shape::Whole(1, 3600),
            "seconds after which the program is stopped with all that it started; default: 120",
        ),
    ],
    groups: &[
        Group::One(&["file", "command", "python"]),
        Group::Apart("file", &["call", "answers", "timeout_s"]),
        Group::Apart("python", &["call", "answers"]),
    ],
};

/// `call`.
pub static CALL: Table = Table {
    what: "`call`",
    keys: &[
        needed(
            "conversation",
            Shape::Whole(1, 1_000_000),
            "the number of its conversation, in the order in which the recorded ones begin",
        ),
        needed(
            "n",
            Shape::Whole(1, 1_000_000),
            "the number of the call in its conversation",
        ),
    ],
    groups: &[],
};

/// The source of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum RequestSource {
    /// A file beside the scenario; `PATH#3` is the third call of a recording.
    File(String),
    /// A program that sends it.
    Command(SentBy),
    /// A function that returns its body.
    Python {
        /// The function, as `module:function`.
        function: String,
        /// Its timeout in seconds.
        timeout_s: u64,
    },
}

/// A program of the project, and the number of the chosen call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentBy {
    /// The program as an argument list.
    pub argv: Vec<String>,
    /// The number of the conversation.
    pub conversation: usize,
    /// The number of the call in its conversation.
    pub n: usize,
    /// The recording beside the scenario that answers its calls.
    pub answers: Option<String>,
    /// Its timeout in seconds.
    pub timeout_s: u64,
}

impl RequestSource {
    /// Reads the key; `None` if it has no source.
    pub(super) fn read(node: &Node<'_>) -> Option<Self> {
        let word = |key| Some(text(node.get(key)?)?.value);
        let timeout_s = node.get("timeout_s").and_then(whole).unwrap_or(SECONDS);
        if let Some(file) = word("file") {
            return Some(Self::File(file));
        }
        if let Some(function) = word("python") {
            return Some(Self::Python {
                function,
                timeout_s,
            });
        }
        let number = |key| {
            node.get("call")
                .and_then(|call| whole(call.get(key)?))
                .and_then(|number| usize::try_from(number).ok())
        };
        Some(Self::Command(SentBy {
            argv: texts(Some(node.get("command")?))
                .into_iter()
                .map(|word| word.value)
                .collect(),
            conversation: number("conversation").unwrap_or(1),
            n: number("n").unwrap_or(1),
            answers: word("answers"),
            timeout_s,
        }))
    }

    /// The file beside the scenario that it references.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(path) => Some(call_of(path).0),
            Self::Command(SentBy { answers, .. }) => answers.as_deref(),
            Self::Python { .. } => None,
        }
    }

    /// Describes the source for people.
    pub fn words(&self) -> String {
        match self {
            Self::File(path) => format!("the request in {path}"),
            Self::Command(sent) => format!(
                "call {} of conversation {} of `{}`",
                sent.n,
                sent.conversation,
                sent.argv.join(" ")
            ),
            Self::Python { function, .. } => format!("the request of the function {function}"),
        }
    }
}

/// Splits `PATH#3` into the path and the number of the call.
pub fn call_of(file: &str) -> (&str, Option<usize>) {
    file.rsplit_once('#')
        .and_then(|(path, number)| {
            Some((
                path,
                Some(number.parse().ok().filter(|number| *number > 0)?),
            ))
        })
        .unwrap_or((file, None))
}
