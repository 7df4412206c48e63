//! The sampling parameters of a request: by model, role and task, in every body, and in every
//! output that shows or tests them.

use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const TOML: &str = r#"edition = "2026"
[tools.look]
description = "Look."
[roles.clerk]
template = "triage"
tools = ["look"]
model = "small"
temperature = 0.5
tool_choice = "look"
[models.small]
provider = "openai"
id = "gpt-x"
tier = "economy"
context_window = 8000
output_reserve = 900
temperature = 0.7
top_p = 0.9
seed = 7
effort = "low"
stop = ["\n\n", "END"]
"#;

const TASK: &str = "<task type=\"sequential\" name=\"triage\"><description>Sort it.</description>SAMPLING<steps>\
    <task type=\"atomic\"><description>Look.</description></task>\
    <task type=\"atomic\"><description>Say.</description><sampling temperature=\"0\"/></task></steps></task>\n";

fn project(sampling: &str) -> Project {
    Project::new()
        .with_file("ctxc.toml", TOML)
        .with_file("templates/triage.xml", TASK.replace("SAMPLING", sampling))
}

fn body(project: &Project, target: &str, more: &[&str]) -> (Value, String) {
    let run = project
        .run(
            &[
                &[
                    "render", "--role", "clerk", "--node", "/steps/0", "--as", target,
                ],
                more,
            ]
            .concat(),
        )
        .exits_with(0);
    (serde_json::from_str(&run.stdout).unwrap(), run.stderr)
}

#[test]
fn every_body_states_it_in_its_providers_words_and_what_it_cannot_say_is_reported() {
    let project = project("<sampling max_output_tokens=\"200\"/>");
    let stops = json!(["\n\n", "END"]);
    let (chat, told) = body(&project, "openai-chat", &[]);
    assert_eq!(
        (&chat["temperature"], &chat["top_p"], &chat["seed"]),
        (&json!(0.5), &json!(0.9), &json!(7))
    );
    assert_eq!(
        (
            &chat["reasoning_effort"],
            &chat["stop"],
            &chat["max_completion_tokens"]
        ),
        (&json!("low"), &stops, &json!(200))
    );
    assert_eq!(
        chat["tool_choice"],
        json!({"type": "function", "function": {"name": "look"}})
    );
    assert_eq!((&chat["model"], told.as_str()), (&json!("gpt-x"), ""));
    let (responses, told) = body(&project, "openai-responses", &[]);
    assert_eq!(
        (&responses["reasoning"], &responses["temperature"]),
        (&json!({"effort": "low"}), &json!(0.5))
    );
    assert_eq!(
        responses["tool_choice"],
        json!({"type": "function", "name": "look"})
    );
    assert!(
        told.contains("`seed` is left out: openai-responses has no field for it")
            && told.contains("`stop`"),
        "{told}"
    );
    let (anthropic, told) = body(&project, "anthropic", &[]);
    assert_eq!(
        (&anthropic["stop_sequences"], &anthropic["output_config"]),
        (&stops, &json!({"effort": "low"}))
    );
    assert_eq!(
        (&anthropic["tool_choice"], &anthropic["max_tokens"]),
        (&json!({"type": "tool", "name": "look"}), &json!(200))
    );
    assert!(
        told.contains("`seed`") && !told.contains("`temperature`"),
        "{told}"
    );
    let (gemini, told) = body(&project, "gemini", &[]);
    let config = &gemini["generationConfig"];
    assert_eq!(
        (&config["topP"], &config["seed"], &config["stopSequences"]),
        (&json!(0.9), &json!(7), &stops)
    );
    assert_eq!(
        (&config["thinkingConfig"], &config["maxOutputTokens"]),
        (&json!({"thinkingLevel": "low"}), &json!(200))
    );
    let mode = json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}});
    assert_eq!((&gemini["toolConfig"], told.as_str()), (&mode, ""));
    let (ollama, told) = body(&project, "ollama", &[]);
    let options =
        json!({"num_predict": 200, "seed": 7, "stop": stops, "temperature": 0.5, "top_p": 0.9});
    assert_eq!(
        (&ollama["options"], &ollama["think"]),
        (&options, &json!("low"))
    );
    assert!(
        told.contains("`tool_choice` is left out: ollama has no field for it"),
        "{told}"
    );
}

