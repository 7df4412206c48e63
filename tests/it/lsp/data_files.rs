//! Scenarios and the project file have completion of their own, and never elements of XML.

use super::client::{Client, applied, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}.</description>\n  <parameters>\n    <parameter name=\"tone\" type=\"string\" default=\"dry\"/>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const WORK: &str = "<task type=\"sequential\" name=\"work\">\n  <description>d</description>\n  <parameters>\n    <parameter name=\"ticket\" required=\"true\"/>\n  </parameters>\n  <steps>\n    <task type=\"atomic\" as=\"one\">\n      <description>e</description>\n      <inputs>\n        <input name=\"ticket\" from=\"ticket\"/>\n      </inputs>\n    </task>\n    <task type=\"atomic\" as=\"two\">\n      <description>{{one}}</description>\n    </task>\n  </steps>\n</task>\n";
const PROJECT: &str = "[roles.sorter]\ntemplate = \"triage\"\ntools = [\"git_log\"]\nmodel = \"small\"\n\n[models.small]\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 1000\noutput_reserve = 10\n\n[providers.house]\nkind = \"ollama\"\n";

fn offered(client: &mut Client, name: &str, marked: &str) -> (String, Vec<Value>) {
    let (before, after) = marked.split_once('¦').unwrap();
    let text = format!("{before}{after}");
    client.open(name, &text);
    let character = before.rsplit('\n').next().unwrap().len();
    let position = json!({"line": before.matches('\n').count(), "character": character});
    let items = client.ask(
        "textDocument/completion",
        &json!({"textDocument": {"uri": client.uri(name)}, "position": position}),
    );
    client.close(name);
    (text, items.as_array().unwrap().clone())
}

#[test]
fn what_stands_in_scenarios_and_the_project_file_is_completed() {
    let cases = [
        (
            "scenarios/a.yaml",
            "name: a\ntask: tr¦\n",
            "triage",
            "name: a\ntask: triage\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: \"¦\"\n",
            "triage",
            "name: a\ntask: \"triage\"\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nrole: ¦\n",
            "sorter",
            "name: a\nrole: sorter\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nta¦\n",
            "task",
            "name: a\ntask: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nta¦gs: [b]\n",
            "tags",
            "name: a\ntags: [b]\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: triage\ncontext:\n  inputs:\n    ¦\n",
            "ticket",
            "name: a\ntask: triage\ncontext:\n  inputs:\n    ticket: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nrole: sorter\ncontext:\n  inputs: {t¦}\n",
            "tone",
            "name: a\nrole: sorter\ncontext:\n  inputs: {tone: }\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ncontext:\n  ob¦\n",
            "objective",
            "name: a\ncontext:\n  objective: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nexpect_context:\n  - no¦\n",
            "nothing_cut",
            "name: a\nexpect_context:\n  - nothing_cut: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nexpect_context:\n  - segment: {id: a, state: ¦}\n",
            "kept",
            "name: a\nexpect_context:\n  - segment: {id: a, state: kept}\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\nnode: ¦\n",
            "two",
            "name: a\ntask: work\nnode: two\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\ncontext:\n  results:\n    o¦\n",
            "one",
            "name: a\ntask: work\ncontext:\n  results:\n    one: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\nexpect_context:\n  - contains: {in: input:ti¦, patterns: [a]}\n",
            "input:ticket",
            "name: a\ntask: work\nexpect_context:\n  - contains: {in: input:ticket, patterns: [a]}\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\nexpect_context:\n  - order: [description, ¦]\n",
            "instructions",
            "name: a\ntask: work\nexpect_context:\n  - order: [description, instructions]\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\nexpect_context:\n  - order:\n      - ins¦\n",
            "instructions",
            "name: a\ntask: work\nexpect_context:\n  - order:\n      - instructions\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\nexpect_context:\n  - setting: {name: fresh_context, value: ¦}\n",
            "disabled",
            "name: a\ntask: work\nexpect_context:\n  - setting: {name: fresh_context, value: disabled}\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: work\nexpect_context:\n  - setting: {na¦}\n",
            "name",
            "name: a\ntask: work\nexpect_context:\n  - setting: {name: }\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: triage\ncontext:\n  inputs: {ticket: '@no¦'}\n",
            "notes.md",
            "name: a\ntask: triage\ncontext:\n  inputs: {ticket: '@notes.md'}\n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\ntask: triage\ncontext:\n  inputs:\n    ticket: !file n¦\n",
            "notes.md",
            "name: a\ntask: triage\ncontext:\n  inputs:\n    ticket: !file notes.md\n",
        ),
        (
            "scenarios/a.yaml",
            "schema: ¦\nname: a\n",
            "ctxc/scenario/1",
            "schema: ctxc/scenario/1\nname: a\n",
        ),
        (
            "scenarios/a.yaml",
            "id: a\ncases:\n  - id: b\n    ta¦\n",
            "task",
            "id: a\ncases:\n  - id: b\n    task: \n",
        ),
    ];
    let files = [
        ("ctxc.toml", PROJECT),
        ("templates/triage.xml", TASK),
        ("templates/work.xml", WORK),
        ("scenarios/notes.md", "n"),
    ];
    let mut client = Client::new(&files, &pulling());
    for (name, marked, label, expected) in cases {
        let (text, items) = offered(&mut client, name, marked);
        let labels: Vec<&str> = items
            .iter()
            .map(|item| item["label"].as_str().unwrap())
            .collect();
        let item = items
            .iter()
            .find(|item| item["label"] == label)
            .unwrap_or_else(|| panic!("no {label} at {marked}: {labels:?}"));
        let edit = &item["textEdit"];
        assert_eq!(
            applied(
                &text,
                &json!([{"range": edit["range"], "newText": edit["newText"]}])
            ),
            expected,
            "{marked}"
        );
        assert!(
            !labels.contains(&"library") && !labels.contains(&"template") || name == "ctxc.toml",
            "{marked}: {labels:?}"
        );
    }
    // Elsewhere nothing is offered: in a comment, another YAML file, a text.
    for (name, marked) in [
        ("scenarios/a.yaml", "# ta¦"),
        ("other/a.yaml", "ta¦"),
        ("ctxc.toml", "# ¦"),
        ("notes.md", "<¦"),
    ] {
        let (_, items) = offered(&mut client, name, marked);
        assert_eq!(items, [Value::Null; 0], "{name}: {marked}");
    }
}

