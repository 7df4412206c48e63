//! `docs/spec/vectors/rendering.json`: what agents receive, in every profile and as every provider's request body.

use super::scenes::{Scene, scenes};
use crate::support::fresh::assert_fresh;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::context_source::Fixtures;
use ctxc::internals::context::options::Options;
use ctxc::internals::context::render::call::Call;
use ctxc::internals::context::render::profile::Profile;
use ctxc::internals::context::render::target::EmptyMessages;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::assembler::{SegmentReport, Speaker};
use ctxc::internals::kernel::budget::{Counting, Disposition};
use ctxc::internals::kernel::context::{Segment, Trust};
use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// In place of a mark that depends on the compiler's own hash; as long as it, so that bytes stay where they are.
const NONCE: &str = "000000000000000000000";

fn assembled(scene: &Scene, profile: Profile) -> (Assembly, Call) {
    let texts = scene.templates.iter().map(|(path, text)| (path, text)).chain(&scene.files);
    let sources = texts.map(|(path, text)| (path.as_str(), text.as_str()));
    let built = ctxc::compile_sources(&ctxc::Config::default(), sources);
    let registry = built.registry.unwrap_or_else(|| panic!("{}: {:#?}", scene.name, built.diagnostics));
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
        ..Request::new(&scene.task)
    };
    let options = Options { profile, budget: scene.budget, counting: Counting::Always, ..Options::default() };
    let assembly = assemble(&registry, &request, &options).unwrap_or_else(|faults| panic!("{}: {faults:#?}", scene.name));
    (assembly, Call::of(&registry, &request).unwrap())
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
    let fate = match &account.fate {
        Disposition::Kept => json!("kept"),
        Disposition::Cut { range, mark } => json!({"from": range.start, "to": range.end, "mark": mark}),
        Disposition::Dropped => json!("dropped"),
        other => panic!("{other:?}"),
    };
    let segment = &account.segment;
    json!({
        "id": segment.id, "kind": segment.kind, "stability": segment.stability, "trust": segment.trust,
        "position": account.position, "fate": fate, "full": account.full_tokens, "kept": account.kept_tokens,
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
    let Segment { id, kind, title, text, stability, trust, .. } = segment;
    json!({"id": id, "kind": kind, "title": title, "text": text.text(), "stability": stability, "trust": trust})
}

fn case(scene: &Scene) -> Value {
    let mut profiles = Map::new();
    for profile in Profile::ALL {
        profiles.insert(profile.word().to_owned(), rendered(&assembled(scene, profile).0));
    }
    let (assembly, call) = assembled(scene, Profile::Markdown);
    let mut bodies = Map::new();
    for target in TARGETS {
        let text = target.body(&assembly.messages, &call).unwrap().replace(&assembly.report.nonce, NONCE);
        bodies.insert(target.name.to_owned(), json!(text));
    }
    let results = scene.results.iter().map(|(name, result)| {
        let result = json!({"content": result.content, "notes": result.notes});
        (name.clone(), result)
    });
    let found = |found: &ctxc::internals::context::context_source::Match| json!({"id": found.id, "text": found.text, "trust": found.trust});
    let attempt = |attempt: &ctxc::internals::context::request::Attempt| json!([attempt.stage, attempt.obstacle, attempt.note]);
    json!({
        "name": scene.name,
        "templates": scene.templates.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "files": scene.files, "task": scene.task, "node": scene.node, "inputs": scene.inputs,
        "results": results.collect::<Map<_, _>>(),
        "parent": scene.parent.iter().map(segment).collect::<Vec<_>>(),
        "matches": scene.matches.iter().map(found).collect::<Vec<_>>(),
        "previous": scene.previous, "attempts": scene.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "budget": scene.budget, "profiles": profiles, "bodies": bodies,
    })
}

#[test]
fn the_vectors_of_rendering_are_what_the_assembler_says() {
    let about = "what agents receive: messages and report in every profile, and the request body of every target";
    let mut out = format!("{{\"schema\": \"ctxc/vectors/1\", \"edition\": \"2026\", \"about\": {}, \"cases\": [\n", json!(about));
    for (at, scene) in scenes().iter().enumerate() {
        let _ = write!(out, "{}{}", if at == 0 { "" } else { ",\n" }, case(scene));
    }
    assert_fresh("docs/spec/vectors/rendering.json", &(out + "\n]}\n"));
}

fn texts(value: &Value) -> String {
    let parts = value.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap());
    parts.collect()
}

