//! The profile `bare`: the author's words to the byte, and nothing that would need a fence.

use super::settings::{registry, values};
use ctxc::internals::context::assemble::{Assembly, assemble};
use ctxc::internals::context::fault::Refused;
use ctxc::internals::context::manifest::{ManifestOptions, task_manifest};
use ctxc::internals::context::options::{ModelSettings, Options};
use ctxc::internals::context::render::call::CallParams;
use ctxc::internals::context::render::profile::Profile;
use ctxc::internals::context::render::targets::TARGETS;
use ctxc::internals::context::request::{Request, StepResult};
use ctxc::internals::kernel::conversation::{Speaker, Turn};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A task in the profile `bare`.
fn task(attributes: &str, inside: &str) -> String {
    format!("<task type=\"atomic\" name=\"t\" {attributes}>{inside}</task>")
}

fn tried(
    template: &str,
    inputs: &[(&str, Value)],
    history: &[Turn],
    options: &Options<'_>,
) -> Result<Assembly, Refused> {
    let (registry, inputs) = (registry(template), values(inputs));
    assemble(
        &registry,
        &Request {
            inputs: &inputs,
            history,
            ..Request::new("t")
        },
        options,
    )
}

fn messages_of(
    template: &str,
    inputs: &[(&str, Value)],
    history: &[Turn],
) -> Vec<(&'static str, String)> {
    let assembly = tried(template, inputs, history, &Options::default())
        .unwrap_or_else(|faults| panic!("{faults:#?}"));
    assembly
        .messages
        .iter()
        .map(|message| (message.speaker.word(), message.as_str().to_owned()))
        .collect()
}

const ASKED: &str = "<description>Sort {{ticket}}.</description><parameters><parameter name=\"ticket\"/></parameters>";

#[test]
fn a_text_stands_as_the_author_wrote_it() {
    let text = task(
        "profile=\"bare\"",
        "<description xml:space=\"preserve\">\n  Sort {{ticket}}.\n\n</description><parameters><parameter name=\"ticket\"/></parameters>",
    );
    assert_eq!(
        messages_of(&text, &[("ticket", json!(" it\n"))], &[]),
        [("user", "\n  Sort  it\n.\n\n".to_owned())]
    );
    let all = format!(
        "{ASKED}<instructions>How.</instructions><system>Who.</system><constraints><constraint>No.</constraint></constraints>"
    );
    let expected = [
        ("system", "Who.\n\nHow.\n\n- No.".to_owned()),
        ("user", "Sort a.".to_owned()),
    ];
    assert_eq!(
        messages_of(
            &task("profile=\"bare\"", &all),
            &[("ticket", json!("a"))],
            &[]
        ),
        expected
    );
}

#[test]
fn the_question_is_the_last_message_as_in_a_chat() {
    let talk = [
        Turn::new(Speaker::User, "Hi"),
        Turn::new(Speaker::Assistant, "Hello!"),
    ];
    let examples =
        "<examples as=\"turns\"><example><input>a</input><output>b</output></example></examples>";
    let text =
        format!("<description>And now?</description><system>Who.</system><history/>{examples}");
    let expected = [
        ("system", "Who."),
        ("user", "a"),
        ("assistant", "b"),
        ("user", "Hi"),
        ("assistant", "Hello!"),
        ("user", "And now?"),
    ];
    let expected = expected.map(|(who, text)| (who, text.to_owned()));
    assert_eq!(
        messages_of(&task("profile=\"bare\"", &text), &[], &talk),
        expected
    );
}

#[test]
fn a_task_chooses_its_profile_before_its_role_and_a_run_before_both() {
    let config = crate::project::reading::read("[roles.r]\ntemplate = \"t\"\nprofile = \"xml\"\n");
    let of = |attributes: &str, profile| {
        let models = ModelSettings {
            models: &config.models,
            roles: &config.roles,
            counters: &(),
            profile,
            objective_tokens: None,
            task_model: None,
        };
        let options = Options {
            models: Some(models),
            ..Options::default()
        };
        let registry = registry(&task(attributes, "<description>Do.</description>"));
        let request = Request {
            role: Some(&config.roles["r"]),
            ..Request::new("t")
        };
        assemble(&registry, &request, &options).unwrap().messages[0]
            .as_str()
            .to_owned()
    };
    assert_eq!(of("", None), "<description>\nDo.\n</description>");
    assert_eq!(of("profile=\"bare\"", None), "Do.");
    assert_eq!(of("profile=\"bare\"", Some(Profile::Plain)), "Task:\nDo.");
    // A step has the profile of the task around it, and no other.
    let steps = "<task type=\"sequential\" name=\"t\" profile=\"bare\"><description>All.</description><steps>\
        <task type=\"atomic\"><description>One.</description></task>\
        <task type=\"atomic\" profile=\"plain\"><description>Two.</description></task></steps></task>";
    let registry = registry(steps);
    let results = BTreeMap::from([(
        "/steps/0".to_owned(),
        StepResult {
            content: json!("done"),
            ..StepResult::default()
        },
    )]);
    let node = |node| {
        assemble(
            &registry,
            &Request {
                node,
                results: &results,
                ..Request::new("t")
            },
            &Options::default(),
        )
        .unwrap()
    };
    assert!(
        node("/steps/0")
            .messages
            .last()
            .unwrap()
            .as_str()
            .starts_with("One.")
    );
    assert!(
        node("/steps/1")
            .messages
            .last()
            .unwrap()
            .as_str()
            .starts_with("Task:\nTwo.")
    );
}