#[test]
fn what_stands_in_a_scenario_is_not_offered_again() {
    let files = [
        ("ctxc.toml", PROJECT),
        ("templates/triage.xml", TASK),
        ("templates/work.xml", WORK),
        ("scenarios/notes.md", "n"),
    ];
    let mut client = Client::new(&files, &pulling());
    let suite = "cases:\n  - id: b\n    task: triage\n    context:\n      inputs: {}\n    ¦\n    tags: [c]\n  - id: c\n    node: d\n";
    // By position: keys that exist already, and a key that does not.
    let cases = [
        (
            "name: a\n¦\ntask: triage\n",
            vec!["name", "task"],
            "context",
        ),
        (
            "name: a\ntask: triage\ncontext:\n  inputs:\n    tone: b\n    ¦\ntags: [b]\n",
            vec!["tone"],
            "ticket",
        ),
        (
            "name: a\ntask: triage\ncontext:\n  inputs: {tone: {b: [c, d]}, ¦}\n",
            vec!["tone"],
            "ticket",
        ),
        (
            "name: a\ntask: triage\ncontext:\n  inputs: {¦, 'tone': b}\n",
            vec!["tone"],
            "ticket",
        ),
        (
            "name: a\ntask: triage\nexpect_context:\n  - segment: {id: a, ¦}\n",
            vec!["id"],
            "state",
        ),
        (
            "name: a\ntask: triage\nexpect_context:\n  - segment:\n      id: a\n      ¦\n  - nothing_cut: true\n",
            vec!["id"],
            "state",
        ),
        (
            "name: a\ntask: work\ncontext:\n  results:\n    one: b\n    ¦\n",
            vec!["one"],
            "two",
        ),
        (suite, vec!["id", "task", "context", "tags"], "node"),
        // Another item of the list.
        (
            "name: a\ntask: triage\nexpect_context:\n  - nothing_cut: true\n  - ¦\n",
            vec![],
            "nothing_cut",
        ),
        // The key itself.
        ("na¦me: a\ntask: triage\n", vec!["task"], "name"),
    ];
    for (marked, there, other) in cases {
        let (_, items) = offered(&mut client, "scenarios/a.yaml", marked);
        let labels: Vec<&str> = items
            .iter()
            .map(|item| item["label"].as_str().unwrap())
            .collect();
        assert!(labels.contains(&other), "{marked}: {labels:?}");
        assert!(
            there.iter().all(|key| !labels.contains(key)),
            "{marked}: {labels:?}"
        );
    }
}

