//! The body of `generateContent` of Gemini. The model is named by the URL, not by the body.

use super::prelude::*;
use crate::kernel::assembler::Speaker;
use crate::kernel::conversation::Part as Said;

/// `POST /v1beta/models/MODEL:generateContent`.
pub(super) static TARGET: RenderTarget = RenderTarget {
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
    json_mode_needs_word: false,
    reject_media: |_, _| None,
    accepts_reasoning: |_| false,
    max_temperature: 2.0,
    body: write_body,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<GeminiSystem<'a>>,
    contents: Vec<GeminiContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<GeminiTools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiTools<'a> {
    function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionDeclaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
struct GeminiSystem<'a> {
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    role: &'static str,
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum GeminiPart<'a> {
    Text { text: &'a str },
    Other(Value),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
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

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        let has_limits = self.max_output_tokens.is_some() || self.response_mime_type.is_some();
        !has_limits && self.sampling.is_empty() && self.thinking.is_empty()
    }
}

fn write_body<'c>(messages: &[Message], call: &'c CallParams) -> String {
    let (response_mime_type, response_json_schema) = match &call.answer {
        AnswerForm::Free => (None, None),
        AnswerForm::Json => (Some("application/json"), None),
        AnswerForm::Schema(schema) => (Some("application/json"), Some(schema)),
    };
    let (system, rest) = split_system(messages);
    let parts: Vec<GeminiPart<'_>> = system
        .into_iter()
        .map(|message| GeminiPart::Text {
            text: message.text.text(),
        })
        .collect();
    let system_instruction = if parts.is_empty() {
        None
    } else {
        Some(GeminiSystem { parts })
    };
    let mut names = BTreeMap::new();
    let mut contents: Vec<GeminiContent<'_>> = Vec::new();
    for message in rest {
        names.extend(called_tools(message));
        let (role, parts) = (gemini_role(message), turn_parts(message, &names));
        match contents.last_mut().filter(|last| last.role == role) {
            // The results of parallel tool calls belong to one content.
            Some(last) => last.parts.extend(parts),
            None => contents.push(GeminiContent { role, parts }),
        }
    }
    let declaration = |tool: &'c ProjectTool| FunctionDeclaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    };
    let function_declarations: Vec<_> = call.tools.iter().map(declaration).collect();
    let tools = if function_declarations.is_empty() {
        Vec::new()
    } else {
        vec![GeminiTools {
            function_declarations,
        }]
    };
    let tool_config = call.tool_choice().map(|choice| {
        let own = match choice {
            ToolChoice::Word("none") => json!({"mode": "NONE"}),
            ToolChoice::Word("required") => json!({"mode": "ANY"}),
            ToolChoice::Word(_) => json!({"mode": "AUTO"}),
            ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
        };
        json!({"functionCallingConfig": own})
    });
    let sampling = TARGET.plain_fields(call, "generationConfig.");
    let thinking = TARGET.plain_fields(call, "generationConfig.thinkingConfig.");
    let generation_config = GenerationConfig {
        sampling,
        thinking,
        max_output_tokens: call.limit,
        response_mime_type,
        response_json_schema,
    };
    to_json(&GeminiBody {
        system_instruction,
        contents,
        tools,
        tool_config,
        generation_config,
    })
}

fn turn_parts<'m>(message: &'m Message, names: &BTreeMap<&str, &str>) -> Vec<GeminiPart<'m>> {
    if !message.is_turn() {
        return vec![GeminiPart::Text {
            text: message.text.text(),
        }];
    }
    let part = |part: &'m Said| match part {
        Said::Text(text) => (!text.trim().is_empty()).then_some(GeminiPart::Text { text }),
        Said::Call(call) => Some(
            json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}),
        )
        .map(GeminiPart::Other),
        Said::Result(result) => {
            let name = names.get(result.call.as_str()).copied().unwrap_or_default();
            let text = nonblank_texts(&result.parts).join("\n");
            let response = if result.is_error {
                json!({"error": text})
            } else {
                json!({"output": text})
            };
            let mut response = json!({"id": result.call, "name": name, "response": response});
            let files: Vec<Value> = result.parts.iter().filter_map(file_part).collect();
            if let (Some(fields), false) = (response.as_object_mut(), files.is_empty()) {
                fields.insert("parts".to_owned(), files.into());
            }
            Some(GeminiPart::Other(json!({"functionResponse": response})))
        }
        media @ Said::Media(_) => file_part(media).map(GeminiPart::Other),
        Said::Reasoning(_) => None,
    };
    message.parts.iter().filter_map(part).collect()
}

fn file_part(part: &Said) -> Option<Value> {
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

fn gemini_role(message: &Message) -> &'static str {
    if message.speaker == Speaker::Assistant {
        "model"
    } else {
        "user"
    }
}
