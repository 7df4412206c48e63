//! The body of a chat of Ollama. It asks for one answer, not for a stream of its parts.

use crate::context::answer_format::Answer;
use crate::context::render::call::{Call, Said, written};
use crate::context::render::message::Message;
use crate::context::render::target::Target;
use crate::context::render::tools::{Tool, nested};
use crate::kernel::sampling::Parameter as P;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// `POST /api/chat`.
pub(super) static TARGET: Target = Target {
    name: "ollama",
    about: "Chat of Ollama",
    names_model: true,
    sampling: &[
        (P::Temperature, "options.temperature"),
        (P::TopP, "options.top_p"),
        (P::Seed, "options.seed"),
        (P::Effort, "think"),
        (P::Stop, "options.stop"),
        (P::MaxOutputTokens, "options.num_predict"),
    ],
    hottest: 2.0,
    body,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Options<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Format<'a> {
    Word(&'static str),
    Schema(&'a Value),
}

#[derive(Serialize)]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
}

fn body(messages: &[Message], call: &Call) -> String {
    let format = match &call.answer {
        Answer::Free => None,
        Answer::Json => Some(Format::Word("json")),
        Answer::Schema(schema) => Some(Format::Schema(schema)),
    };
    let messages = messages.iter().filter_map(Said::of).collect();
    let (num_predict, sampling) = (call.limit, TARGET.fields(call, "options."));
    let options = (num_predict.is_some() || !sampling.is_empty()).then_some(Options { num_predict, sampling });
    let tools = nested(&call.tools);
    written(&Body { model: call.model(), messages, tools, sampling: TARGET.fields(call, ""), stream: false, format, options })
}