/// In ctxc.toml, by the label of the accepted item: the text around the position and the resulting
/// text.
const TAKEN: &[(&str, &str, &str)] = &[
    ("edition", "ed¦\n", "edition = \"\"\n"),
    ("edition", "ed¦", "edition = \"\""),
    ("edition", "edi¦tion = \"2026\"\n", "edition = \"2026\"\n"),
    ("2026", "edition = ¦", "edition = \"2026\""),
    ("2026", "edition = \"20¦25\"\n", "edition = \"2026\"\n"),
    ("2026", "edition = ¦\"2025\"\n", "edition = \"2026\"\n"),
    ("2026", "edition = \"2025\"¦\n", "edition = \"2026\"\n"),
    ("2026", "edition = '20¦'\n", "edition = '2026'\n"),
    (
        "2026",
        "edition = \"20¦\n[lints]\n",
        "edition = \"2026\"\n[lints]\n",
    ),
    ("lints", "li¦\n", "[lints]\n"),
    ("require", "¦\n\n[lints]\n", "[[require]]\n\n[lints]\n"),
    ("lints", "[¦\n", "[lints]\n"),
    ("lints", "[¦]\n", "[lints]\n"),
    (
        "lints",
        "[li¦nt]\nmissing-type = \"off\"\n",
        "[lints]\nmissing-type = \"off\"\n",
    ),
    ("require", "[[¦\n", "[[require]]\n"),
    (
        "require",
        "[[re¦]]\nname = \"a\"\n",
        "[[require]]\nname = \"a\"\n",
    ),
    ("atomic", "[defaults.¦]\n", "[defaults.atomic]\n"),
    (
        "atomic",
        "[defaults.at¦\nfresh_context = \"enabled\"\n",
        "[defaults.atomic]\nfresh_context = \"enabled\"\n",
    ),
    (
        "inner_task",
        "[defaults.reduce.¦]\n",
        "[defaults.reduce.inner_task]\n",
    ),
    (
        "reduce",
        "[defaults.re¦.inner_task]\n",
        "[defaults.reduce.inner_task]\n",
    ),
    (
        "budget",
        "[roles.a.¦\ntokens = 1\n",
        "[roles.a.budget]\ntokens = 1\n",
    ),
    ("gate", "[eval.¦]\n", "[eval.gate]\n"),
    (
        "missing-type",
        "[lints]\nmissing-t¦\n",
        "[lints]\nmissing-type = \"\"\n",
    ),
    (
        "warning",
        "[lints]\nmissing-type = ¦\n",
        "[lints]\nmissing-type = \"warning\"\n",
    ),
    (
        "warning",
        "[lints]\nmissing-type = \"w¦\"\n",
        "[lints]\nmissing-type = \"warning\"\n",
    ),
    (
        "warning",
        "[lints] # why\n\nmissing-type = \"w¦\" # so\n",
        "[lints] # why\n\nmissing-type = \"warning\" # so\n",
    ),
    (
        "triage",
        "[roles.a]\ntemplate = \"¦\"\n",
        "[roles.a]\ntemplate = \"triage\"\n",
    ),
    (
        "triage",
        "[roles.a]\ntemplate = \"tri age¦ of old\"\n",
        "[roles.a]\ntemplate = \"triage\"\n",
    ),
    (
        "template",
        "[roles.a]\nte¦ \"triage\"\n",
        "[roles.a]\ntemplate =  \"triage\"\n",
    ),
    ("model", "[roles]\nx.mo¦\n", "[roles]\nx.model = [\"\"]\n"),
    ("model", "roles.x.mo¦\n", "roles.x.model = [\"\"]\n"),
    (
        "roles",
        "ro¦.x.model = \"small\"\n",
        "roles.x.model = \"small\"\n",
    ),
    (
        "tokens",
        "[roles.a]\nbudget = { tok¦ }\n",
        "[roles.a]\nbudget = { tokens = 1 }\n",
    ),
    (
        "usd",
        "[roles.a]\nbudget = { tokens = 1, ¦ }\n",
        "[roles.a]\nbudget = { tokens = 1, usd = 0 }\n",
    ),
    (
        "usd",
        "[roles.a]\nbudget.u¦\n",
        "[roles.a]\nbudget.usd = 0\n",
    ),
    (
        "file",
        "[roles.a]\nsystem = {¦}\n",
        "[roles.a]\nsystem = {file = \"\"}\n",
    ),
    (
        "examples",
        "[roles.a]\norder = [\n  \"resources\",\n  ¦\n]\n",
        "[roles.a]\norder = [\n  \"resources\",\n  \"examples\"\n]\n",
    ),
    (
        "examples",
        "[roles.a]\norder = [\n  \"ex¦\",\n]\n",
        "[roles.a]\norder = [\n  \"examples\",\n]\n",
    ),
    (
        "small",
        "[roles.a]\nmodel = [ # the first\n  \"¦\" ]\n",
        "[roles.a]\nmodel = [ # the first\n  \"small\" ]\n",
    ),
    (
        "git_log",
        "[roles.a]\ntools = [\"x\", \"g¦\"]\n",
        "[roles.a]\ntools = [\"x\", \"git_log\"]\n",
    ),
    (
        "model",
        "[roles.a]\nsystem = \"\"\"\n[lints]\nx = {\n\"\"\"\nmo¦\n",
        "[roles.a]\nsystem = \"\"\"\n[lints]\nx = {\n\"\"\"\nmodel = [\"\"]\n",
    ),
    (
        "disabled",
        "[defaults.atomic]\nfresh_context = ¦\n",
        "[defaults.atomic]\nfresh_context = \"disabled\"\n",
    ),
    (
        "true",
        "[defaults.atomic]\naccumulate_data = \"¦\"\n",
        "[defaults.atomic]\naccumulate_data = true\n",
    ),
    (
        "house",
        "[models.other]\nprovider = \"¦\"\n",
        "[models.other]\nprovider = \"house\"\n",
    ),
    (
        "sorter",
        "[[require]]\nrole = [\"¦\"]\n",
        "[[require]]\nrole = [\"sorter\"]\n",
    ),
    (
        "templates/",
        "[templates]\ninclude = [\"te¦\"]\n",
        "[templates]\ninclude = [\"templates/\"]\n",
    ),
    (
        "triage.xml",
        "[templates]\ninclude = [\n\"templates/t¦.md\"]\n",
        "[templates]\ninclude = [\n\"templates/triage.xml\"]\n",
    ),
    (
        "name",
        "[[require]]\nname = \"a\"\n[[require]]\nna¦\n",
        "[[require]]\nname = \"a\"\n[[require]]\nname = [\"\"]\n",
    ),
    (
        "project",
        "[proj¦\n\"edition\" = 1\n",
        "[project]\n\"edition\" = 1\n",
    ),
];