#[test]
fn the_nearest_setting_wins() {
    let temperature = |project: &Project, more: &[&str]| {
        body(project, "openai-chat", more).0["temperature"].clone()
    };
    let own = project("<sampling temperature=\"1.5\"/>");
    assert_eq!(temperature(&own, &[]), json!(1.5));
    let none = project("");
    assert_eq!(temperature(&none, &[]), json!(0.5));
    none.write_file("ctxc.toml", TOML.replace("temperature = 0.5\n", ""));
    assert_eq!(temperature(&none, &[]), json!(0.7));
    // Of another model it is not known.
    assert_eq!(temperature(&none, &["--model", "other"]), Value::Null);
    // Without a configured limit it is the model's reserve; a requested limit beats both.
    assert_eq!(
        body(&none, "openai-chat", &[]).0["max_completion_tokens"],
        900
    );
    assert_eq!(
        body(&own, "openai-chat", &["--max-output", "5"]).0["max_completion_tokens"],
        5
    );
    let run = own
        .run(&[
            "render",
            "--role",
            "clerk",
            "--node",
            "/steps/1",
            "--result",
            "/steps/0=seen",
            "--as",
            "openai-chat",
        ])
        .exits_with(0);
    assert_eq!(run.json()["temperature"], json!(0.0));
    let (hot, told) = body(&own, "anthropic", &[]);
    assert_eq!(hot.get("temperature"), None);
    assert!(told.contains("anthropic takes none above 1"), "{told}");
}

#[test]
fn each_value_is_shown_with_who_set_it() {
    let project = project("<sampling temperature=\"1.5\"/>");
    let explained = project
        .run(&[
            "render",
            "--role",
            "clerk",
            "--node",
            "/steps/0",
            "--explain",
        ])
        .exits_with(0)
        .stdout;
    for words in [
        "temperature 1.5 (task triage)",
        "tool_choice look (role clerk)",
        "seed 7 (model small)",
    ] {
        let one_line: String = explained.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line.contains(words), "{words}\n{explained}");
    }
    let manifest = project
        .run(&["manifest", "--role", "clerk", "--json"])
        .exits_with(0)
        .json();
    let first = |entry: usize| manifest["entries"][entry]["sampling"][0].clone();
    assert_eq!(
        first(0),
        json!({"name": "temperature", "value": 1.5, "from": "task triage"})
    );
    assert_eq!(
        first(1),
        json!({"name": "temperature", "value": 0.0, "from": "task triage/steps/1"})
    );
    project
        .run(&["manifest", "--role", "clerk"])
        .exits_with(0)
        .stdout_contains("sampling temperature 1.5 (task triage)");
    project
        .run(&["show", "triage"])
        .exits_with(0)
        .stdout_contains("written in the template");
    assert_eq!(
        project
            .run(&["show", "triage", "--json"])
            .exits_with(0)
            .json()["nodes"][0]["sampling"],
        json!({"temperature": 1.5})
    );
}

#[test]
fn scenarios_hold_the_model_with_its_id_provider_and_sampling() {
    let project = project("");
    project
        .run(&["new", "scenario", "--role", "clerk"])
        .exits_with(0);
    let path = project
        .files()
        .into_iter()
        .find(|path| path.starts_with("scenarios/clerk"))
        .unwrap();
    let written = project.read_file(&path);
    assert!(
        written.contains("model: {name: small, id: gpt-x, provider: openai, sampling: {temperature: 0.5, top_p: 0.9,"),
        "{written}"
    );
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(0)
        .stdout_contains("1 carried");
    for (from, to, found) in [
        ("gpt-x", "gpt-y", "found `gpt-y`"),
        (
            "provider = \"openai\"",
            "provider = \"gemini\"",
            "found `gemini`",
        ),
        ("seed = 7", "seed = 8", "seed 8 (model small)"),
        ("seed = 7\n", "", "sampling temperature"),
        (
            "temperature = 0.5",
            "temperature = 0.6",
            "temperature 0.6 (role clerk)",
        ),
    ] {
        project.write_file("ctxc.toml", TOML.replacen(from, to, 1));
        let run = project
            .run(&["eval", "--since", "card.json"])
            .exits_with(1)
            .stdout_contains("0 carried");
        assert!(run.stdout.contains(found), "{from} → {to}\n{}", run.stdout);
    }
}

