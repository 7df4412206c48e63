//! The stored form of a request beside a scenario: everything that any provider would receive, in a
//! form independent of all dialects.
//!
//! A text of several lines is a list of its lines, so that a change is one line in a diff.

use super::rendered_segments::text_origin;
use crate::base::hash::Hash;
use crate::base::span::{Span, Spanned};
use crate::context::answer_format::AnswerForm;
use crate::context::assemble::Assembly;
use crate::context::fence_marker::replace_marks;
use crate::context::render::message;
use crate::eval::answer::short_value;
use crate::eval::prepared_case::{CaseInput, SeenContext};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::context::{Kind, Origin};
use crate::kernel::conversation::{Media, MediaSource, Part, Reasoning, ToolCall, ToolResult};
use crate::kernel::sampling::Parameter;
use crate::request::model as sent;
use crate::request::model::{ModelRequest, RequestPart};
use crate::scenario::model::{FrozenConversation, FrozenText, FrozenValue};
use crate::scenario::paths::resolve_beside;
use crate::schema::json::names::SNAPSHOT;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The project file.
const PROJECT_FILE: &str = "ctxc.toml";
/// The placeholder for the marker of a fence, which is not part of the request's meaning.
const ZERO_MARKER: &str = "000000000000000000000";

/// A stored request: `scenarios/snapshots/NAME.json`.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Document"))]
pub(crate) struct SnapshotRequest<'r> {
    /// The version of the format.
    schema: &'static str,
    /// The model that is called. Absent if none is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<StoredModel<'r>>,
    /// The sampling parameters, such as `temperature`; `max_output_tokens` is the model's output
    /// reserve unless it is set elsewhere.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    sampling: BTreeMap<&'static str, Cow<'r, Value>>,
    /// The tools that the agent may call, in their order: each with its name, its description and the JSON Schema of its parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    /// The form of the answer: the JSON Schema that it fits, or `json` for any JSON. Absent if no
    /// form is requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Cow<'r, Value>>,
    /// The messages, in order.
    messages: Vec<StoredMessage<'r>>,
}

/// The model that is called.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Model"))]
struct StoredModel<'r> {
    /// The provider's name of the model; its own name, if the project has no such model.
    id: &'r str,
    /// The provider of the model. Absent if the project has no such model.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'r str>,
    /// The protocol of the provider, unless the provider's name implies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
}

/// A message.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Message"))]
struct StoredMessage<'r> {
    /// The speaker: `system`, `user`, `assistant` or `tool`.
    role: &'static str,
    /// The parts, in order. The marks around untrusted text are zeros.
    parts: Vec<StoredPart<'r>>,
}

/// A part of a message: one of these.
#[derive(Default, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Said"))]
struct StoredPart<'r> {
    /// The text, as one string or as its lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<StoredText>,
    /// The reasoning of the agent before its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<StoredReasoning<'r>>,
    /// A tool that the agent calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<StoredCall<'r>>,
    /// The result of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<StoredResult<'r>>,
    /// An image or a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    media: Option<StoredMedia<'r>>,
}

/// A text; several lines are a list.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[cfg_attr(feature = "cli", schemars(rename = "Words"))]
enum StoredText {
    /// One line.
    Line(String),
    /// Several lines, joined by line breaks.
    Lines(Vec<String>),
}

/// The reasoning of an agent before its text.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Thought"))]
struct StoredReasoning<'r> {
    /// The reasoning, in words.
    text: StoredText,
    /// The signature by which the provider recognises it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'r str>,
    /// The replacement of a text that the provider hides.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<&'r str>,
}

/// A tool that an agent calls.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Call"))]
struct StoredCall<'r> {
    /// The id that its result refers to.
    id: &'r str,
    /// The name of the tool.
    name: &'r str,
    /// The arguments of the call.
    arguments: &'r Value,
}

/// The result of a tool.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Returned"))]
struct StoredResult<'r> {
    /// The call, by its id.
    call: &'r str,
    /// True if the tool failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
    /// The content of the result, in order.
    parts: Vec<StoredPart<'r>>,
}

/// An image or a document: its address, or a hash of its bytes.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Shown"))]
struct StoredMedia<'r> {
    /// The media type, such as `image/png`.
    media_type: &'r str,
    /// The file's name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'r str>,
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'r str>,
    /// The hash of its base64, if that is in the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

