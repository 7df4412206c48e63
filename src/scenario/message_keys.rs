//! The format of a conversation: messages as OpenAI and Anthropic have them, of which `context::transcript` reads what is said.

use super::table::Group::Some as AtLeast;
use super::table::{Shape, Table, key, needed};

/// Words of `role`.
pub const SPEAKERS: &[&str] = &["user", "assistant", "tool", "system", "developer"];

/// A message of `history`.
pub static MESSAGE: Table = Table {
    what: "a message",
    keys: &[
        needed("role", Shape::Word(SPEAKERS), "who says it; what the system says is left out: an agent has its own"),
        key("content", Shape::Said(&PART), "what is said; what the tool gave back, where a tool speaks"),
        key("tool_calls", Shape::List(&Shape::Table(&CALL), 0), "tools that the assistant calls with it, as OpenAI has them"),
        key("tool_call_id", Shape::Text, "the call whose result it is, where a tool speaks"),
        key("name", Shape::Text, "a name of who says it; shown to nobody"),
        key("id", Shape::Text, "its id; shown to nobody"),
    ],
    groups: &[AtLeast(&["content", "tool_calls"])],
};

static PART: Table = Table {
    what: "a part of a message",
    keys: &[
        key(
            "type",
            Shape::Text,
            "what it is: `text`, `tool_use`, `tool_result`; of any other, such as `image`, stands that it is left out",
        ),
        key("text", Shape::Said(&PART), "its words"),
        key("id", Shape::Text, "of `tool_use`: what its result refers to"),
        key("name", Shape::Text, "of `tool_use`: the tool"),
        key("input", Shape::Any, "of `tool_use`: what the tool is given"),
        key("tool_use_id", Shape::Text, "of `tool_result`: the call whose result it is"),
        key("content", Shape::Said(&PART), "of `tool_result`: what the tool gave back"),
        key("is_error", Shape::Bool, "of `tool_result`: carried as it is"),
        key("source", Shape::Any, "of a picture or a document: carried as it is"),
        key("image_url", Shape::Any, "of a picture: carried as it is"),
        key("cache_control", Shape::Any, "carried as it is"),
    ],
    groups: &[],
};

static CALL: Table = Table {
    what: "a call in a message",
    keys: &[
        key("id", Shape::Text, "what its result refers to"),
        key("type", Shape::Text, "`function`, as OpenAI has it"),
        key("function", Shape::Table(&FUNCTION), "the tool and what it is given"),
        key("name", Shape::Text, "the tool, without `function` around it"),
        key("arguments", Shape::Any, "what it is given, as JSON or as a text of JSON"),
    ],
    groups: &[super::table::Group::One(&["function", "name"])],
};

static FUNCTION: Table = Table {
    what: "`function`",
    keys: &[
        needed("name", Shape::Text, "the tool"),
        key("arguments", Shape::Any, "what it is given, as JSON or as a text of JSON"),
    ],
    groups: &[],
};
