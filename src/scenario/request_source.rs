//! `request`: the source of another program's request.

use super::table::{
    KeyGroup, NamedThingKind, ScenarioShape, ScenarioTable, optional_key, required_key,
};
use super::values::{read_text, read_texts, read_whole};
use crate::syntax::yaml::{self, YamlNode};
use serde::Serialize;

/// The default timeout of a command or function, in seconds.
const DEFAULT_TIMEOUT_SECONDS: u64 = 120;

/// The keys of `request`.
pub static REQUEST_TABLE: ScenarioTable = ScenarioTable {
    what: "`request`",
    keys: &[
        optional_key(
            "file",
            ScenarioShape::Text,
            "the path of a file beside the scenario: the body of a request, or a recorded call; `PATH#3` is the third of a recording",
        )
        .with_names(NamedThingKind::SiblingFile),
        optional_key(
            "command",
            ScenarioShape::List(&ScenarioShape::Text, 1),
            "a program as an argument list: `ctxc eval` runs it in the project's folder, answers its calls from `answers`, and takes the request of `call`",
        )
        .with_names(NamedThingKind::Argument),
        optional_key(
            "python",
            ScenarioShape::Text,
            "a function as `module:function` that returns the body of a request; the project's folder is on the module path",
        ),
        optional_key("call", ScenarioShape::Table(&CALL_TABLE), "the call of the command; default: the first"),
        optional_key(
            "answers",
            ScenarioShape::Text,
            "the path of a recording beside the scenario that answers the command: by an equal request, else by the call at the same place",
        )
        .with_names(NamedThingKind::SiblingFile),
        optional_key(
            "timeout_s",
            ScenarioShape::Whole(1, 3600),
            "seconds after which the program is stopped with all that it started; default: 120",
        ),
    ],
    groups: &[
        KeyGroup::ExactlyOne(&["file", "command", "python"]),
        KeyGroup::Exclusive("file", &["call", "answers", "timeout_s"]),
        KeyGroup::Exclusive("python", &["call", "answers"]),
    ],
};

/// `call`.
pub static CALL_TABLE: ScenarioTable = ScenarioTable {
    what: "`call`",
    keys: &[
        required_key(
            "conversation",
            ScenarioShape::Whole(1, 1_000_000),
            "the number of its conversation, in the order in which the recorded ones begin",
        ),
        required_key(
            "n",
            ScenarioShape::Whole(1, 1_000_000),
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
    Command(RequestProgram),
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
pub struct RequestProgram {
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
    pub(super) fn read(node: &YamlNode<'_>) -> Option<Self> {
        let word = |key| Some(read_text(node.get(key)?)?.value);
        let timeout_s = node
            .get("timeout_s")
            .and_then(read_whole)
            .unwrap_or(DEFAULT_TIMEOUT_SECONDS);
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
                .and_then(|call| read_whole(call.get(key)?))
                .and_then(|number| usize::try_from(number).ok())
        };
        Some(Self::Command(RequestProgram {
            argv: read_texts(Some(node.get("command")?))
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
            Self::File(path) => Some(split_call_number(path).0),
            Self::Command(RequestProgram { answers, .. }) => answers.as_deref(),
            Self::Python { .. } => None,
        }
    }

    /// Describes the source for people.
    pub fn describe(&self) -> String {
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
pub fn split_call_number(file: &str) -> (&str, Option<usize>) {
    file.rsplit_once('#')
        .and_then(|(path, number)| {
            Some((
                path,
                Some(number.parse().ok().filter(|number| *number > 0)?),
            ))
        })
        .unwrap_or((file, None))
}

/// Keys of scenarios and suites that no request has.
const SCENARIO_KEYS: [&str; 8] = [
    "task",
    "role",
    "cases",
    "cases_from",
    "defaults",
    "context",
    "expect_context",
    "expectations",
];

/// Returns true if a text is the body of a model request: it has messages or an input, and no key
/// of a scenario.
pub fn is_request_body(text: &str) -> bool {
    let names = |words: &[&str]| words.iter().all(|word| text.contains(word));
    if ![
        &["messages"][..],
        &["contents"],
        &["model", "input"],
        &["model", "prompt"],
    ]
    .into_iter()
    .any(names)
    {
        return false;
    }
    let (root, _) = yaml::parse_tree(text);
    let has = |key: &str| root.get(key).is_some();
    let says_scenario = root
        .get("schema")
        .and_then(YamlNode::text)
        .is_some_and(|schema| schema.starts_with("ctxc/"));
    let has_text = |item: &YamlNode<'_>| {
        ["role", "content", "parts"]
            .iter()
            .any(|key| item.get(key).is_some())
    };
    let lists = |key: &str| {
        root.get(key)
            .and_then(YamlNode::items)
            .is_some_and(|items| items.iter().any(has_text))
    };
    let is_sent =
        lists("messages") || lists("contents") || has("model") && (has("input") || has("prompt"));
    is_sent && !says_scenario && !SCENARIO_KEYS.iter().any(|key| has(key))
}

#[cfg(test)]
#[path = "../../tests/unit/scenario/request_source.rs"]
mod tests;