/// The stored form of a case's request.
pub fn stored_request(seen: &SeenContext<'_>) -> String {
    let SeenContext { case, assembly } = *seen;
    let choice = case
        .routed
        .choice
        .as_ref()
        .filter(|_| case.other_model.is_none())
        .map(|choice| choice.model);
    let model = case.model().map(|name| StoredModel {
        id: choice.map_or(name, |model| &model.id),
        provider: choice.map(|model| model.provider.value.as_str()),
        protocol: choice.and_then(|model| {
            Some(model.kind?.word()).filter(|kind| *kind != model.provider.value)
        }),
    });
    let mut sampling: BTreeMap<_, _> = case
        .routed
        .sampling
        .iter()
        .map(|one| (one.name.word(), Cow::Borrowed(&one.value)))
        .collect();
    if let Some(reserve) = choice
        .map(|model| model.reserve)
        .filter(|reserve| *reserve > 0)
    {
        sampling
            .entry(Parameter::MaxOutputTokens.word())
            .or_insert_with(|| Cow::Owned(reserve.into()));
    }
    let tool = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let document = SnapshotRequest {
        schema: SNAPSHOT,
        model,
        sampling,
        tools: tool_segments(assembly)
            .map(|account| tool(account.segment.text.text()))
            .collect(),
        answer: match &case.answer {
            AnswerForm::Free => None,
            AnswerForm::Json => Some(Cow::Owned(Value::from("json"))),
            AnswerForm::Schema(schema) => Some(Cow::Borrowed(schema)),
        },
        messages: assembly
            .messages
            .iter()
            .map(StoredMessage::from_message)
            .collect(),
    };
    // Serialising texts and JSON values cannot fail.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// The request of another program, in the same form. Vendor-specific parts become JSON texts.
pub fn stored_program_request(request: &ModelRequest) -> String {
    let part_text = |placed: &'_ RequestPart| match &placed.part {
        Some(_) => None,
        None => Some(
            request
                .value_at(&placed.pointer)
                .map(Value::to_string)
                .unwrap_or_default(),
        ),
    };
    let unknown: BTreeMap<&str, String> = request
        .message_parts()
        .filter_map(|(_, placed)| Some((placed.pointer.as_str(), part_text(placed)?)))
        .collect();
    let part = |placed| {
        let RequestPart { part, pointer, .. }: &RequestPart = placed;
        let text = || StoredPart {
            text: unknown
                .get(pointer.as_str())
                .map(|text| StoredText::from_text(text)),
            ..StoredPart::default()
        };
        part.as_ref().map_or_else(text, StoredPart::from_part)
    };
    let message = |message| {
        let sent::RequestMessage { speaker, parts, .. }: &sent::RequestMessage = message;
        StoredMessage {
            role: speaker.word(),
            parts: parts.iter().map(part).collect(),
        }
    };
    let tool = |tool: &sent::RequestTool| {
        if tool.is_server {
            return request.value_at(&tool.pointer).cloned().unwrap_or_default();
        }
        serde_json::json!({"name": tool.name, "description": tool.description, "parameters": request.argument_schema(tool)})
    };
    let document = SnapshotRequest {
        schema: SNAPSHOT,
        model: request.model.as_deref().map(|id| StoredModel {
            id,
            provider: None,
            protocol: None,
        }),
        sampling: body_sampling(&request.body),
        tools: request.tools.iter().map(tool).collect(),
        answer: request
            .format
            .as_ref()
            .map(|(_, schema)| Cow::Borrowed(schema)),
        messages: request.messages.iter().map(message).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

/// The sampling parameters of a body, by the stored names.
fn body_sampling(body: &Value) -> BTreeMap<&'static str, Cow<'_, Value>> {
    const FIELDS: [(&str, &str); 15] = [
        ("temperature", "/temperature"),
        ("temperature", "/options/temperature"),
        ("temperature", "/generationConfig/temperature"),
        ("top_p", "/top_p"),
        ("top_p", "/options/top_p"),
        ("top_p", "/generationConfig/topP"),
        ("seed", "/seed"),
        ("effort", "/reasoning_effort"),
        ("effort", "/reasoning/effort"),
        ("tool_choice", "/tool_choice"),
        ("max_output_tokens", "/max_tokens"),
        ("max_output_tokens", "/max_completion_tokens"),
        ("max_output_tokens", "/max_output_tokens"),
        ("max_output_tokens", "/options/num_predict"),
        ("max_output_tokens", "/generationConfig/maxOutputTokens"),
    ];
    FIELDS
        .iter()
        .filter_map(|(name, pointer)| Some((*name, Cow::Borrowed(body.pointer(pointer)?))))
        .collect()
}

fn tool_segments(assembly: &Assembly) -> impl Iterator<Item = &SegmentReport> {
    assembly
        .report
        .segments
        .iter()
        .filter(|account| account.segment.kind == Kind::Tools)
}

impl<'r> StoredMessage<'r> {
    fn from_message(message: &'r message::Message) -> Self {
        let text = || {
            vec![StoredPart {
                text: Some(StoredText::from_text(&replace_marks(
                    &message.text,
                    ZERO_MARKER,
                ))),
                ..StoredPart::default()
            }]
        };
        let parts = if message.is_turn() {
            message.parts.iter().map(StoredPart::from_part).collect()
        } else {
            text()
        };
        Self {
            role: message.speaker.word(),
            parts,
        }
    }
}

impl StoredText {
    fn from_text(text: &str) -> Self {
        if text.contains('\n') {
            Self::Lines(text.split('\n').map(str::to_owned).collect())
        } else {
            Self::Line(text.to_owned())
        }
    }
}

impl<'r> StoredPart<'r> {
    fn from_part(part: &'r Part) -> Self {
        let mut stored = Self::default();
        match part {
            Part::Text(text) => stored.text = Some(StoredText::from_text(text)),
            Part::Reasoning(Reasoning {
                text,
                signature,
                redacted,
            }) => {
                let (signature, redacted) = (signature.as_deref(), redacted.as_deref());
                stored.reasoning = Some(StoredReasoning {
                    text: StoredText::from_text(text),
                    signature,
                    redacted,
                });
            }
            Part::Call(ToolCall {
                id,
                name,
                arguments,
            }) => {
                stored.call = Some(StoredCall {
                    id,
                    name,
                    arguments,
                });
            }
            Part::Result(ToolResult {
                call,
                parts,
                is_error,
            }) => {
                stored.result = Some(StoredResult {
                    call,
                    is_error: *is_error,
                    parts: parts.iter().map(Self::from_part).collect(),
                });
            }
            Part::Media(Media {
                media_type,
                name,
                source,
            }) => {
                let (url, base64) = match source {
                    MediaSource::Url(url) => (Some(url.as_str()), None),
                    MediaSource::Base64(bytes) => {
                        (None, Some(Hash::digest(bytes.as_bytes()).to_string()))
                    }
                };
                stored.media = Some(StoredMedia {
                    media_type,
                    name: name.as_deref(),
                    url,
                    base64,
                });
            }
        }
        stored
    }
}

/// A difference between a request and the stored one: its description, and the file or else the
/// origin of the text.
#[derive(Clone, Debug, Default)]
pub(in crate::eval) struct RequestDifference {
    pub(in crate::eval) words: String,
    pub(in crate::eval) origin: Option<Origin>,
    pub(in crate::eval) file: Option<PlaceInFile>,
}

/// The first difference in each message, each tool and each other key; at least one.
pub(in crate::eval) fn request_differences(
    stored: &str,
    now: &str,
    seen: Option<&SeenContext<'_>>,
) -> Vec<RequestDifference> {
    let no_request = || RequestDifference {
        words: "a file that holds no request".to_owned(),
        origin: None,
        file: None,
    };
    let Ok(Value::Object(before)) = serde_json::from_str::<Value>(stored) else {
        return vec![no_request()];
    };
    let now: Value = serde_json::from_str(now).unwrap_or_default();
    let Some(after) = now
        .as_object()
        .filter(|_| before.get("schema").and_then(Value::as_str) == Some(SNAPSHOT))
    else {
        return vec![no_request()];
    };
    let mut out = Vec::new();
    let mut tell = |mut path: Vec<String>, a: Option<&Value>, b: Option<&Value>| {
        let (a, b) = a
            .zip(b)
            .map_or((a, b), |(a, b)| first_difference(a, b, &mut path));
        let what = match (a, b) {
            (None, None) => "its keys in another order".to_owned(),
            (a, b) => format!("{} in place of {}", short_value(b), short_value(a)),
        };
        let origin = seen.and_then(|seen| path_origin(&path, seen.assembly));
        let file = seen.and_then(|seen| changed_file(&path, origin.as_ref(), seen));
        out.push(RequestDifference {
            words: format!("{}: {what}", describe_path(&path, &now)),
            origin,
            file,
        });
    };
    for key in after
        .keys()
        .chain(before.keys().filter(|key| !after.contains_key(*key)))
    {
        let (a, b) = (before.get(key), after.get(key));
        let (Some(Value::Array(first)), Some(Value::Array(second))) = (a, b) else {
            if !is_identical(a, b) {
                tell(vec![key.clone()], a, b);
            }
            continue;
        };
        // After an insertion or removal, the items behind it are unchanged.
        let most = first.len().min(second.len());
        let front = (0..most)
            .take_while(|at| is_identical(first.get(*at), second.get(*at)))
            .count();
        let back = |at: &usize| {
            is_identical(
                first.get(first.len() - 1 - at),
                second.get(second.len() - 1 - at),
            )
        };
        let back = (0..most - front).take_while(back).count();
        for at in front..(first.len() - back).max(second.len() - back) {
            let a = first.get(at).filter(|_| at < first.len() - back);
            let b = second.get(at).filter(|_| at < second.len() - back);
            if !is_identical(a, b) {
                tell(vec![key.clone(), at.to_string()], a, b);
            }
        }
    }
    if out.is_empty() {
        // The same request in another notation.
        out.push(RequestDifference {
            words: "another way of writing it".to_owned(),
            origin: None,
            file: None,
        });
    }
    out
}

/// Returns true if two values are equal, including the order of keys.
fn is_identical(a: Option<&Value>, b: Option<&Value>) -> bool {
    a.map(Value::to_string) == b.map(Value::to_string)
}

/// The first difference of two values, with both sides; two objects can differ in the order of keys
/// alone.
fn first_difference<'v>(
    a: &'v Value,
    b: &'v Value,
    path: &mut Vec<String>,
) -> (Option<&'v Value>, Option<&'v Value>) {
    match (a, b) {
        (Value::Object(first), Value::Object(second)) => {
            for key in second
                .keys()
                .chain(first.keys().filter(|key| !second.contains_key(*key)))
            {
                let (a, b) = (first.get(key), second.get(key));
                if !is_identical(a, b) {
                    path.push(key.clone());
                    return a
                        .zip(b)
                        .map_or((a, b), |(a, b)| first_difference(a, b, path));
                }
            }
            (None, None)
        }
        (Value::Array(_), Value::Array(_) | Value::String(_))
        | (Value::String(_), Value::Array(_)) => {
            // A text of one line is not stored as a list.
            let (first, second) = (as_elements(a), as_elements(b));
            let is_other = |at: &usize| !is_identical(first.get(*at), second.get(*at));
            let at = (0..first.len().max(second.len()))
                .find(is_other)
                .unwrap_or_default();
            path.push(at.to_string());
            // An inserted or removed blank line is skipped.
            let sorted = |all: &'v [Value]| {
                all.get(at..)
                    .and_then(|rest| rest.iter().find(|one| one.as_str() != Some("")))
            };
            let (mut a, mut b) = (sorted(first), sorted(second));
            if a == b {
                (a, b) = (first.get(at), second.get(at));
            }
            a.zip(b)
                .map_or((a, b), |(a, b)| first_difference(a, b, path))
        }
        _ => (Some(a), Some(b)),
    }
}