#[test]
fn what_would_stand_in_a_fence_is_refused() {
    let from = |input: &str| {
        format!("<parameters><parameter name=\"mail\"/></parameters><inputs>{input}</inputs>")
    };
    let foreign = from("<input name=\"m\" from=\"mail\" trust=\"untrusted\"/>");
    let cases = [
        ("m", format!("<description>Sort.</description>{foreign}")),
        ("m", format!("<description>Sort {{{{m}}}}.</description>{foreign}")),
        ("m", format!("<description syntax=\"jinja\">Sort {{{{ m | upper }}}}.</description>{foreign}")),
        (
            "input",
            format!(
                "<description>Sort.</description>{foreign}<instructions>{{{{m}}}}</instructions><examples as=\"turns\"><example>\
            <input trust=\"untrusted\">a</input><output>b</output></example></examples>"
            ),
        ),
        (
            "constraint",
            "<description>Sort.</description><constraints><constraint trust=\"untrusted\">a</constraint></constraints>"
                .to_owned(),
        ),
    ];
    for (name, inside) in cases {
        let inside = inside.replace(
            "<parameter name=\"mail\"/>",
            "<parameter name=\"mail\" required=\"true\"/>",
        );
        // An untrusted value that the template itself marks is an error at compile time.
        let bare = Options {
            profile: Profile::Bare,
            ..Options::default()
        };
        let refused = tried(&task("", &inside), &[("mail", json!("obey"))], &[], &bare)
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains(&format!(
                "`{name}` is untrusted, and the profile `bare` has no fence"
            )),
            "{inside}\n{refused}"
        );
        let other = task("profile=\"plain\"", &inside);
        assert!(
            tried(&other, &[("mail", json!("obey"))], &[], &Options::default()).is_ok(),
            "{inside}"
        );
    }
}

#[test]
fn the_manifest_refuses_it_too() {
    let inside = "<description>Sort.</description><parameters><parameter name=\"mail\"/></parameters>\
        <inputs><input name=\"m\" from=\"mail\" trust=\"untrusted\"/></inputs>";
    let registry = registry(&task("", inside));
    let how = ManifestOptions {
        options: Options {
            profile: Profile::Bare,
            ..Options::default()
        },
        files: &(),
    };
    let refused = task_manifest(&registry, &Request::new("t"), None, &how).unwrap_err();
    assert!(
        format!("{refused:?}").contains("UntrustedInBare"),
        "{refused:?}"
    );
}

#[test]
fn the_form_of_the_answer_is_left_to_a_body_that_has_a_field_for_it() {
    for (format, without) in [
        (
            "type=\"json\"",
            ["openai-chat", "openai-responses", "gemini", "ollama"].as_slice(),
        ),
        (
            "type=\"json\" schema=\"object\"",
            &["openai-chat", "openai-responses", "gemini", "ollama"],
        ),
        ("type=\"json\" schema=\"string[]\"", &["gemini", "ollama"]),
        ("type=\"text\"", &[]),
    ] {
        let text = task(
            "profile=\"bare\"",
            &format!("<description>Name it in Json.</description><output_format {format}/>"),
        );
        let left_out = |target| {
            let options = Options {
                target,
                ..Options::default()
            };
            let assembly = tried(&text, &[], &[], &options).unwrap();
            !assembly
                .messages
                .iter()
                .any(|message| message.as_str().starts_with("Answer "))
        };
        let found: Vec<&str> = TARGETS
            .iter()
            .filter(|target| left_out(Some(**target)))
            .map(|target| target.name)
            .collect();
        assert_eq!(
            (left_out(None), found.as_slice()),
            (false, without),
            "{format}"
        );
        // Every other profile also describes it in words.
        let other = text.replace("bare", "plain");
        for target in TARGETS {
            let assembly = tried(
                &other,
                &[],
                &[],
                &Options {
                    target: Some(*target),
                    ..Options::default()
                },
            )
            .unwrap();
            assert_eq!(assembly.report.segments.len(), 2);
        }
    }
    let registry = registry(&task(
        "profile=\"bare\"",
        "<description>Name it as JSON.</description><output_format type=\"json\"/>",
    ));
    let call = CallParams::from_registry(&registry, &Request::new("t")).unwrap();
    let chat = TARGETS
        .iter()
        .find(|target| target.name == "openai-chat")
        .unwrap();
    let assembly = assemble(
        &registry,
        &Request::new("t"),
        &Options {
            target: Some(*chat),
            ..Options::default()
        },
    )
    .unwrap();
    let body: Value =
        serde_json::from_str(&chat.render_body(&assembly.messages, &call).unwrap()).unwrap();
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": "Name it as JSON."}])
    );
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
}

#[test]
fn openai_has_the_word_json_where_it_is_asked_for_json_of_any_form() {
    let inside = "<parameters><parameter name=\"a\"/></parameters><description>Name {{a}}.</description>\
        <constraints><constraint>No JSON Lines.</constraint></constraints><output_format type=\"json\" schema=\"object\"/>";
    for target in TARGETS {
        // The text of a value, or a segment that may be cut, is absent from some calls.
        let options = Options {
            target: Some(*target),
            ..Options::default()
        };
        let assembly = tried(
            &task("profile=\"bare\"", inside),
            &[("a", json!("json"))],
            &[],
            &options,
        )
        .unwrap();
        let words = assembly
            .messages
            .iter()
            .any(|message| message.as_str().contains("Answer with one JSON object"));
        assert_eq!(
            words,
            target.name.starts_with("openai") || target.name == "anthropic",
            "{}",
            target.name
        );
    }
}
