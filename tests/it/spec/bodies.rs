//! `docs/spec/vectors/rendering.json`: the contexts of agents, in every profile and as every
//! provider's request body.

use super::scenes::{Scene, scenes};
use crate::support::fresh::assert_fresh;
use crate::support::profiles::fenced_profiles;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::context_source::Fixtures;
use ctxc::internals::context::fault::Refused;
use ctxc::internals::context::options::Options;
use ctxc::internals::context::render::call::CallParams;
use ctxc::internals::context::render::profile::Profile;
use ctxc::internals::context::render::target::{NoBody, RenderTarget};
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::assembler::{SegmentReport, Speaker};
use ctxc::internals::kernel::budget::{Counting, Disposition};
use ctxc::internals::kernel::context::{Segment, Trust};
use ctxc::internals::kernel::conversation::{Media, MediaSource, Part, ToolResult, Turn};
use ctxc::internals::scenario::messages;
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// In place of a mark that depends on the compiler's own hash; as long as it, so that bytes stay
/// where they are.
const NONCE: &str = "000000000000000000000";

fn assembled(scene: &Scene, profile: Profile) -> (Assembly, CallParams) {
    let (assembly, call) = tried(scene, profile, None);
    (
        assembly.unwrap_or_else(|faults| panic!("{}: {faults:#?}", scene.name)),
        call,
    )
}

fn tried(
    scene: &Scene,
    profile: Profile,
    target: Option<&'static RenderTarget>,
) -> (Result<Assembly, Refused>, CallParams) {
    let texts = scene
        .templates
        .iter()
        .map(|(path, text)| (path, text))
        .chain(&scene.files);
    let sources = texts.map(|(path, text)| (path.as_str(), text.as_str()));
    let built = ctxc::compile_sources(&ctxc::Config::default(), sources);
    let registry = built
        .registry
        .unwrap_or_else(|| panic!("{}: {:#?}", scene.name, built.diagnostics));
    let source = Fixtures(scene.matches.clone());
    let request = Request {
        node: &scene.node,
        inputs: &scene.inputs,
        results: &scene.results,
        parent: &scene.parent,
        source: &source,
        files: &scene.files,
        previous: scene.previous.as_ref(),
        attempts: &scene.attempts,
        history: &scene.history,
        ..Request::new(&scene.task)
    };
    let options = Options {
        profile,
        budget: scene.budget,
        counting: Counting::Always,
        target,
        ..Options::default()
    };
    (
        assemble(&registry, &request, &options),
        CallParams::from_registry(&registry, &request).unwrap(),
    )
}

const fn speaker(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
        _ => panic!("a speaker that no vector has"),
    }
}

fn account(account: &SegmentReport) -> Value {
    let disposition = match &account.disposition {
        Disposition::Kept => json!("kept"),
        Disposition::Cut { range, mark } => {
            json!({"from": range.start, "to": range.end, "mark": mark})
        }
        Disposition::Shortened { left_out } => {
            json!({"left_out": left_out.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>()})
        }
        Disposition::Dropped => json!("dropped"),
        other => panic!("{other:?}"),
    };
    let segment = &account.segment;
    json!({
        "id": segment.id, "kind": segment.kind, "stability": segment.stability, "trust": segment.trust,
        "position": account.position, "fate": disposition, "full": account.full_tokens, "kept": account.kept_tokens,
    })
}

fn rendered(assembly: &Assembly) -> Value {
    let plain = |text: &str| text.replace(&assembly.report.nonce, NONCE);
    let message = |message: &ctxc::internals::context::render::message::Message| {
        let (text, breakpoints) = (plain(message.text.text()), &message.breakpoints);
        json!({"speaker": speaker(message.speaker), "text": text, "breakpoints": breakpoints})
    };
    let messages: Vec<Value> = assembly.messages.iter().map(message).collect();
    json!({"messages": messages, "report": assembly.report.segments.iter().map(account).collect::<Vec<_>>()})
}

fn segment(segment: &Segment) -> Value {
    let Segment {
        id,
        kind,
        title,
        text,
        stability,
        trust,
        ..
    } = segment;
    json!({"id": id, "kind": kind, "title": title, "text": text.text(), "stability": stability, "trust": trust})
}