/// Every body says the messages, all of them, in their order and to the byte, as somebody reads it who knows the provider.
#[test]
fn every_body_says_the_same() {
    for scene in scenes() {
        let (assembly, call) = assembled(&scene, Profile::Markdown);
        let said: Vec<(&str, &str)> =
            assembly.messages.iter().map(|message| (speaker(message.speaker), message.text.text())).collect();
        for target in TARGETS {
            let body: Value = serde_json::from_str(&target.body(&assembly.messages, &call).unwrap()).unwrap();
            let turns = |key: &str, text: &dyn Fn(&Value) -> String| -> Vec<(String, String)> {
                let turn = |turn: &Value| (turn["role"].as_str().unwrap().to_owned(), text(turn));
                body[key].as_array().unwrap().iter().map(turn).collect()
            };
            let content = |turn: &Value| turn["content"].as_str().unwrap().to_owned();
            let mut heard = match target.name {
                "openai-chat" | "ollama" => turns("messages", &content),
                "openai-responses" => turns("input", &content),
                "anthropic" => turns("messages", &|turn| texts(&turn["content"])),
                "gemini" => turns("contents", &|turn| texts(&turn["parts"])),
                other => panic!("no reader for {other}"),
            };
            let system = match target.name {
                "openai-chat" | "ollama" => None,
                "openai-responses" => body.get("instructions").map(|text| text.as_str().unwrap().to_owned()),
                "anthropic" => body.get("system").map(texts),
                "gemini" => body.get("systemInstruction").map(|system| texts(&system["parts"])),
                other => panic!("no reader for {other}"),
            };
            if let Some(system) = system {
                heard.insert(0, ("system".to_owned(), system));
            }
            let heard: Vec<(&str, &str)> = heard.iter().map(|(who, text)| (who.as_str(), text.as_str())).collect();
            assert_eq!(heard, said, "{} {}", scene.name, target.name);
        }
    }
}

/// A text from outside never reaches what the system says, however the parent or a template calls it.
#[test]
fn nothing_untrusted_is_the_systems() {
    for scene in scenes() {
        let (assembly, _) = assembled(&scene, Profile::Markdown);
        for message in assembly.messages.iter().filter(|message| message.speaker == Speaker::System) {
            let trusts = message.segments.iter().map(|at| assembly.report.segments[*at].segment.trust);
            assert!(trusts.clone().all(|trust| trust == Trust::Trusted), "{}", scene.name);
        }
    }
}

#[test]
fn a_request_without_a_question_is_none() {
    let (assembly, call) = assembled(&scenes()[0], Profile::Markdown);
    let system: Vec<_> = assembly.messages.into_iter().filter(|message| message.speaker == Speaker::System).collect();
    assert!(!system.is_empty());
    for target in TARGETS {
        assert_eq!(target.body(&system, &call), Err(EmptyMessages));
        assert_eq!(target.body(&[], &call), Err(EmptyMessages));
    }
}

/// More breakpoints than a request may have: those of the longest prefixes stay, and no block is blank.
#[test]
fn anthropic_gets_four_breakpoints_at_most_and_no_blank_block() {
    use ctxc::internals::context::render::message::Message;
    use ctxc::internals::kernel::context::{Origin, Traced};
    let message = |speaker, text: &str, breakpoints: &[usize]| Message {
        speaker,
        text: Traced::new(text, Origin::Frame),
        segments: Vec::new(),
        breakpoints: breakpoints.to_vec(),
    };
    let messages = [
        message(Speaker::System, "abcdef  ", &[1, 2, 3, 4, 5, 6]),
        message(Speaker::User, "  g", &[2]),
        message(Speaker::User, " ", &[]),
    ];
    let anthropic = TARGETS.iter().find(|target| target.name == "anthropic").unwrap();
    let body: Value = serde_json::from_str(&anthropic.body(&messages, &Call::default()).unwrap()).unwrap();
    let blocks = |blocks: &Value| -> Vec<(String, bool)> {
        let block = |block: &Value| (block["text"].as_str().unwrap().to_owned(), block.get("cache_control").is_some());
        blocks.as_array().unwrap().iter().map(block).collect()
    };
    let named = |parts: &[(&str, bool)]| parts.iter().map(|(text, is)| ((*text).to_owned(), *is)).collect::<Vec<_>>();
    assert_eq!(
        blocks(&body["system"]),
        named(&[("a", false), ("b", true), ("c", true), ("d", true), ("e", true), ("f  ", false)])
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 1);
    assert_eq!(blocks(&body["messages"][0]["content"]), named(&[("  g", false)]));
}
