//! The format of a conversation: messages in the forms of OpenAI and Anthropic, whose content
//! `messages` reads.

use super::table::Group::Some as AtLeast;
use super::table::{Shape, Table, key, needed};

/// The words of `role`.
pub const SPEAKERS: &[&str] = &["user", "assistant", "tool", "system", "developer"];

/// The words of `type` of a part.
pub const KINDS: &[&str] = &[
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
pub static MESSAGE: Table = Table {
    what: "a message",
    keys: &[
        needed(
            "role",
            Shape::Word(SPEAKERS),
            "who says it; messages of the system are shown to no agent: it has its own",
        ),
        key(
            "content",
            Shape::Said(&PART),
            "what is said; of `tool`: what the tool returned",
        ),
        key(
            "tool_calls",
            Shape::List(&Shape::Table(&CALL), 0),
            "tools that the assistant calls with it, in OpenAI's form",
        ),
        key(
            "tool_call_id",
            Shape::Text,
            "of `tool`: the call whose result it is",
        ),
        key(
            "reasoning_content",
            Shape::Text,
            "what the assistant thought before it spoke",
        ),
        key(
            "refusal",
            Shape::Text,
            "what the assistant says instead of an answer, in OpenAI's form",
        ),
        key("name", Shape::Text, "the speaker's name; shown to nobody"),
        key("id", Shape::Text, "its id; shown to nobody"),
    ],
    groups: &[AtLeast(&["content", "tool_calls"])],
};

static PART: Table = Table {
    what: "a part of a message",
    keys: &[
        key("type", Shape::Word(KINDS), "what it is"),
        key("text", Shape::Said(&PART), "its words"),
        key(
            "id",
            Shape::Text,
            "of `tool_use`: what its result refers to",
        ),
        key("name", Shape::Text, "of `tool_use`: the tool"),
        key("input", Shape::Any, "of `tool_use`: the tool's arguments"),
        key(
            "tool_use_id",
            Shape::Text,
            "of `tool_result`: the call whose result it is",
        ),
        key(
            "content",
            Shape::Said(&PART),
            "of `tool_result`: what the tool returned",
        ),
        key(
            "is_error",
            Shape::Bool,
            "of `tool_result`: whether the tool failed",
        ),
        key(
            "source",
            Shape::Any,
            "of `image` and `document`: `{type: base64, media_type, data}` or `{type: url, url}`",
        ),
        key("title", Shape::Text, "of `document`: its name"),
        key(
            "image_url",
            Shape::Any,
            "of `image_url`: its address, or `{url}`; `data:TYPE;base64,DATA` holds the image",
        ),
        key("file", Shape::Any, "of `file`: `{filename, file_data}`"),
        key(
            "thinking",
            Shape::Text,
            "of `thinking`: what the agent thought",
        ),
        key(
            "signature",
            Shape::Text,
            "of `thinking`: how its provider recognises it",
        ),
        key(
            "data",
            Shape::Text,
            "of `redacted_thinking`: what its provider hides",
        ),
        key(
            "cache_control",
            Shape::Any,
            "shown to nobody: breakpoints follow from the context",
        ),
    ],
    groups: &[],
};

static CALL: Table = Table {
    what: "a call in a message",
    keys: &[
        key("id", Shape::Text, "what its result refers to"),
        key("type", Shape::Text, "`function`, in OpenAI's form"),
        key(
            "function",
            Shape::Table(&FUNCTION),
            "the tool and its arguments",
        ),
        key(
            "name",
            Shape::Text,
            "the tool, without `function` around it",
        ),
        key(
            "arguments",
            Shape::Any,
            "its arguments, as JSON or as a text of JSON",
        ),
    ],
    groups: &[super::table::Group::One(&["function", "name"])],
};

static FUNCTION: Table = Table {
    what: "`function`",
    keys: &[
        needed("name", Shape::Text, "the tool"),
        key(
            "arguments",
            Shape::Any,
            "its arguments, as JSON or as a text of JSON",
        ),
    ],
    groups: &[],
};