fn case(scene: &Scene) -> Value {
    let mut profiles = Map::new();
    for profile in fenced_profiles() {
        profiles.insert(
            profile.word().to_owned(),
            rendered(&assembled(scene, profile).0),
        );
    }
    // It refuses the texts that the others fence.
    if let (Ok(assembly), _) = tried(scene, Profile::Bare, None) {
        profiles.insert(Profile::Bare.word().to_owned(), rendered(&assembly));
    }
    let mut bodies = [Map::new(), Map::new()];
    for (profile, bodies) in [Profile::Markdown, Profile::Bare]
        .into_iter()
        .zip(&mut bodies)
    {
        for target in TARGETS {
            let (Ok(assembly), call) = tried(scene, profile, Some(target)) else {
                continue;
            };
            // Not every provider has a form for every image and document.
            if let Ok(text) = target.render_body(&assembly.messages, &call) {
                bodies.insert(
                    target.name.to_owned(),
                    json!(text.replace(&assembly.report.nonce, NONCE)),
                );
            }
        }
    }
    let [bodies, bare_bodies] = bodies;
    let results = scene.results.iter().map(|(name, result)| {
        let result = json!({"content": result.content, "notes": result.notes});
        (name.clone(), result)
    });
    let found = |found: &ctxc::internals::context::context_source::Match| json!({"id": found.id, "text": found.text, "trust": found.trust});
    let attempt = |attempt: &ctxc::internals::context::request::Attempt| {
        json!([attempt.stage, attempt.obstacle, attempt.note])
    };
    json!({
        "name": scene.name,
        "templates": scene.templates.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "files": scene.files, "task": scene.task, "node": scene.node, "inputs": scene.inputs,
        "results": results.collect::<Map<_, _>>(),
        "parent": scene.parent.iter().map(segment).collect::<Vec<_>>(),
        "matches": scene.matches.iter().map(found).collect::<Vec<_>>(),
        "previous": scene.previous, "attempts": scene.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "history": scene.history.iter().map(messages::write_message).collect::<Vec<_>>(),
        "budget": scene.budget, "profiles": profiles, "bodies": bodies, "bare_bodies": bare_bodies,
    })
}

#[test]
fn the_vectors_of_rendering_are_those_of_the_assembler() {
    let about = "what agents receive: messages and report in every profile, and the request body of every target";
    let mut out = format!(
        "{{\"schema\": \"ctxc/vectors/1\", \"edition\": \"2026\", \"about\": {}, \"cases\": [\n",
        json!(about)
    );
    for (at, scene) in scenes().iter().enumerate() {
        let _ = write!(out, "{}{}", if at == 0 { "" } else { ",\n" }, case(scene));
    }
    assert_fresh("docs/spec/vectors/rendering.json", &(out + "\n]}\n"));
}

fn texts(value: &Value) -> String {
    let parts = value
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["text"].as_str().unwrap());
    parts.collect()
}

/// For a reader with knowledge of the dialect.
#[test]
fn every_body_contains_all_messages_in_order_and_to_the_byte() {
    // Turns have forms of their own: the next test reads those.
    for scene in scenes()
        .into_iter()
        .filter(|scene| scene.history.is_empty())
    {
        let (assembly, call) = assembled(&scene, Profile::Markdown);
        let expected: Vec<(&str, &str)> = assembly
            .messages
            .iter()
            .map(|message| (speaker(message.speaker), message.text.text()))
            .collect();
        for target in TARGETS {
            let body: Value =
                serde_json::from_str(&target.render_body(&assembly.messages, &call).unwrap())
                    .unwrap();
            let turns = |key: &str, text: &dyn Fn(&Value) -> String| -> Vec<(String, String)> {
                let turn = |turn: &Value| (turn["role"].as_str().unwrap().to_owned(), text(turn));
                body[key].as_array().unwrap().iter().map(turn).collect()
            };
            let content = |turn: &Value| turn["content"].as_str().unwrap().to_owned();
            let mut received = match target.name {
                "openai-chat" | "ollama" => turns("messages", &content),
                "openai-responses" => turns("input", &content),
                "anthropic" => turns("messages", &|turn| texts(&turn["content"])),
                "gemini" => turns("contents", &|turn| texts(&turn["parts"])),
                other => panic!("no reader for {other}"),
            };
            let system = match target.name {
                "openai-chat" | "ollama" => None,
                "openai-responses" => body
                    .get("instructions")
                    .map(|text| text.as_str().unwrap().to_owned()),
                "anthropic" => body.get("system").map(texts),
                "gemini" => body
                    .get("systemInstruction")
                    .map(|system| texts(&system["parts"])),
                other => panic!("no reader for {other}"),
            };
            if let Some(system) = system {
                received.insert(0, ("system".to_owned(), system));
            }
            let received: Vec<(&str, &str)> = received
                .iter()
                .map(|(who, text)| (who.as_str(), text.as_str()))
                .collect();
            assert_eq!(received, expected, "{} {}", scene.name, target.name);
        }
    }
}

