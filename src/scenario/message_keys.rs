//! The format of a conversation: messages in the forms of OpenAI and Anthropic, whose content
//! `messages` reads.

use super::table::KeyGroup::AtLeastOne as AtLeast;
use super::table::{ScenarioShape, ScenarioTable, optional_key, required_key};

/// The words of `role`.
pub const SPEAKER_WORDS: &[&str] = &["user", "assistant", "tool", "system", "developer"];

/// The words of `type` of a part.
pub const PART_KINDS: &[&str] = &[
    "text",
    "image_url",
    "file",
    "image",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
];

/// A message of `history`.
pub static MESSAGE_TABLE: ScenarioTable = ScenarioTable {
    what: "a message",
    keys: &[
        required_key(
            "role",
            ScenarioShape::Word(SPEAKER_WORDS),
            "the speaker; system messages are shown to no agent, since it has its own",
        ),
        optional_key(
            "content",
            ScenarioShape::MessageContent(&PART_TABLE),
            "the content; of `tool`: the result of the tool",
        ),
        optional_key(
            "tool_calls",
            ScenarioShape::List(&ScenarioShape::Table(&CALL_TABLE), 0),
            "tools that the assistant calls with it, in OpenAI's form",
        ),
        optional_key(
            "tool_call_id",
            ScenarioShape::Text,
            "of `tool`: the call whose result it is",
        ),
        optional_key(
            "reasoning_content",
            ScenarioShape::Text,
            "the reasoning of the assistant before its text",
        ),
        optional_key(
            "refusal",
            ScenarioShape::Text,
            "the text of the assistant instead of an answer, in OpenAI's form",
        ),
        optional_key(
            "name",
            ScenarioShape::Text,
            "the speaker's name; not shown to agents",
        ),
        optional_key("id", ScenarioShape::Text, "its id; not shown to agents"),
    ],
    groups: &[AtLeast(&["content", "tool_calls"])],
};

static PART_TABLE: ScenarioTable = ScenarioTable {
    what: "a part of a message",
    keys: &[
        optional_key("type", ScenarioShape::Word(PART_KINDS), "its kind"),
        optional_key(
            "text",
            ScenarioShape::MessageContent(&PART_TABLE),
            "its text",
        ),
        optional_key(
            "id",
            ScenarioShape::Text,
            "of `tool_use`: the id that its result refers to",
        ),
        optional_key("name", ScenarioShape::Text, "of `tool_use`: the tool"),
        optional_key(
            "input",
            ScenarioShape::Any,
            "of `tool_use`: the tool's arguments",
        ),
        optional_key(
            "tool_use_id",
            ScenarioShape::Text,
            "of `tool_result`: the call whose result it is",
        ),
        optional_key(
            "content",
            ScenarioShape::MessageContent(&PART_TABLE),
            "of `tool_result`: the result of the tool",
        ),
        optional_key(
            "is_error",
            ScenarioShape::Bool,
            "of `tool_result`: `true` if the tool failed",
        ),
        optional_key(
            "source",
            ScenarioShape::Any,
            "of `image` and `document`: `{type: base64, media_type, data}` or `{type: url, url}`",
        ),
        optional_key("title", ScenarioShape::Text, "of `document`: its name"),
        optional_key(
            "image_url",
            ScenarioShape::Any,
            "of `image_url`: its address, or `{url}`; `data:TYPE;base64,DATA` contains the image",
        ),
        optional_key(
            "file",
            ScenarioShape::Any,
            "of `file`: `{filename, file_data}`",
        ),
        optional_key(
            "thinking",
            ScenarioShape::Text,
            "of `thinking`: the reasoning of the agent",
        ),
        optional_key(
            "signature",
            ScenarioShape::Text,
            "of `thinking`: the signature by which its provider recognises it",
        ),
        optional_key(
            "data",
            ScenarioShape::Text,
            "of `redacted_thinking`: the reasoning that its provider hides",
        ),
        optional_key(
            "cache_control",
            ScenarioShape::Any,
            "not shown to agents: breakpoints follow from the context",
        ),
    ],
    groups: &[],
};

static CALL_TABLE: ScenarioTable = ScenarioTable {
    what: "a call in a message",
    keys: &[
        optional_key(
            "id",
            ScenarioShape::Text,
            "the id that its result refers to",
        ),
        optional_key("type", ScenarioShape::Text, "`function`, in OpenAI's form"),
        optional_key(
            "function",
            ScenarioShape::Table(&FUNCTION_TABLE),
            "the tool and its arguments",
        ),
        optional_key(
            "name",
            ScenarioShape::Text,
            "the tool, without `function` around it",
        ),
        optional_key(
            "arguments",
            ScenarioShape::Any,
            "its arguments, as JSON or as a text of JSON",
        ),
    ],
    groups: &[super::table::KeyGroup::ExactlyOne(&["function", "name"])],
};

static FUNCTION_TABLE: ScenarioTable = ScenarioTable {
    what: "`function`",
    keys: &[
        required_key("name", ScenarioShape::Text, "the tool"),
        optional_key(
            "arguments",
            ScenarioShape::Any,
            "its arguments, as JSON or as a text of JSON",
        ),
    ],
    groups: &[],
};