fn as_elements(value: &Value) -> &[Value] {
    value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice)
}

/// Describes a place in a request: `message 2 (user), line 7`.
fn describe_path(path: &[String], request: &Value) -> String {
    let mut words = Vec::new();
    let mut at = Some(request);
    let mut list = "";
    for step in path {
        let is_only = at.is_some_and(|at| as_elements(at).len() < 2);
        at = at.and_then(|at| {
            step.parse().map_or_else(
                |_| at.get(step),
                |number: usize| as_elements(at).get(number),
            )
        });
        let Ok(number) = step.parse::<usize>() else {
            list = step;
            // A list is described by the number of its item.
            if path.len() == 1 || !matches!(list, "messages" | "tools" | "parts" | "text") {
                words.push(step.clone());
            }
            continue;
        };
        let name = |key: &str| {
            at.and_then(|at| at.get(key)?.as_str())
                .map_or_else(String::new, |name| format!(" ({name})"))
        };
        match list {
            "messages" => words.push(format!("message {}{}", number + 1, name("role"))),
            "tools" => words.push(format!("tool {}{}", number + 1, name("name"))),
            "parts" if is_only => {}
            "text" => words.push(format!("line {}", number + 1)),
            _ => words.push(format!(
                "{} {}",
                if list == "parts" { "part" } else { "entry" },
                number + 1
            )),
        }
    }
    words.join(", ")
}