fn part(speaker: &str, part: &Part, out: &mut Vec<String>) {
    match part {
        Part::Text(text) => out.push(format!("{speaker}: {text}")),
        Part::Call(call) => out.push(format!("call {} {}", call.name, call.arguments)),
        Part::Result(result) => {
            let texts = result.parts.iter().map(|part| {
                if let Part::Text(text) = part {
                    text.as_str()
                } else {
                    panic!("{part:?}")
                }
            });
            out.push(format!(
                "result{} {}",
                if result.is_error { " error" } else { "" },
                texts.collect::<Vec<_>>().join("\n")
            ));
        }
        Part::Media(media) => out.push(format!("media {}", media.media_type)),
        Part::Reasoning(_) => {}
        other => panic!("{other:?}"),
    }
}

/// The parts of a body, in order, for a reader with knowledge of the provider. Calls and results
/// have names, never ids: Ollama has none.
fn read_parts(target: &str, body: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let result = |text: String, out: &mut Vec<String>| {
        let (error, text) = text
            .strip_prefix("[error] ")
            .map_or(("", text.as_str()), |text| (" error", text));
        out.push(format!("result{error} {text}"));
    };
    let arguments = |text: &Value| serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap();
    let media = |value: &Value| {
        word(value)
            .strip_prefix("data:")
            .map(|data| data.split(';').next().unwrap().to_owned())
    };
    match target {
        "openai-chat" | "ollama" => {
            for message in list(&body["messages"]) {
                let role = word(&message["role"]);
                if role == "tool" {
                    result(word(&message["content"]), &mut out);
                    continue;
                }
                let content = &message["content"];
                out.extend(
                    content
                        .as_str()
                        .filter(|text| !text.is_empty())
                        .map(|text| format!("{role}: {text}")),
                );
                for part in list(content) {
                    match word(&part["type"]).as_str() {
                        "text" => out.push(format!("{role}: {}", word(&part["text"]))),
                        _ => out.push(format!(
                            "media {}",
                            media(&part["image_url"]["url"]).unwrap()
                        )),
                    }
                }
                out.extend(
                    list(&message["images"])
                        .iter()
                        .map(|_| "media image/png".to_owned()),
                );
                for call in list(&message["tool_calls"]) {
                    let function = &call["function"];
                    let given = if target == "ollama" {
                        function["arguments"].clone()
                    } else {
                        arguments(&function["arguments"])
                    };
                    out.push(format!("call {} {given}", word(&function["name"])));
                }
            }
        }
        "openai-responses" => {
            out.push(format!("system: {}", word(&body["instructions"])));
            for item in list(&body["input"]) {
                match (word(&item["type"]).as_str(), &item["content"]) {
                    ("function_call", _) => out.push(format!(
                        "call {} {}",
                        word(&item["name"]),
                        arguments(&item["arguments"])
                    )),
                    ("function_call_output", _) => result(word(&item["output"]), &mut out),
                    (_, Value::String(text)) => {
                        out.push(format!("{}: {text}", word(&item["role"])));
                    }
                    (_, parts) => {
                        for part in list(parts) {
                            match word(&part["type"]).as_str() {
                                "input_text" => out.push(format!(
                                    "{}: {}",
                                    word(&item["role"]),
                                    word(&part["text"])
                                )),
                                _ => out
                                    .push(format!("media {}", media(&part["image_url"]).unwrap())),
                            }
                        }
                    }
                }
            }
        }
        "anthropic" => {
            out.push(format!("system: {}", texts(&body["system"])));
            for message in list(&body["messages"]) {
                for block in list(&message["content"]) {
                    match word(&block["type"]).as_str() {
                        "text" => out.push(format!(
                            "{}: {}",
                            word(&message["role"]),
                            word(&block["text"])
                        )),
                        "tool_use" => {
                            out.push(format!("call {} {}", word(&block["name"]), block["input"]));
                        }
                        "tool_result" => {
                            let texts: Vec<String> = list(&block["content"])
                                .iter()
                                .map(|block| word(&block["text"]))
                                .collect();
                            let error = if block["is_error"] == true {
                                " error"
                            } else {
                                ""
                            };
                            out.push(format!("result{error} {}", texts.join("\n")));
                        }
                        "thinking" => {}
                        _ => out.push(format!("media {}", word(&block["source"]["media_type"]))),
                    }
                }
            }
        }
        "gemini" => {
            out.push(format!(
                "system: {}",
                texts(&body["systemInstruction"]["parts"])
            ));
            for content in list(&body["contents"]) {
                let role = if content["role"] == "model" {
                    "assistant"
                } else {
                    "user"
                };
                for part in list(&content["parts"]) {
                    if let Some(text) = part.get("text") {
                        out.push(format!("{role}: {}", word(text)));
                    } else if let Some(call) = part.get("functionCall") {
                        out.push(format!("call {} {}", word(&call["name"]), call["args"]));
                    } else if let Some(response) = part.get("functionResponse") {
                        let error = response["response"].get("error");
                        let text = error.unwrap_or(&response["response"]["output"]);
                        out.push(format!(
                            "result{} {}",
                            if error.is_some() { " error" } else { "" },
                            word(text)
                        ));
                    } else {
                        out.push(format!("media {}", word(&part["inlineData"]["mimeType"])));
                    }
                }
            }
        }
        other => panic!("no reader for {other}"),
    }
    out
}

