//! The events of a run as `OpenTelemetry` spans, by the conventions for generative AI, in the JSON
//! form of OTLP: a span for the run, in it spans of each agent and script, in an agent spans of
//! each model call and tool call.
//!
//! Sends nothing. Message contents are left out unless requested. All texts are masked, regardless
//! of the trace's settings, because a model may generate names too.

use super::trace::{Begin, End, Moment, ToolLine, TraceEvent};
use crate::base::hash::Hasher;
use crate::context::render::call::MODEL_PLACEHOLDER;
use crate::kernel::conversation::{Media, MediaSource, Part, Speaker, Turn};
use crate::kernel::pipeline::agent::Status;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider::{Answer, ProviderError, Stop};
use crate::provider::read;
use crate::record::recording::{AnsweredBy, Recording};
use crate::record::redact::Redactor;
use crate::request::model::ModelRequest;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Options of span output.
#[derive(Clone, Copy, Debug)]
pub struct SpanOptions<'a> {
    /// The name of the run. Equal names give equal ids.
    pub run: &'a str,
    /// The task.
    pub task: &'a str,
    /// The beginning of the run, if an earlier part recorded it.
    pub begin: Option<&'a Begin>,
    /// Attributes of the sending service, such as its name.
    pub resource: &'a BTreeMap<String, String>,
    /// True if message contents are included.
    pub with_content: bool,
    /// Masks secrets and personal data.
    pub redactor: &'a Redactor,
}

/// The kinds of spans: internal to this program, and a call of another one.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;

#[derive(Debug)]
struct OtlpSpan {
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    start: i128,
    end: i128,
    attributes: Map<String, Value>,
    /// The type and the message of its error.
    error: Option<(String, String)>,
}

/// Converts the moments of a run, with times in nanoseconds, to an OTLP request.
pub fn build_document(moments: Vec<(i128, Moment)>, options: &SpanOptions<'_>) -> Value {
    let started = moments.first().map_or(0, |(at, _)| *at);
    let trace = stable_id(&["trace", options.run], 32);
    // A resumed run has another root span for each part.
    let root = stable_id(&["run", options.run, &started.to_string()], 16);
    let (begin, open, before) = (options.begin.cloned(), BTreeMap::new(), BTreeMap::new());
    let mut spans = SpanBuilder {
        options,
        root,
        begin,
        open,
        done: Vec::new(),
        before,
        end: None,
    };
    let mut ended = started;
    for (at, moment) in moments {
        ended = ended.max(at);
        spans.add_moment(at, moment);
    }
    let spans = spans.finish(started, ended);
    let spans: Vec<Value> = spans
        .iter()
        .map(|span| span.to_json(&trace, options))
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    let resource = options
        .resource
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let scope = json!({"scope": {"name": "ctxc", "version": version}, "spans": spans});
    json!({"resourceSpans": [{"resource": {"attributes": otlp_attributes(&resource)}, "scopeSpans": [scope]}]})
}

/// A stable id of the given number of hexadecimal digits, derived from the parts.
fn stable_id(parts: &[&str], digits: usize) -> String {
    let mut hasher = Hasher::new();
    for part in parts {
        hasher.add_field(part);
    }
    let hash = hasher.finish().to_string();
    hash.get(hash.len() - digits..)
        .unwrap_or_default()
        .to_owned()
}

struct SpanBuilder<'o> {
    options: &'o SpanOptions<'o>,
    root: String,
    begin: Option<Begin>,
    /// Running stages.
    open: BTreeMap<String, OtlpSpan>,
    done: Vec<OtlpSpan>,
    /// The time of the last moment in each stage, which is the start of its next span.
    before: BTreeMap<String, i128>,
    end: Option<End>,
}

