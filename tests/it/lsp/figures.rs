//! Manifest figures above definitions and on hover, counted in the background, and renders of
//! unsaved texts.

use super::client::{Client, plain};
use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATH: &str = "templates/triage.xml";
const TRIAGE: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>Sort {{ticket}} by {{rules.first}}.</description>
  <parameters><parameter name=\"ticket\"/><parameter name=\"rules\"/></parameters>
  <system>You triage support tickets.</system>
  <instructions syntax=\"jinja\">{% for t in ticket %}- {{ t }}{% endfor %}</instructions>
  <file_paths source=\"literal\"><path>docs/runbook.md</path></file_paths>
</task>
";
const WEEK: &str = "\
<task type=\"sequential\" name=\"week\">
  <description>Write.</description>
  <context_management><inherit_context>none</inherit_context></context_management>
  <steps>
    <task ref=\"triage\" as=\"first\"/>
    <task type=\"atomic\"><description>Sum up {{first}}.</description></task>
  </steps>
</task>
";

fn client() -> Client {
    let mut can = plain();
    can["workspace"] = json!({"codeLens": {"refreshSupport": true}});
    let files = [
        (PATH, TRIAGE),
        ("templates/week.xml", WEEK),
        ("docs/runbook.md", "Restart it.\n"),
        ("ctxc.toml", ""),
    ];
    let client = Client::new(&files, &can);
    client.open(PATH, TRIAGE);
    client
}