/// Texts, calls, results and images of a conversation are in every body, in their order.
#[test]
fn every_body_states_the_turns() {
    for scene in scenes()
        .into_iter()
        .filter(|scene| !scene.history.is_empty())
    {
        let (assembly, call) = assembled(&scene, Profile::Markdown);
        if TARGETS
            .iter()
            .any(|target| target.render_body(&assembly.messages, &call).is_err())
        {
            continue;
        }
        let mut expected = Vec::new();
        for message in &assembly.messages {
            let who = if message.speaker == Speaker::Assistant {
                "assistant"
            } else {
                speaker(message.speaker)
            };
            if message.parts.is_empty() {
                expected.push(format!("{who}: {}", message.as_str()));
            }
            message
                .parts
                .iter()
                .for_each(|one| part(who, one, &mut expected));
        }
        for target in TARGETS {
            let body: Value =
                serde_json::from_str(&target.render_body(&assembly.messages, &call).unwrap())
                    .unwrap();
            let mut received = read_parts(target.name, &body);
            let mut expected = expected.clone();
            if target.name == "ollama" {
                // Its images stand beside the text, and several texts of a message are one.
                let texts = |all: Vec<String>| -> Vec<String> {
                    let lines = all
                        .iter()
                        .flat_map(|one| one.trim_start_matches("user: ").lines());
                    lines
                        .filter(|line| !line.is_empty())
                        .map(str::to_owned)
                        .collect()
                };
                (received, expected) = (texts(received), texts(expected));
                received.sort();
                expected.sort();
            }
            assert_eq!(received, expected, "{} {}", scene.name, target.name);
        }
    }
}