impl SpanBuilder<'_> {
    fn add_moment(&mut self, at: i128, moment: Moment) {
        match moment {
            Moment::Stage {
                stage,
                name,
                is_script,
            } => {
                // A subtask runs inside the agent that requested it.
                let asking = stage
                    .rsplit_once('~')
                    .and_then(|(asking, _)| self.open.get(asking));
                let parent = asking.map_or_else(|| self.root.clone(), |asking| asking.id.clone());
                let mut span = self.new_span(&stage, at, at, parent);
                // The only stage of a task has no name of its own.
                let played = self
                    .begin
                    .as_ref()
                    .and_then(|begin| begin.role.as_deref())
                    .unwrap_or(self.options.task);
                let own = if stage.contains('~') {
                    "subtask"
                } else {
                    played
                };
                let name = if name == "/" { own.to_owned() } else { name };
                if is_script {
                    span.name = format!("script {name}");
                } else {
                    span.name = format!("invoke_agent {name}");
                    span.set_attribute("gen_ai.operation.name", "invoke_agent");
                    span.set_attribute("gen_ai.agent.name", name);
                }
                self.before.insert(stage.clone(), at);
                self.open.insert(stage, span);
            }
            Moment::Call(call) => self.add_call(at, &call, None),
            Moment::FailedCall(call, error) => self.add_call(at, &call, Some(&error)),
            Moment::Event(event) => self.add_event(at, *event),
        }
    }

    fn add_event(&mut self, at: i128, event: TraceEvent) {
        if let TraceEvent::Begin(begin) = event {
            self.begin = Some(begin);
        } else if let TraceEvent::Tool(tool) = event {
            self.add_tool(at, tool);
        } else if let TraceEvent::Result { stage, output, .. } = event {
            let is_failed = output.status == Status::Failed;
            self.close_stage(
                at,
                &stage,
                is_failed.then(|| {
                    (
                        ObstacleKind::Reported.as_str().to_owned(),
                        output.text().into_owned(),
                    )
                }),
            );
        } else if let TraceEvent::Failed { stage, obstacle } = event {
            self.close_stage(at, &stage, Some(obstacle_error(&obstacle)));
        } else if let TraceEvent::End(end) = event {
            self.end = Some(end);
        }
    }

    fn new_span(&self, key: &str, start: i128, end: i128, parent: String) -> OtlpSpan {
        let id = stable_id(&["span", self.options.run, &self.root, key], 16);
        let parent = Some(parent);
        OtlpSpan {
            id,
            parent,
            name: String::new(),
            kind: INTERNAL,
            start,
            end,
            attributes: Map::new(),
            error: None,
        }
    }

    /// Creates a span inside a stage that ends at `at`.
    fn stage_span(&mut self, stage: &str, key: &str, at: i128) -> OtlpSpan {
        let start = self.before.insert(stage.to_owned(), at).unwrap_or(at);
        let parent = self
            .open
            .get(stage)
            .map_or_else(|| self.root.clone(), |open| open.id.clone());
        self.new_span(key, start, at, parent)
    }

    fn add_call(&mut self, at: i128, call: &Recording, failed: Option<&ProviderError>) {
        let stage = call.conversation.clone().unwrap_or_default();
        let mut span = self.stage_span(&stage, &call.id, at);
        "chat".clone_into(&mut span.name);
        span.error = failed.map(|error| (error_type(error), error.to_string()));
        span.set_attribute("gen_ai.operation.name", "chat");
        span.set_attribute(
            "gen_ai.conversation.id",
            format!("{}{stage}", self.options.run),
        );
        if let Some(Value::String(agent)) = self
            .open
            .get(&stage)
            .and_then(|open| open.attributes.get("gen_ai.agent.name"))
        {
            span.set_attribute("gen_ai.agent.name", agent.as_str());
        }
        if let Some(took) = call.latency_ms.filter(|took| *took > 0) {
            span.start = span.start.max(at - i128::from(took) * 1_000_000);
        }
        // Without a model, the field contains a placeholder.
        let model = |model: &str| Some(model.to_owned()).filter(|model| model != MODEL_PLACEHOLDER);
        if let Some(model) = model(&call.model) {
            span.name = format!("chat {model}");
            span.set_attribute("gen_ai.request.model", model);
        }
        // Scripted and replayed answers involve no service and no cost.
        let is_upstream = call.answered_by == AnsweredBy::Upstream;
        if is_upstream {
            span.kind = CLIENT;
            span.set_attribute("gen_ai.provider.name", vendor_name(&call.dialect));
        }
        span.set_attribute("ctxc.answered_by", json!(call.answered_by));
        let usage = [
            ("gen_ai.usage.input_tokens", call.usage.input),
            ("gen_ai.usage.output_tokens", call.usage.output),
            ("gen_ai.usage.cache_read.input_tokens", call.usage.cached),
        ];
        for (key, tokens) in usage.into_iter().filter(|_| is_upstream) {
            if let Some(tokens) = tokens {
                span.set_attribute(key, tokens);
            }
        }
        let answer = read::find_dialect(&call.dialect).zip(call.response_text());
        let answer = answer.and_then(|(dialect, body)| read::answer(dialect, &body).ok());
        if let Some(answer) = &answer {
            span.set_attribute(
                "gen_ai.response.finish_reasons",
                json!([finish_reason(answer.stop)]),
            );
            if let Some(model) = answer.model.as_deref().and_then(model) {
                span.set_attribute("gen_ai.response.model", model);
            }
        }
        if let Ok(request) = ModelRequest::parse(call.request.get(), Some(&call.endpoint)) {
            for key in ["temperature", "top_p", "seed", "max_tokens"] {
                if let Some(value) = request.body.get(key).filter(|value| value.is_number()) {
                    span.set_attribute(&format!("gen_ai.request.{key}"), value.clone());
                }
            }
            if self.options.with_content {
                add_content(&mut span, &request, answer.as_ref());
            }
        }
        self.done.push(span);
    }

    fn add_tool(&mut self, at: i128, tool: ToolLine) {
        let mut span = self.stage_span(
            &tool.stage,
            &format!("{} tool {}", tool.stage, tool.number),
            at,
        );
        span.name = format!("execute_tool {}", tool.name);
        span.set_attribute("gen_ai.operation.name", "execute_tool");
        span.set_attribute("gen_ai.tool.name", tool.name);
        span.set_attribute("gen_ai.tool.type", "function");
        span.error = tool
            .is_error
            .then(|| ("tool".to_owned(), tool.result.clone()));
        if self.options.with_content {
            span.set_attribute("gen_ai.tool.call.arguments", tool.arguments.to_string());
            span.set_attribute("gen_ai.tool.call.result", tool.result);
        }
        self.done.push(span);
    }

    fn close_stage(&mut self, at: i128, stage: &str, error: Option<(String, String)>) {
        if let Some(span) = self.open.remove(stage) {
            self.done.push(OtlpSpan {
                end: at,
                error,
                ..span
            });
        }
    }

    /// Returns all spans. Spans that are still open were cancelled.
    fn finish(self, start: i128, end: i128) -> Vec<OtlpSpan> {
        let mut run = self.new_span("run", start, end, String::new());
        run.name = format!("invoke_workflow {}", self.options.task);
        run.set_attribute("gen_ai.operation.name", "invoke_workflow");
        run.set_attribute("gen_ai.workflow.name", self.options.task);
        run.set_attribute("ctxc.run.id", self.options.run);
        if let Some(ended) = &self.end {
            run.set_attribute("ctxc.run.status", ended.status.as_str());
            run.error = ended.obstacle.as_ref().map(obstacle_error);
        }
        let run = OtlpSpan {
            id: self.root,
            parent: None,
            ..run
        };
        let open = self.open.into_values().map(|span| OtlpSpan {
            end,
            error: Some(("cancelled".to_owned(), String::new())),
            ..span
        });
        let mut all = vec![run];
        all.extend(self.done.into_iter().chain(open));
        all
    }
}