/// The titles of figures above a document's definitions, once some fulfil the condition.
fn figures(client: &mut Client, path: &str, holds: impl Fn(&[String]) -> bool) -> Vec<String> {
    let late = Instant::now() + Duration::from_secs(20);
    loop {
        let lenses = client.ask(
            "textDocument/codeLens",
            &json!({"textDocument": {"uri": client.uri(path)}}),
        );
        let commands = lenses
            .as_array()
            .unwrap()
            .iter()
            .map(|lens| &lens["command"]);
        let own = commands.filter(|command| command["command"] == "ctxc.render");
        let titles: Vec<String> = own
            .map(|command| command["title"].as_str().unwrap().to_owned())
            .collect();
        if holds(&titles) {
            return titles;
        }
        assert!(Instant::now() < late, "figures have not come: {titles:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn render(client: &mut Client, arguments: &Value) -> Result<Value, (i32, String)> {
    client.try_ask(
        "workspace/executeCommand",
        &json!({"command": "ctxc.render", "arguments": [arguments]}),
    )
}

#[test]
fn figures_stand_above_definitions_and_follow_what_is_typed() {
    let mut client = client();
    let before = figures(&mut client, PATH, |titles| !titles.is_empty());
    let manifest = Project::new()
        .with_file(PATH, TRIAGE)
        .with_file("docs/runbook.md", "Restart it.\n");
    let manifest = manifest
        .run(&["manifest", "triage", "--json"])
        .exits_with(0)
        .json();
    let (total, prefix) = (
        &manifest["entries"][0]["total"]["fixed"],
        &manifest["entries"][0]["prefix_tokens"],
    );
    assert_eq!(
        before,
        [format!(
            "{total} tokens · waits for rules, ticket · reusable prefix {prefix}"
        )]
    );
    // The client receives a request to refresh; the same refresh is not sent twice.
    let refreshes = |client: &Client| {
        client
            .asked
            .iter()
            .filter(|request| request.method == "workspace/codeLens/refresh")
            .count()
    };
    assert_eq!(refreshes(&client), 1);
    client.replace(
        PATH,
        2,
        &TRIAGE.replace("support tickets", "support tickets of the whole house"),
    );
    let after = figures(&mut client, PATH, |titles| *titles != before);
    let number = |title: &str| title.split(' ').next().unwrap().parse::<usize>().unwrap();
    assert_eq!(number(&after[0]), number(&before[0]) + 4, "{after:?}");
    // With an error no figures can be computed: the earlier figures remain.
    client.replace(PATH, 3, &TRIAGE.replace("</system>", ""));
    assert_eq!(
        figures(&mut client, PATH, |titles| !titles.is_empty()),
        after
    );
    // A task that uses others counts theirs, as the editor has them.
    client.replace(PATH, 4, TRIAGE);
    client.open("templates/week.xml", WEEK);
    let week = figures(&mut client, "templates/week.xml", |titles| {
        !titles.is_empty()
    });
    assert!(
        week[0].starts_with("2 agents · ") && week[0].contains("waits for "),
        "{week:?}"
    );
}

#[test]
fn a_segment_reports_what_it_costs_where_it_is_pointed_at() {
    let mut client = client();
    figures(&mut client, PATH, |titles| !titles.is_empty());
    let mut hover = |at: &str| {
        let hover = client.at("textDocument/hover", PATH, TRIAGE, at);
        hover["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let task = hover("<tas");
    assert!(
        task.contains("**receives** ")
            && task.contains("- `system` ")
            && task.contains("counted by o200k"),
        "{task}"
    );
    assert!(
        task.contains("`description` ") && task.contains("waits for rules, ticket; stable: call"),
        "{task}"
    );
    let system = hover("<syst");
    assert!(
        system.contains("segment `system` ") && !system.contains("`description`"),
        "{system}"
    );
    assert!(hover("<pat").contains("segment `file:docs/runbook.md` "));
}

#[test]
fn a_render_shows_what_is_not_saved_with_what_is_not_known_named() {
    let mut client = client();
    let uri = client.uri(PATH);
    let unsaved = TRIAGE.replace("support tickets", "all of it");
    client.replace(PATH, 2, &unsaved);
    let made = render(&mut client, &json!({"uri": uri})).unwrap();
    let text = made["text"].as_str().unwrap();
    assert_eq!(
        (&made["title"], &made["node"]),
        (&json!("triage"), &json!("/"))
    );
    assert!(text.contains("You triage all of it."), "{text}");
    assert!(
        text.contains("Sort ⟨input ticket⟩ by ⟨input rules⟩."),
        "{text}"
    );
    assert!(
        text.contains("{% for t in ticket %}- {{ t }}{% endfor %}"),
        "{text}"
    );
    assert!(
        text.starts_with("[system]\n") && text.contains("Restart it."),
        "{text}"
    );
    client.open("templates/week.xml", WEEK);
    let week = client.uri("templates/week.xml");
    let step = render(
        &mut client,
        &json!({"uri": week, "position": {"line": 5, "character": 8}}),
    )
    .unwrap();
    assert_eq!(
        (&step["title"], &step["nodes"]),
        (&json!("week/steps/1"), &json!(["/steps/0", "/steps/1"]))
    );
    assert!(
        step["text"]
            .as_str()
            .unwrap()
            .contains("Sum up ⟨result of first⟩."),
        "{step}"
    );
    let first = render(&mut client, &json!({"uri": week, "task": "week"})).unwrap();
    assert_eq!(first["title"], "week/steps/0");
    // A text that cannot be rendered gives the reason, and the server goes on.
    client.replace(PATH, 3, &TRIAGE.replace("</system>", ""));
    let (_, why) = render(&mut client, &json!({"uri": uri})).unwrap_err();
    assert!(
        why.contains("what an agent would receive is not certain"),
        "{why}"
    );
    client.replace(PATH, 4, &TRIAGE.replace("docs/runbook.md", "docs/gone.md"));
    assert!(
        render(&mut client, &json!({"uri": uri}))
            .unwrap_err()
            .1
            .contains("have 1 error")
    );
    let allowed = "<?ctxc allow unreadable-path reason=\"later\"?><path>docs/gone.md";
    client.replace(PATH, 5, &TRIAGE.replace("<path>docs/runbook.md", allowed));
    assert!(
        render(&mut client, &json!({"uri": uri}))
            .unwrap_err()
            .1
            .contains("docs/gone.md cannot be read")
    );
    client.replace(PATH, 6, TRIAGE);
    assert!(
        render(&mut client, &json!({"uri": uri, "task": "none"}))
            .unwrap_err()
            .1
            .contains("there is no task `none`")
    );
    for bad in [
        json!(null),
        json!({}),
        json!({"uri": 3}),
        json!({"uri": "file:///nowhere.xml"}),
        json!({"uri": uri, "position": 1}),
    ] {
        assert_eq!(render(&mut client, &bad).unwrap_err().0, -32602, "{bad}");
    }
    let other = client
        .try_ask("workspace/executeCommand", &json!({"command": "rm"}))
        .unwrap_err();
    assert!(other.1.contains("there is no command `rm`"), "{other:?}");
    assert!(render(&mut client, &json!({"uri": uri})).is_ok());
}

#[test]
fn the_command_is_listed_but_for_clients_with_commands_of_their_own() {
    for (options, listed) in [
        (json!({}), json!(["ctxc.render"])),
        (json!({"commands": "client"}), Value::Null),
    ] {
        let mut client = Client::unborn(&[]);
        let root = client.uri("");
        let params = json!({"processId": null, "rootUri": root, "capabilities": {}, "initializationOptions": options});
        let answer = client.ask("initialize", &params);
        assert_eq!(
            answer["capabilities"]["executeCommandProvider"]["commands"],
            listed
        );
    }
}

const HOUSE: &str = "\
[roles.clerk]
template = \"triage\"
system = \"You are the clerk of this house, and nobody else.\"
budget = { tokens = 700 }
tier = \"economy\"

[models.small]
provider = \"anthropic\"
tier = \"economy\"
context_window = 9000
usd_per_million = { input = 1.5, output = 2 }
";

#[test]
fn figures_are_those_of_the_manifest_for_roles_and_models_too() {
    let mut can = plain();
    can["workspace"] = json!({"codeLens": {"refreshSupport": true}});
    let files = [
        (PATH, TRIAGE),
        ("templates/week.xml", WEEK),
        ("docs/runbook.md", "Restart it.\n"),
        ("ctxc.toml", HOUSE),
    ];
    let mut client = Client::new(&files, &can);
    client.open(PATH, TRIAGE);
    client.open("templates/week.xml", WEEK);
    let shown = figures(&mut client, PATH, |titles| !titles.is_empty());
    let mut project = Project::new();
    for (path, text) in files {
        project = project.with_file(path, text);
    }
    let entry = |args: &[&str]| {
        project
            .run(&[&["manifest", "--json"], args].concat())
            .exits_with(0)
            .json()["entries"][0]
            .clone()
    };
    let clerk = entry(&["--role", "clerk"]);
    assert_eq!(
        clerk["tokenizer"]["exact"], false,
        "the model's vendor has no public tokenizer"
    );
    let (total, prefix) = (&clerk["total"]["fixed"], &clerk["prefix_tokens"]);
    let words = format!(
        "clerk: ≈ {total} tokens · waits for objective, rules, ticket · reusable prefix {prefix} · budget 700"
    );
    assert_eq!(shown, [words]);
    // No role plays the other task: its model is the project's choice for it.
    let shown = figures(&mut client, "templates/week.xml", |titles| {
        !titles.is_empty()
    });
    let week = project
        .run(&["manifest", "week", "--json"])
        .exits_with(0)
        .json();
    let fixed: u64 = week["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["total"]["fixed"].as_u64().unwrap())
        .sum();
    assert!(
        shown[0].contains(&format!("{fixed} tokens")),
        "{shown:?} {week}"
    );
}