#[test]
fn what_is_taken_leaves_a_project_file_that_is_toml() {
    assert!(TAKEN.len() >= 25);
    let mut client = Client::new(
        &[("ctxc.toml", PROJECT), ("templates/triage.xml", TASK)],
        &pulling(),
    );
    let mut wrong = Vec::new();
    for (label, marked, expected) in TAKEN {
        // Names are those of the unsaved file.
        let rest = if marked.starts_with('[') { PROJECT } else { "" };
        let expected = format!("{expected}{rest}");
        let (text, items) = offered(&mut client, "ctxc.toml", &format!("{marked}{rest}"));
        let taken = items
            .iter()
            .find(|item| item["label"] == **label)
            .map(|item| {
                let edit = &item["textEdit"];
                applied(
                    &text,
                    &json!([{"range": edit["range"], "newText": edit["newText"]}]),
                )
            });
        match taken {
            None => {
                wrong.push(format!(
                    "no {label} at {marked:?}: {:?}",
                    items.iter().map(|item| &item["label"]).collect::<Vec<_>>()
                ));
            }
            Some(found) if found != expected => {
                wrong.push(format!("{label} at {marked:?}: {found:?}"));
            }
            Some(found) if toml::de::DeTable::parse(&found).is_err() => {
                wrong.push(format!("{label} at {marked:?}: no TOML"));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_stands_in_a_project_file_is_not_offered_again() {
    let mut client = Client::new(
        &[("ctxc.toml", PROJECT), ("templates/triage.xml", TASK)],
        &pulling(),
    );
    for (absent, marked) in [
        ("project", "[project]\nname = \"a\"\n[¦\n"),
        ("atomic", "[defaults.atomic]\n[defaults.¦]\n"),
        ("edition", "[¦]\n"),
        ("edition", "[defaults.¦]\n"),
        ("lints", "[roles.¦]\n"),
        ("name", "[project]\n¦\nname = \"a\"\n"),
        ("budget", "[roles.a]\nbu¦\n[roles.a.budget]\ntokens = 1\n"),
        ("tokens", "[roles.a]\nbudget = { tokens = 1, ¦}\n"),
        ("small", "[roles.a]\nmodel = [\"small\",\n  \"¦\",\n]\n"),
        ("lints", "¦\nedition = \"2026\"\n"),
        ("name", "[project]\ndescription = \"\"\"\nna¦\n\"\"\"\n"),
        ("name", "[project] ¦\n"),
        ("name", "[project]\nversion = \"1\" ¦\n"),
        ("name", "[project] # a ¦\n"),
    ] {
        let (_, items) = offered(&mut client, "ctxc.toml", marked);
        assert!(
            items.iter().all(|item| item["label"] != absent),
            "{absent} at {marked:?}"
        );
    }
}

#[test]
fn keys_say_what_they_are_for() {
    let mut client = Client::new(
        &[("ctxc.toml", PROJECT), ("templates/triage.xml", TASK)],
        &pulling(),
    );
    let case = "name: a\ntask: triage\ncontext:\n  objective: b\n";
    client.open("scenarios/a.yaml", case);
    client.open("ctxc.toml", PROJECT);
    let hover = client.at("textDocument/hover", "scenarios/a.yaml", case, "  object");
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("the request"),
        "{hover}"
    );
    let hover = client.at("textDocument/hover", "ctxc.toml", PROJECT, "context_win");
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .starts_with("context_window — "),
        "{hover}"
    );
}

#[test]
fn roles_models_and_providers_lead_to_their_sections() {
    let mut client = Client::new(
        &[("ctxc.toml", PROJECT), ("templates/triage.xml", TASK)],
        &pulling(),
    );
    client.open("ctxc.toml", PROJECT);
    let place = client.at(
        "textDocument/definition",
        "ctxc.toml",
        PROJECT,
        "model = \"sm",
    );
    assert_eq!(
        place["range"]["start"],
        super::client::position(PROJECT, "[models.")
    );
    let place = client.at(
        "textDocument/definition",
        "ctxc.toml",
        PROJECT,
        "provider = \"ho",
    );
    assert_eq!(
        place["range"]["start"],
        super::client::position(PROJECT, "[providers.")
    );
    let hover = client.at("textDocument/hover", "ctxc.toml", PROJECT, "model = \"sm");
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("a context window of 1000 tokens"),
        "{hover}"
    );
    let case = "name: a\nrole: sorter\ncontext:\n  objective: o\n  inputs: {ticket: t}\nexpect_context:\n  - nothing_cut: true\n";
    client.open("scenarios/a.yaml", case);
    let mut count = |before: &str| {
        let position = super::client::position(PROJECT, before);
        let params = json!({"textDocument": {"uri": client.uri("ctxc.toml")}, "position": position, "context": {"includeDeclaration": true}});
        client
            .ask("textDocument/references", &params)
            .as_array()
            .unwrap()
            .len()
    };
    // Each section has its own name and one use: in the role, in the model, in the scenario.
    assert_eq!(count("[models.sm"), 2);
    assert_eq!(count("provider = \"ho"), 2);
    assert_eq!(count("[roles.so"), 2);
}