/// A part without a form at a provider is an error, and never left out.
#[test]
fn what_no_form_of_a_provider_holds_is_refused() {
    let media = |kind: &str, url: bool| {
        let source = if url {
            MediaSource::Url("https://a.b/c".to_owned())
        } else {
            MediaSource::Base64("AAAA".to_owned())
        };
        Media {
            media_type: kind.to_owned(),
            name: None,
            source,
        }
    };
    let registry = ctxc::compile_sources(
        &ctxc::Config::default(),
        [(
            "t.xml",
            "<task name=\"t\" type=\"atomic\"><description>d</description><history/></task>",
        )],
    );
    let registry = registry.registry.unwrap();
    let takes = |turns: &[Turn]| {
        let assembly = assemble(
            &registry,
            &Request {
                history: turns,
                ..Request::new("t")
            },
            &Options::default(),
        )
        .unwrap();
        let taken = TARGETS.iter().filter(|target| {
            target
                .render_body(&assembly.messages, &CallParams::default())
                .is_ok()
        });
        taken
            .map(|target| target.name)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let user = |media| vec![Turn::new(Speaker::User, "look").with(media)];
    let all = "openai-chat openai-responses anthropic gemini ollama";
    assert_eq!(takes(&user(media("image/png", false))), all);
    assert_eq!(
        takes(&user(media("image", true))),
        "openai-chat openai-responses anthropic gemini"
    );
    assert_eq!(
        takes(&user(media("application/pdf", false))),
        "openai-chat openai-responses anthropic gemini"
    );
    assert_eq!(
        takes(&user(media("application", true))),
        "openai-responses anthropic gemini"
    );
    assert_eq!(
        takes(&user(media("text/csv", false))),
        "openai-chat openai-responses gemini"
    );
    assert_eq!(
        takes(&[Turn::new(Speaker::Assistant, "so").with(media("image/png", false))]),
        "gemini"
    );
    let result = ToolResult {
        call: "c".to_owned(),
        parts: vec![Part::Media(media("image/png", false))],
        is_error: false,
    };
    let shown = [
        Turn::new(Speaker::Assistant, "").calling("c", "f", json!({})),
        Turn {
            speaker: Speaker::Tool,
            parts: vec![Part::Result(result)],
        },
    ];
    assert_eq!(takes(&shown), "openai-responses anthropic gemini ollama");
}

/// A text from outside never reaches the system text, under any name that the parent or a template
/// gives it.
#[test]
fn nothing_untrusted_is_the_systems() {
    for scene in scenes() {
        let (assembly, _) = assembled(&scene, Profile::Markdown);
        for message in assembly
            .messages
            .iter()
            .filter(|message| message.speaker == Speaker::System)
        {
            let trusts = message
                .segments
                .iter()
                .map(|at| assembly.report.segments[*at].segment.trust);
            assert!(
                trusts.clone().all(|trust| trust == Trust::Trusted),
                "{}",
                scene.name
            );
        }
    }
}

#[test]
fn a_request_without_a_question_is_none() {
    let (assembly, call) = assembled(&scenes()[0], Profile::Markdown);
    let system: Vec<_> = assembly
        .messages
        .into_iter()
        .filter(|message| message.speaker == Speaker::System)
        .collect();
    assert!(!system.is_empty());
    for target in TARGETS {
        assert_eq!(target.render_body(&system, &call), Err(NoBody::Empty));
        assert_eq!(target.render_body(&[], &call), Err(NoBody::Empty));
    }
}

/// More breakpoints than a request may have: those of the longest prefixes stay, and no block is
/// blank.
#[test]
fn anthropic_gets_four_breakpoints_at_most_and_no_blank_block() {
    use ctxc::internals::context::render::message::Message;
    use ctxc::internals::kernel::context::{Origin, TracedText};
    let message = |speaker, text: &str, breakpoints: &[usize]| Message {
        speaker,
        text: TracedText::new(text, Origin::Generated),
        parts: Vec::new(),
        segments: Vec::new(),
        breakpoints: breakpoints.to_vec(),
    };
    let messages = [
        message(Speaker::System, "abcdef  ", &[1, 2, 3, 4, 5, 6]),
        message(Speaker::User, "  g", &[2]),
        message(Speaker::User, " ", &[]),
    ];
    let anthropic = TARGETS
        .iter()
        .find(|target| target.name == "anthropic")
        .unwrap();
    let body: Value = serde_json::from_str(
        &anthropic
            .render_body(&messages, &CallParams::default())
            .unwrap(),
    )
    .unwrap();
    let blocks = |blocks: &Value| -> Vec<(String, bool)> {
        let block = |block: &Value| {
            (
                block["text"].as_str().unwrap().to_owned(),
                block.get("cache_control").is_some(),
            )
        };
        blocks.as_array().unwrap().iter().map(block).collect()
    };
    let named = |parts: &[(&str, bool)]| {
        parts
            .iter()
            .map(|(text, is)| ((*text).to_owned(), *is))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        blocks(&body["system"]),
        named(&[
            ("a", false),
            ("b", true),
            ("c", true),
            ("d", true),
            ("e", true),
            ("f  ", false)
        ])
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert_eq!(
        blocks(&body["messages"][0]["content"]),
        named(&[("  g", false)])
    );
}
