//! Request bodies contain nothing that providers refuse: unsuitable ids of calls, wrong types of
//! images, thoughts alone, half an example.

use super::settings::{registry, values};
use ctxc::Registry;
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::render::call::CallParams;
use ctxc::internals::context::render::message::Message;
use ctxc::internals::context::render::target::RenderTarget;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::Request;
use ctxc::internals::context::{Profile, Speaker};
use ctxc::internals::kernel::conversation::{Media, MediaSource, Part, Reasoning, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn target(name: &str) -> &'static RenderTarget {
    TARGETS.iter().find(|target| target.name == name).unwrap()
}

fn body(name: &str, turns: &[Turn]) -> Value {
    let messages: Vec<Message> = turns.iter().cloned().map(Message::from).collect();
    serde_json::from_str(
        &target(name)
            .render_body(&messages, &CallParams::default())
            .unwrap(),
    )
    .unwrap()
}

/// Collects the values of all fields of a name, in order.
fn all<'v>(value: &'v Value, field: &str, out: &mut Vec<&'v str>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                out.extend((name == field).then(|| value.as_str()).flatten());
                all(value, field, out);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| all(value, field, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn values_of(body: &Value, field: &str) -> Vec<String> {
    let mut out = Vec::new();
    all(body, field, &mut out);
    out.into_iter().map(str::to_owned).collect()
}

fn call(id: &str, name: &str) -> [Turn; 2] {
    [
        Turn::new(Speaker::Assistant, "").calling(id, name, json!({})),
        Turn::result(id, name.to_uppercase()),
    ]
}

fn talk(calls: &[(&str, &str)]) -> Vec<Turn> {
    let calls = calls.iter().flat_map(|(id, name)| call(id, name));
    std::iter::once(Turn::new(Speaker::User, "go"))
        .chain(calls)
        .collect()
}

#[test]
fn a_result_has_the_name_of_the_last_call_with_its_id() {
    let turns = talk(&[("call_0", "alpha"), ("call_0", "beta")]);
    let gemini = body("gemini", &turns);
    assert_eq!(
        values_of(&gemini, "name"),
        ["alpha", "alpha", "beta", "beta"]
    );
    assert_eq!(
        values_of(&gemini, "id"),
        ["call_0"; 4],
        "it takes them as they are"
    );
    assert_eq!(
        values_of(&body("ollama", &turns), "tool_name"),
        ["alpha", "beta"]
    );
}

#[test]
fn ids_of_calls_are_what_anthropic_takes_and_stay_where_they_are_that() {
    let ids = |calls: &[&str]| {
        let calls: Vec<(&str, &str)> = calls.iter().map(|id| (*id, "f")).collect();
        let body = body("anthropic", &talk(&calls));
        let ids = values_of(&body, "id");
        assert_eq!(ids, values_of(&body, "tool_use_id"));
        ids
    };
    assert_eq!(ids(&["a", "b-1_C"]), ["a", "b-1_C"]);
    assert_eq!(ids(&["a", "a", "a"]), ["a", "a_2", "a_3"]);
    assert_eq!(
        ids(&["a.b", "a_b", "ä", "a.b"]),
        ["a_b", "a_b_2", "_", "a_b_3"]
    );
    assert_eq!(ids(&["a", "a_2", "a"]), ["a", "a_2", "a_3"]);
    // A later id changes nothing before it, so that a prompt cache still matches.
    assert_eq!(ids(&["a", "a", "a_2"]), ["a", "a_2", "a_2_2"]);
    for name in ["openai-chat", "openai-responses"] {
        let body = body(name, &talk(&[("a.b", "f"), ("a.b", "f")])).to_string();
        assert_eq!(body.matches("\"a.b\"").count(), 4, "{name}");
    }
}

#[test]
fn an_image_of_another_type_than_the_provider_takes_is_an_error() {
    let refused = |media_type: &str, source: MediaSource| {
        let media = Media {
            media_type: media_type.to_owned(),
            name: None,
            source,
        };
        let messages = [Message::from(
            Turn::new(Speaker::User, "what is it?").with(media),
        )];
        let why = |target: &&RenderTarget| {
            target
                .render_body(&messages, &CallParams::default())
                .err()
                .map(|none| none.to_string())
        };
        TARGETS
            .iter()
            .filter_map(|target| Some((target.name, why(target)?)))
            .collect::<Vec<_>>()
    };
    let bytes = || MediaSource::Base64("Qk0=".to_owned());
    let names = |media_type| {
        refused(media_type, bytes())
            .into_iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
    };
    for media_type in ["image/png", "image/jpeg", "image/webp", "image/PNG"] {
        assert_eq!(names(media_type), [""; 0], "{media_type}");
    }
    assert_eq!(names("image/bmp").len(), TARGETS.len());
    assert_eq!(names("image/gif"), ["gemini", "ollama"]);
    assert_eq!(
        names("image/heic"),
        ["openai-chat", "openai-responses", "anthropic", "ollama"]
    );
    let url = || MediaSource::Url("https://a/b".to_owned());
    assert_eq!(
        refused("image", url())
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>(),
        ["ollama"]
    );
    let (_, why) = refused("image/bmp", bytes())
        .into_iter()
        .find(|(name, _)| *name == "anthropic")
        .unwrap();
    let types = "image/jpeg, image/png, image/gif, image/webp";
    assert_eq!(
        why,
        format!(
            "message 1 has an image (image/bmp): anthropic takes images of the types {types} alone"
        )
    );
}

#[test]
fn a_message_of_reasoning_alone_is_left_out_and_reported() {
    let thought = |signature: Option<&str>| Turn {
        speaker: Speaker::Assistant,
        parts: vec![Part::Reasoning(Reasoning {
            text: "hm".to_owned(),
            signature: signature.map(str::to_owned),
            redacted: None,
        })],
    };
    for signature in [None, Some("s")] {
        let turns = [
            Turn::new(Speaker::User, "go"),
            thought(signature),
            Turn::new(Speaker::Assistant, "done"),
        ];
        let messages: Vec<Message> = turns.into_iter().map(Message::from).collect();
        for target in TARGETS {
            assert!(
                !target
                    .render_body(&messages, &CallParams::default())
                    .unwrap()
                    .contains("hm"),
                "{}",
                target.name
            );
            assert_eq!(target.dropped_reasoning(&messages), 1, "{}", target.name);
        }
    }
}

fn assemble_task(
    text: &str,
    inputs: &[(&str, Value)],
    history: &[Turn],
    options: &Options<'_>,
) -> Assembly {
    let inputs = values(inputs);
    assemble(
        &registry(text),
        &Request {
            inputs: &inputs,
            history,
            ..Request::new("t")
        },
        options,
    )
    .unwrap()
}

#[test]
fn half_an_example_is_none() {
    let text = "<task type=\"atomic\" name=\"t\"><description>Sort.</description><parameters><parameter name=\"a\"/></parameters>\
        <examples as=\"turns\"><example><input>{{a}}</input><output>web</output></example>\
        <example><input>printer</input><output>{{a}}</output></example>\
        <example><input>mouse</input><output>{{a}} desk</output></example></examples></task>";
    let message_texts = |value: &str| {
        let assembly = assemble_task(text, &[("a", json!(value))], &[], &Options::default());
        assembly
            .messages
            .iter()
            .map(|message| message.as_str().trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        message_texts("login"),
        [
            "login",
            "web",
            "printer",
            "login",
            "mouse",
            "login desk",
            "## Task\n\nSort."
        ]
    );
    for blank in ["", " \n"] {
        assert_eq!(message_texts(blank), ["mouse", "desk", "## Task\n\nSort."]);
    }
}

#[test]
fn a_cut_lets_no_conversation_begin_with_the_agent_where_nothing_of_the_users_stands_before_it() {
    let text = |profile: &str| {
        format!(
            "<task type=\"atomic\" name=\"t\" profile=\"{profile}\"><system>You help.</system>\
             <description>And now?</description><history max_tokens=\"1000\"/></task>"
        )
    };
    let turn = |at: usize| {
        let question = Turn::new(Speaker::User, format!("q{at} {}", "x ".repeat(20 + at % 7)));
        let [call, result] = call(&format!("c{at}"), "f");
        [
            question,
            call,
            result,
            Turn::new(Speaker::Assistant, format!("a{at} {}", "y ".repeat(30))),
        ]
    };
    let turns: Vec<Turn> = (0..40).flat_map(turn).collect();
    let [bare, plain] = ["bare", "plain"].map(|profile| registry(&text(profile)));
    let mut agents = 0;
    for upto in 1..=turns.len() {
        if turns[..upto]
            .last()
            .is_some_and(|last| last.calls().next().is_some())
        {
            continue;
        }
        let first = |registry: &Registry| {
            let request = Request {
                history: &turns[..upto],
                ..Request::new("t")
            };
            let assembly = assemble(registry, &request, &Options::default()).unwrap();
            assembly
                .messages
                .iter()
                .find(|message| message.is_turn())
                .unwrap()
                .speaker
        };
        assert_eq!(first(&bare), Speaker::User, "{upto}");
        agents += usize::from(first(&plain) != Speaker::User);
    }
    assert!(
        agents > 10,
        "where the task stands before it, no more is left out than has to be: {agents}"
    );
    let options = Options {
        order: &[ctxc::internals::context::Kind::History],
        profile: Profile::Xml,
        ..Options::default()
    };
    assert_eq!(
        assemble_task(&text("xml"), &[], &turns, &options).messages[1].speaker,
        Speaker::User
    );
}