#[test]
fn values_out_of_range_are_errors_at_their_place() {
    for (attribute, expected) in [
        ("temperature=\"3\"", "a number from 0 to 2"),
        ("top_p=\"1.1\"", "a number from 0 to 1"),
        ("seed=\"-1\"", "a whole number from 0"),
        ("effort=\"hihg\"", "high"),
        ("stop=\"\"", "stop"),
        ("tool_choice=\" \"", "tool_choice"),
        ("max_output_tokens=\"0\"", "a whole number from 1"),
        ("temprature=\"1\"", "temperature"),
    ] {
        let run = project(&format!("<sampling {attribute}/>"))
            .run(&["check"])
            .exits_with(1);
        assert!(
            run.stdout.contains(expected) && run.stdout.contains("triage.xml:1:"),
            "{attribute}\n{}",
            run.stdout
        );
    }
    let none = project("");
    for line in [
        "temperature = 2.5",
        "top_p = -1",
        "seed = 1.5",
        "effort = \"max\"",
        "stop = [\"\"]",
        "tool_choice = \" \"",
        "max_output_tokens = 0",
    ] {
        none.write_file(
            "ctxc.toml",
            TOML.replace("tool_choice = \"look\"\n", "")
                .replace("temperature = 0.5", line),
        );
        let run = none.run(&["check"]).exits_with(2);
        assert!(
            run.stdout.contains("ctxc.toml:8:"),
            "{line}\n{}",
            run.stdout
        );
    }
    none.write_file(
        "ctxc.toml",
        TOML.replace("\"look\"\nmodel", "\"lok\"\nmodel")
            .replace("tool_choice = \"look\"", "tool_choice = \"lok\""),
    );
    none.run(&["check"])
        .stdout_contains("names a tool `lok` in `tool_choice`");
}

#[test]
fn an_answer_has_its_room_in_the_window() {
    let task = TASK.replace("SAMPLING", "");
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("ctxc.toml", TOML);
    let limit = |config: String| {
        project.write_file("ctxc.toml", config);
        project
            .run(&["manifest", "--role", "clerk", "--json"])
            .exits_with(0)
            .json()["entries"][0]["budget"]["tokens"]
            .clone()
    };
    assert_eq!(limit(TOML.to_owned()), 7_100);
    let of_model = TOML.replace(
        "output_reserve = 900",
        "output_reserve = 900\nmax_output_tokens = 3000",
    );
    assert_eq!(limit(of_model.clone()), 5_000);
    assert_eq!(
        limit(of_model.replace(
            "model = \"small\"",
            "model = \"small\"\nmax_output_tokens = 4000"
        )),
        4_000
    );
    project.write_file(
        "ctxc.toml",
        TOML.replace("output_reserve = 900", "max_output_tokens = 8000"),
    );
    project.run(&["check"]).exits_with(2).stdout_contains(
        "`models.small.max_output_tokens` is `8000`; expected less than its `context_window`, 8000",
    );
}

#[test]
fn a_body_that_its_vendor_would_refuse_is_printed_with_a_word() {
    let task = "<task type=\"atomic\" name=\"t\"><description>Do it.</description><sampling temperature=\"0.5\"/></task>";
    let project = Project::new().with_file("templates/t.xml", task);
    let run = project
        .run(&["render", "t", "--as", "openai-chat", "--model", "o3"])
        .exits_with(0);
    let run = run.stderr_contains("its vendor would refuse it: ");
    assert!(run.json()["temperature"] == 0.5);
    project.write_file(
        "more.jsonl",
        format!(
            "{{\"role\": \"user\", \"content\": \"{}\"}}\n",
            "word ".repeat(400)
        ),
    );
    let run = project
        .run(&["render", "t", "--budget", "100", "--turns", "more.jsonl"])
        .exits_with(0);
    run.stderr_contains(
        " tokens with its 1 message of --turns, which are never cut; the limit is 100",
    );
    // The model's own token counter counts here.
    let config = "edition = \"2026\"\n[models.m]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 300\ntokenizer = \"bytes\"\n[roles.r]\ntemplate = \"t\"\nmodel = \"m\"\n";
    project.write_file("ctxc.toml", config);
    project
        .run(&[
            "render",
            "--role",
            "r",
            "--objective",
            "go",
            "--turns",
            "more.jsonl",
        ])
        .exits_with(0)
        .stderr_contains("this request has 2,0");
}