/// The file that contains the changed value, if that is not a template's text.
fn changed_file(
    path: &[String],
    origin: Option<&Origin>,
    seen: &SeenContext<'_>,
) -> Option<PlaceInFile> {
    let SeenContext { case, assembly } = *seen;
    let key = path.get(1).map_or("", String::as_str);
    let is_turn = || {
        assembly
            .messages
            .get(key.parse::<usize>().ok()?)
            .filter(|message| message.is_turn())
    };
    let of_project = match path.first()?.as_str() {
        "model" => case.routed.choice.is_some(),
        "sampling" => {
            let set = case
                .routed
                .sampling
                .iter()
                .find(|one| one.name.word() == key);
            let is_reserve = set.is_none() && key == Parameter::MaxOutputTokens.word();
            is_reserve
                || set.is_some_and(|one| {
                    one.from.starts_with("role ") || one.from.starts_with("model ")
                })
        }
        "answer" => {
            let mut stretches = assembly
                .report
                .segments
                .iter()
                .flat_map(|account| account.segment.text.stretches());
            let schema = |origin: &Origin| {
                if let Origin::Schema { path } = origin {
                    Some(path.clone())
                } else {
                    None
                }
            };
            return stretches
                .find_map(|stretch| schema(&stretch.origin))
                .map(|path| (path, None));
        }
        "messages" if is_turn().is_some() => {
            return frozen_place(case.input, &Origin::Conversation);
        }
        _ => return frozen_place(case.input, origin?),
    };
    of_project.then(|| (PROJECT_FILE.to_owned(), None))
}

