//! The body of a chat of Ollama. It requests one answer instead of a stream.

use super::prelude::*;

/// `POST /api/chat`.
pub(super) static TARGET: RenderTarget = RenderTarget {
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
    images: &["image/png", "image/jpeg", "image/jpg", "image/webp"],
    json_mode_needs_word: false,
    reject_media,
    accepts_reasoning: |reasoning| reasoning.signature.is_none() && reasoning.redacted.is_none(),
    max_temperature: 2.0,
    body: write_body,
};

#[derive(Serialize)]
struct OllamaBody<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionTool<'a>>,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OllamaFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<OllamaOptions<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OllamaFormat<'a> {
    Word(&'static str),
    Schema(&'a Value),
}

#[derive(Serialize)]
struct OllamaOptions<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
}

fn write_body(messages: &[Message], call: &CallParams) -> String {
    let format = match &call.answer {
        AnswerForm::Free => None,
        AnswerForm::Json => Some(OllamaFormat::Word("json")),
        AnswerForm::Schema(schema) => Some(OllamaFormat::Schema(schema)),
    };
    let mut names = BTreeMap::new();
    let messages = WireMessage::from_messages(messages.iter(), |message| {
        names.extend(called_tools(message));
        turn_messages(message, &names)
    });
    let (num_predict, sampling) = (call.limit, TARGET.plain_fields(call, "options."));
    let options = (num_predict.is_some() || !sampling.is_empty()).then_some(OllamaOptions {
        num_predict,
        sampling,
    });
    let tools = nested_tools(&call.tools);
    to_json(&OllamaBody {
        model: call.model(),
        messages,
        tools,
        sampling: TARGET.plain_fields(call, ""),
        stream: false,
        format,
        options,
    })
}

fn reject_media(media: &Media, speaker: Speaker) -> Option<&'static str> {
    match &media.source {
        _ if !media.is_image() => Some("takes no documents"),
        _ if speaker == Speaker::Assistant => {
            Some("takes nothing but texts and calls from the assistant")
        }
        MediaSource::Url(_) => Some("takes no image by its address: hand in its bytes"),
        MediaSource::Base64(_) => None,
    }
}

fn base64_images(parts: &[Part]) -> Vec<Value> {
    let mut images = Vec::new();
    for part in parts {
        if let Part::Media(Media {
            source: MediaSource::Base64(data),
            ..
        }) = part
        {
            images.push(data.as_str().into());
        }
    }
    images
}

/// Returns the messages of a turn: tool results first, each in a message of its own, then the rest.
/// Tool calls have no ids here: results follow in the order of the calls.
fn turn_messages(message: &Message, names: &BTreeMap<&str, &str>) -> Vec<Value> {
    let mut out = Vec::new();
    let mut own = Map::from_iter([("role".to_owned(), role_name(message.speaker).into())]);
    own.insert(
        "content".to_owned(),
        nonblank_texts(&message.parts).join("\n").into(),
    );
    let mut calls = Vec::new();
    for part in &message.parts {
        match part {
            Part::Result(result) => {
                let name = names.get(result.call.as_str()).copied().unwrap_or_default();
                let mut body =
                    json!({"role": "tool", "content": tool_result_text(result), "tool_name": name});
                let images = base64_images(&result.parts);
                if let (Some(fields), false) = (body.as_object_mut(), images.is_empty()) {
                    fields.insert("images".to_owned(), images.into());
                }
                out.push(body);
            }
            Part::Call(call) => {
                calls.push(json!({"function": {"name": call.name, "arguments": call.arguments}}));
            }
            Part::Reasoning(reasoning) if (TARGET.accepts_reasoning)(reasoning) => {
                own.insert("thinking".to_owned(), reasoning.text.as_str().into());
            }
            Part::Text(_) | Part::Reasoning(_) | Part::Media(_) => {}
        }
    }
    let images = base64_images(&message.parts);
    for (name, list) in [("images", images), ("tool_calls", calls)] {
        if !list.is_empty() {
            own.insert(name.to_owned(), list.into());
        }
    }
    if own.len() > 2
        || own
            .get("content")
            .is_some_and(|text| text.as_str() != Some(""))
    {
        out.push(own.into());
    }
    out
}
