//! A request as segments, in the order in which a provider's cache processes them.

use super::model::{ModelRequest, RequestMessage, RequestPart};
use super::sections::{Section, find_sections};
use crate::kernel::conversation::{MEDIA_TOKENS, Part, Speaker};
use crate::kernel::tokens::TokenCounter;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A block of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSegment {
    /// The id in its request: `tool:search`, `system:1`, `message:3/text:1`,
    /// `message:4/tool_result:call_9f`.
    pub id: String,
    /// The group: `tools`, `response_format`, `system` or `message:N`.
    pub group: String,
    /// The speaker; `None` for tools and the form of the answer.
    pub speaker: Option<Speaker>,
    /// The pointer in the body.
    pub pointer: String,
    /// The readable text.
    pub text: String,
    /// The bytes that a cache compares: a text as it is, otherwise JSON without cache breakpoints.
    pub wire: String,
    /// True if it is a plain text.
    pub is_text: bool,
    /// True if a cache breakpoint follows it.
    pub is_breakpoint: bool,
    /// Tokens of its images and documents, which tokenizers do not count.
    pub media_tokens: usize,
}

impl RequestSegment {
    /// The id inside its group: `tool_call:call_9f`, `text:1`.
    pub fn name(&self) -> &str {
        self.id
            .split_once('/')
            .map_or(self.id.as_str(), |(_, name)| name)
    }

    /// Returns its tokens.
    pub fn tokens(&self, counter: &dyn TokenCounter) -> usize {
        counter.count(&self.text).saturating_add(self.media_tokens)
    }

    /// Returns its sections if it is a text.
    pub fn sections(&self) -> Vec<Section> {
        if self.is_text {
            find_sections(&self.text)
        } else {
            Vec::new()
        }
    }
}

/// Returns the segments of a request: tools, the form of the answer, system text, messages.
pub fn build_segments(request: &ModelRequest) -> Vec<RequestSegment> {
    let mut out: Vec<RequestSegment> = request
        .tools
        .iter()
        .map(|tool| {
            let wire = wire_text(request, &tool.pointer);
            RequestSegment {
                id: format!("tool:{}", tool.name),
                group: "tools".to_owned(),
                speaker: None,
                pointer: tool.pointer.clone(),
                text: wire.clone(),
                wire,
                is_text: false,
                is_breakpoint: tool.cache.is_some(),
                media_tokens: 0,
            }
        })
        .collect();
    if let Some((pointer, schema)) = &request.format {
        let wire = schema.to_string();
        out.push(RequestSegment {
            id: "response_format".to_owned(),
            group: "response_format".to_owned(),
            speaker: None,
            pointer: pointer.clone(),
            text: wire.clone(),
            wire,
            is_text: false,
            is_breakpoint: false,
            media_tokens: 0,
        });
    }
    let mut blocks = 0;
    // True until the first message that is not from the system.
    let mut leads = true;
    for message in &request.messages {
        leads &= message.speaker == Speaker::System;
        let group = message
            .number
            .filter(|_| !leads)
            .map_or_else(|| "system".to_owned(), |number| format!("message:{number}"));
        let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
        for placed in &message.parts {
            let mut own = part_segment(request, message, placed, &group, &mut seen);
            if group == "system" {
                blocks += 1;
                own.id = format!("system:{blocks}");
            }
            out.push(own);
        }
    }
    number_repeated_ids(&mut out);
    out
}

/// Returns the bytes of the value at a pointer, without cache breakpoints.
fn wire_text(request: &ModelRequest, pointer: &str) -> String {
    match request.value_at(pointer) {
        // Serialising plain data with string keys never fails.
        Some(Value::Object(object)) => {
            serde_json::to_string(&WithoutCacheMark(object)).unwrap_or_default()
        }
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// An object without its cache breakpoint.
struct WithoutCacheMark<'v>(&'v Map<String, Value>);

impl Serialize for WithoutCacheMark<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (key, value) in self.0.iter().filter(|(key, _)| *key != "cache_control") {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

fn part_segment(
    request: &ModelRequest,
    message: &RequestMessage,
    placed: &RequestPart,
    group: &str,
    seen: &mut BTreeMap<&'static str, usize>,
) -> RequestSegment {
    let mut number = |what: &'static str| {
        let count = seen.entry(what).or_default();
        *count += 1;
        format!("{group}/{what}:{count}")
    };
    let (id, text) = match &placed.part {
        Some(Part::Text(text)) => (number("text"), Some(text)),
        Some(Part::Reasoning(_)) => (number("reasoning"), None),
        Some(Part::Call(call)) => (format!("{group}/tool_call:{}", call.id), None),
        Some(Part::Result(result)) => (format!("{group}/tool_result:{}", result.call), None),
        Some(Part::Media(media)) if media.is_image() => (number("image"), None),
        Some(Part::Media(_)) => (number("document"), None),
        None => (number("other"), None),
    };
    let wire = text.map_or_else(|| wire_text(request, &placed.pointer), Clone::clone);
    RequestSegment {
        id,
        group: group.to_owned(),
        speaker: Some(message.speaker),
        pointer: placed.pointer.clone(),
        text: text
            .cloned()
            .or_else(|| placed.part.as_ref().map(|part| part.text_form().text))
            .unwrap_or_else(|| wire.clone()),
        is_text: text.is_some(),
        wire,
        is_breakpoint: placed.cache.is_some(),
        media_tokens: placed
            .part
            .as_ref()
            .map_or(0, Part::media_tokens)
            .min(usize::MAX / 2)
            .max(if placed.kind == "input_audio" {
                MEDIA_TOKENS
            } else {
                0
            }),
    }
}

/// Numbers segments that share an id.
fn number_repeated_ids(segments: &mut [RequestSegment]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for segment in segments {
        let count = seen.entry(segment.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            segment.id = format!("{}#{count}", segment.id);
        }
    }
}