/// Adds the message contents of a call.
fn add_content(span: &mut OtlpSpan, request: &ModelRequest, answer: Option<&Answer>) {
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for message in &request.messages {
        let parts = message
            .parts
            .iter()
            .filter_map(|placed| placed.part.as_ref().map(part_json));
        if message.speaker == Speaker::System && message.number.is_none() {
            system.extend(parts);
        } else {
            messages
                .push(json!({"role": message.speaker.word(), "parts": parts.collect::<Vec<_>>()}));
        }
    }
    let tool = |tool: &crate::request::model::RequestTool| json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": request.argument_schema(tool)});
    let message = |answer: &Answer| {
        let Turn { speaker, parts } = &answer.turn;
        let parts: Vec<Value> = parts.iter().map(part_json).collect();
        json!({"role": speaker.word(), "parts": parts, "finish_reason": finish_reason(answer.stop)})
    };
    let all = [
        ("gen_ai.system_instructions", system),
        ("gen_ai.input.messages", messages),
        (
            "gen_ai.tool.definitions",
            request.tools.iter().map(tool).collect(),
        ),
        (
            "gen_ai.output.messages",
            answer.map(message).into_iter().collect(),
        ),
    ];
    for (key, messages) in all.into_iter().filter(|(_, messages)| !messages.is_empty()) {
        span.set_attribute(key, Value::Array(messages).to_string());
    }
}

