//! The body of `generateContent` of Gemini. The model is named by the URL, not by the body.

use super::prelude::*;
use crate::kernel::assembler::Speaker;
use crate::kernel::conversation::Part as Said;

/// `POST /v1beta/models/MODEL:generateContent`.
pub(super) static TARGET: Target = Target {
    name: "gemini",
    about: "generateContent of Gemini",
    names_model: false,
    sampling: &[
        (P::Temperature, "generationConfig.temperature"),
        (P::TopP, "generationConfig.topP"),
        (P::Seed, "generationConfig.seed"),
        (P::Effort, "generationConfig.thinkingConfig.thinkingLevel"),
        (P::Stop, "generationConfig.stopSequences"),
        (P::ToolChoice, "toolConfig.functionCallingConfig"),
        (P::MaxOutputTokens, "generationConfig.maxOutputTokens"),
    ],
    images: &[
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/heic",
        "image/heif",
    ],
    json_word: false,
    refuses: |_, _| None,
    takes: |_| false,
    hottest: 2.0,
    body,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Config::is_empty")]
    generation_config: Config<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
struct System<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Part<'a> {
    Text { text: &'a str },
    Other(Value),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
    #[serde(rename = "thinkingConfig", skip_serializing_if = "BTreeMap::is_empty")]
    thinking: BTreeMap<&'static str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl Config<'_> {
    fn is_empty(&self) -> bool {
        let says = self.max_output_tokens.is_some() || self.response_mime_type.is_some();
        !says && self.sampling.is_empty() && self.thinking.is_empty()
    }
}

fn body<'c>(messages: &[Message], call: &'c Call) -> String {
    let (response_mime_type, response_json_schema) = match &call.answer {
        Answer::Free => (None, None),
        Answer::Json => (Some("application/json"), None),
        Answer::Schema(schema) => (Some("application/json"), Some(schema)),
    };
    let (system, rest) = apart(messages);
    let parts: Vec<Part<'_>> = system
        .into_iter()
        .map(|message| Part::Text {
            text: message.text.text(),
        })
        .collect();
    let system_instruction = if parts.is_empty() {
        None
    } else {
        Some(System { parts })
    };
    let mut names = BTreeMap::new();
    let mut contents: Vec<Content<'_>> = Vec::new();
    for message in rest {
        names.extend(called(message));
        let (role, said) = (role(message), turn(message, &names));
        match contents.last_mut().filter(|last| last.role == role) {
            // The results of parallel tool calls belong to one content.
            Some(last) => last.parts.extend(said),
            None => contents.push(Content { role, parts: said }),
        }
    }
    let declaration = |tool: &'c ToolDefinition| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    };
    let function_declarations: Vec<_> = call.tools.iter().map(declaration).collect();
    let tools = if function_declarations.is_empty() {
        Vec::new()
    } else {
        vec![Tools {
            function_declarations,
        }]
    };
    let tool_config = call.choice().map(|choice| {
        let own = match choice {
            ToolChoice::Word("none") => json!({"mode": "NONE"}),
            ToolChoice::Word("required") => json!({"mode": "ANY"}),
            ToolChoice::Word(_) => json!({"mode": "AUTO"}),
            ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
        };
        json!({"functionCallingConfig": own})
    });
    let sampling = TARGET.fields(call, "generationConfig.");
    let thinking = TARGET.fields(call, "generationConfig.thinkingConfig.");
    let generation_config = Config {
        sampling,
        thinking,
        max_output_tokens: call.limit,
        response_mime_type,
        response_json_schema,
    };
    written(&Body {
        system_instruction,
        contents,
        tools,
        tool_config,
        generation_config,
    })
}

fn turn<'m>(message: &'m Message, names: &BTreeMap<&str, &str>) -> Vec<Part<'m>> {
    if !message.is_turn() {
        return vec![Part::Text {
            text: message.text.text(),
        }];
    }
    let part = |part: &'m Said| match part {
        Said::Text(text) => (!text.trim().is_empty()).then_some(Part::Text { text }),
        Said::Call(call) => Some(
            json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}),
        )
        .map(Part::Other),
        Said::Result(result) => {
            let name = names.get(result.call.as_str()).copied().unwrap_or_default();
            let said = texts(&result.parts).join("\n");
            let response = if result.is_error {
                json!({"error": said})
            } else {
                json!({"output": said})
            };
            let mut response = json!({"id": result.call, "name": name, "response": response});
            let files: Vec<Value> = result.parts.iter().filter_map(file).collect();
            if let (Some(fields), false) = (response.as_object_mut(), files.is_empty()) {
                fields.insert("parts".to_owned(), files.into());
            }
            Some(Part::Other(json!({"functionResponse": response})))
        }
        media @ Said::Media(_) => file(media).map(Part::Other),
        Said::Reasoning(_) => None,
    };
    message.parts.iter().filter_map(part).collect()
}

fn file(part: &Said) -> Option<Value> {
    let Said::Media(Media {
        media_type,
        source,
        name: _,
    }) = part
    else {
        return None;
    };
    Some(match source {
        MediaSource::Base64(data) => json!({"inlineData": {"mimeType": media_type, "data": data}}),
        MediaSource::Url(url) if media_type.contains('/') => {
            json!({"fileData": {"mimeType": media_type, "fileUri": url}})
        }
        MediaSource::Url(url) => json!({"fileData": {"fileUri": url}}),
    })
}

fn role(message: &Message) -> &'static str {
    if message.speaker == Speaker::Assistant {
        "model"
    } else {
        "user"
    }
}