/// The origin of a place in a request.
fn path_origin(path: &[String], assembly: &Assembly) -> Option<Origin> {
    let number = |at: usize| path.get(at)?.parse::<usize>().ok();
    let (text, line) = match path.first()?.as_str() {
        "tools" => (&tool_segments(assembly).nth(number(1)?)?.segment.text, 0),
        "messages" => (
            &assembly.messages.get(number(1)?)?.text,
            number(5).unwrap_or_default(),
        ),
        _ => return None,
    };
    let starts = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.text().as_bytes()).map(|end| end + 1));
    let start = starts.take(line + 1).last()?;
    text_origin(text, start)
}

/// A file of the project, and a span in it if known.
pub(super) type PlaceInFile = (String, Option<Span>);

/// The place of a text's origin; `None` if the scenario does not freeze it.
pub(super) fn frozen_place(input: &CaseInput<'_>, origin: &Origin) -> Option<PlaceInFile> {
    let situation = &input.case.situation;
    let at = |file: Option<&String>, span: Span| match file {
        Some(file) => Some((resolve_beside(input.path, file)?, None)),
        None => Some((input.path.to_owned(), Some(span))),
    };
    let value = |one: &Spanned<FrozenValue>| {
        at(
            if let FrozenValue::File(file) = &one.value {
                Some(file)
            } else {
                None
            },
            one.span,
        )
    };
    let text = |one: &Spanned<FrozenText>| {
        at(
            if let FrozenText::File(file) = &one.value {
                Some(file)
            } else {
                None
            },
            one.span,
        )
    };
    #[allow(clippy::wildcard_enum_match_arm, reason = "nothing else is frozen")]
    match origin {
        Origin::Input { name } => value(situation.inputs.get(name)?),
        Origin::Result { name } => value(situation.results.get(name)?),
        Origin::File { path, .. } => text(situation.files.get(path)?),
        Origin::Match { id } => text(&situation.matches.iter().find(|found| found.id == *id)?.text),
        Origin::Conversation => {
            let history = situation.history.as_ref()?;
            at(
                if let FrozenConversation::File(file) = &history.value {
                    Some(file)
                } else {
                    None
                },
                history.span,
            )
        }
        _ => None,
    }
}