fn obstacle_error(obstacle: &Obstacle) -> (String, String) {
    (obstacle.kind.to_string(), obstacle.note.clone())
}

/// The error type of a failed call: the HTTP status, if any.
fn error_type(error: &ProviderError) -> String {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the others have no word but their own"
    )]
    match error {
        ProviderError::Refused { status, .. } => status.to_string(),
        ProviderError::RateLimited { .. } => "429".to_owned(),
        ProviderError::TimeLimit { .. } => "timeout".to_owned(),
        other => other.as_str().to_owned(),
    }
}

/// The vendor of a dialect, as the conventions name it.
fn vendor_name(dialect: &str) -> &str {
    match dialect {
        "gemini" => "gcp.gemini",
        dialect => dialect.split('-').next().unwrap_or(dialect),
    }
}

const fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Length => "length",
        Stop::Filter => "content_filter",
        Stop::Tool => "tool_call",
        Stop::Other => "other",
    }
}

/// Converts a message part to the conventions' form.
fn part_json(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "content": text}),
        Part::Reasoning(thought) => json!({"type": "reasoning", "content": thought.text}),
        Part::Call(call) => {
            json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
        }
        Part::Result(result) => {
            let texts = result.parts.iter().filter_map(|part| {
                if let Part::Text(text) = part {
                    Some(text.as_str())
                } else {
                    None
                }
            });
            json!({"type": "tool_call_response", "id": result.call, "response": texts.collect::<Vec<_>>().join("\n")})
        }
        Part::Media(Media {
            media_type, source, ..
        }) => {
            let modality = media_type.split('/').next();
            match source {
                MediaSource::Base64(data) => {
                    json!({"type": "blob", "modality": modality, "mime_type": media_type, "content": data})
                }
                MediaSource::Url(uri) => {
                    json!({"type": "uri", "modality": modality, "mime_type": media_type, "uri": uri})
                }
            }
        }
    }
}

impl SpanOptions<'_> {
    /// Masks secrets and personal data in the text of an attribute.
    fn mask_attribute(&self, key: &str, text: &str) -> String {
        match key.rsplit('.').next().unwrap_or_default() {
            // Numbers in a run's name are not personal data, even if they look like it.
            "id" => text.to_owned(),
            // These values are JSON and must stay valid JSON.
            "system_instructions" | "messages" | "definitions" | "arguments" => {
                self.redactor.mask_json(text, "", &mut Vec::new())
            }
            _ => self.redactor.mask_text(text).0,
        }
    }
}

impl OtlpSpan {
    fn set_attribute(&mut self, key: &str, value: impl Into<Value>) {
        self.attributes.insert(key.to_owned(), value.into());
    }

    fn to_json(&self, trace: &str, options: &SpanOptions<'_>) -> Value {
        let mut own = self.attributes.clone();
        let mut status = json!({});
        if let Some((kind, why)) = &self.error {
            own.insert("error.type".to_owned(), kind.as_str().into());
            // The message may repeat contents.
            let why = if options.with_content {
                options.mask_attribute("status", why)
            } else {
                String::new()
            };
            status = json!({"code": 2, "message": why});
        }
        for (key, value) in &mut own {
            if let Value::String(text) = value {
                *text = options.mask_attribute(key, text);
            }
        }
        json!({
            "traceId": trace,
            "spanId": self.id,
            "parentSpanId": self.parent.as_deref().unwrap_or_default(),
            "name": options.mask_attribute("name", &self.name),
            "kind": self.kind,
            "startTimeUnixNano": self.start.to_string(),
            "endTimeUnixNano": self.end.to_string(),
            "attributes": otlp_attributes(&own),
            "status": status,
        })
    }
}

/// Converts attributes to OTLP.
fn otlp_attributes(all: &Map<String, Value>) -> Vec<Value> {
    fn any(value: &Value) -> Value {
        match value {
            Value::Bool(flag) => json!({"boolValue": flag}),
            // A whole number may exceed the precise range of JavaScript.
            Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
            Value::Number(number) => json!({"intValue": number.to_string()}),
            Value::String(text) => json!({"stringValue": text}),
            Value::Array(list) => {
                json!({"arrayValue": {"values": list.iter().map(any).collect::<Vec<_>>()}})
            }
            Value::Null | Value::Object(_) => json!({"stringValue": value.to_string()}),
        }
    }
    all.iter()
        .map(|(key, value)| json!({"key": key, "value": any(value)}))
        .collect()
}
