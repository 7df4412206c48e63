//! Renames that go beyond templates: scenarios and the project file get the new name, or nothing
//! changes.

use super::client::{Client, applied, position, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}.</description>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <inputs>\n    <input name=\"note\">{{ticket}}</input>\n  </inputs>\n</task>\n";
const CASE: &str = "name: late\ntask: \"triage\"\ncontext:\n  objective: sort it\n  inputs: {ticket: It came late.}\nexpect_context:\n  - nothing_cut: true\n  - segment: {id: \"input:note\", state: kept}\n";
const OF_ROLE: &str = "name: played\nrole: sorter\ncontext:\n  objective: sort it\n  inputs:\n    ticket: It came late.\nexpect_context:\n  - contains: {in: {source: note}, patterns: [late]}\n";
const SUITE: &str = "id: many\ndefaults:\n  task: triage\ncases:\n  - id: a\n    context: {objective: a, inputs: {ticket: a}}\n    expect_context: [{nothing_cut: true}]\n  - id: b\n    context: {objective: b, inputs: {'ticket': b}}\n    expect_context: [{nothing_cut: true}]\n";
const PROJECT: &str = "[roles.sorter]\ntemplate = 'triage'\n\n[roles.triage] # plays the task of its name\ntools = [\"read\"]\n";

const FILES: &[(&str, &str)] = &[
    ("ctxc.toml", PROJECT),
    ("templates/triage.xml", TASK),
    ("scenarios/late.yaml", CASE),
    ("scenarios/played.yaml", OF_ROLE),
    ("scenarios/many.yaml", SUITE),
];

/// The errors of `ctxc check` in a folder, as `CODE PATH`.
fn errors(folder: &Path) -> Vec<String> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ctxc"));
    let output = command
        .args(["check", "--format", "json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let errors = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["severity"] == "error");
    errors
        .map(|one| format!("{} {} {}", one["code"], one["path"], one["message"]))
        .collect()
}

/// The texts after a rename, by name.
fn renamed(
    client: &mut Client,
    files: &BTreeMap<String, String>,
    params: &Value,
) -> Result<BTreeMap<String, String>, String> {
    let changes = client
        .try_ask("textDocument/rename", params)
        .map_err(|(_, message)| message)?["changes"]
        .clone();
    let of = |(name, text): (&String, &String)| {
        let edits = &changes[client.uri(name)];
        (!edits.is_null()).then(|| (name.clone(), applied(text, edits)))
    };
    let after: BTreeMap<String, String> = files.iter().filter_map(of).collect();
    assert_eq!(
        after.len(),
        changes.as_object().unwrap().len(),
        "every edit is in a file that is known: {changes}"
    );
    Ok(after)
}

fn owned(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

#[test]
fn a_task_is_renamed_in_scenarios_and_roles() {
    let mut client = Client::new(FILES, &pulling());
    client.open("templates/triage.xml", TASK);
    let at = json!({"textDocument": {"uri": client.uri("templates/triage.xml")}, "position": position(TASK, "name=\"tri")});
    let mut params = at.clone();
    params["newName"] = json!("sort");
    let after = renamed(&mut client, &owned(FILES), &params).unwrap();
    assert_eq!(
        after["scenarios/late.yaml"],
        CASE.replace("\"triage\"", "\"sort\"")
    );
    assert_eq!(
        after["scenarios/many.yaml"],
        SUITE.replace("task: triage", "task: sort")
    );
    let project = PROJECT
        .replace("'triage'", "'sort'")
        .replace("of its name\n", "of its name\ntemplate = \"sort\"\n");
    assert_eq!(after["ctxc.toml"], project);
    assert_eq!(after.len(), 4);
    let mut params = at;
    params["context"] = json!({"includeDeclaration": true});
    assert_eq!(
        client
            .ask("textDocument/references", &params)
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

#[test]
fn parameters_and_inputs_are_renamed_in_scenarios() {
    let mut client = Client::new(FILES, &pulling());
    client.open("templates/triage.xml", TASK);
    let uri = client.uri("templates/triage.xml");
    let params = json!({"textDocument": {"uri": uri}, "position": position(TASK, "name=\"tic"), "newName": "case"});
    let after = renamed(&mut client, &owned(FILES), &params).unwrap();
    assert_eq!(after["scenarios/late.yaml"], CASE.replace("ticket", "case"));
    assert_eq!(
        after["scenarios/played.yaml"],
        OF_ROLE.replace("ticket", "case")
    );
    assert_eq!(
        after["scenarios/many.yaml"],
        SUITE.replace("ticket", "case")
    );
    let params = json!({"textDocument": {"uri": uri}, "position": position(TASK, "name=\"no"), "newName": "remark"});
    let after = renamed(&mut client, &owned(FILES), &params).unwrap();
    assert_eq!(after["scenarios/late.yaml"], CASE.replace("note", "remark"));
    assert_eq!(
        after["scenarios/played.yaml"],
        OF_ROLE.replace("note", "remark")
    );
}

#[test]
fn names_in_scenarios_lead_to_the_templates() {
    let mut client = Client::new(FILES, &pulling());
    client.open("scenarios/late.yaml", CASE);
    client.open("scenarios/played.yaml", OF_ROLE);
    client.open("ctxc.toml", PROJECT);
    let triage = client.uri("templates/triage.xml");
    let place = client.at(
        "textDocument/definition",
        "scenarios/late.yaml",
        CASE,
        "task: \"tri",
    );
    assert_eq!(
        (&place["uri"], &place["range"]["start"]),
        (&json!(triage), &position(TASK, "name=\""))
    );
    let place = client.at(
        "textDocument/definition",
        "scenarios/late.yaml",
        CASE,
        "{tick",
    );
    assert_eq!(
        (&place["uri"], &place["range"]["start"]),
        (&json!(triage), &position(TASK, "<parameter name=\""))
    );
    let place = client.at(
        "textDocument/definition",
        "scenarios/late.yaml",
        CASE,
        "input:no",
    );
    assert_eq!(
        (&place["uri"], &place["range"]["start"]),
        (&json!(triage), &position(TASK, "<input name=\""))
    );
    let place = client.at(
        "textDocument/definition",
        "scenarios/played.yaml",
        OF_ROLE,
        "role: so",
    );
    assert_eq!(
        (&place["uri"], &place["range"]["start"]),
        (
            &json!(client.uri("ctxc.toml")),
            &position(PROJECT, "[roles.")
        )
    );
    let place = client.at(
        "textDocument/definition",
        "ctxc.toml",
        PROJECT,
        "template = 'tri",
    );
    assert_eq!(place["uri"], triage);
    let hover = client.at("textDocument/hover", "scenarios/late.yaml", CASE, "{tick");
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("parameter of task triage"),
        "{hover}"
    );
    let params = json!({"textDocument": {"uri": client.uri("scenarios/late.yaml")}, "position": position(CASE, "{tick"), "newName": "case"});
    assert_eq!(
        renamed(&mut client, &owned(FILES), &params).unwrap().len(),
        4
    );
}

#[test]
fn a_rename_that_would_break_a_scenario_is_refused_with_the_reason() {
    // A parameter that the defaults give to two tasks has one name.
    let shared = (
        "scenarios/shared.yaml",
        "id: shared\ndefaults:\n  context: {objective: o, inputs: {ticket: t}}\n  expect_context: [{nothing_cut: true}]\ncases:\n  - {id: a, task: triage}\n  - {id: b, task: other}\n",
    );
    let other = TASK.replace("\"triage\"", "\"other\"");
    let files = [FILES, &[shared, ("templates/other.xml", &other)]].concat();
    let mut client = Client::new(&files, &pulling());
    assert_eq!(errors(client.folder()), [""; 0]);
    client.open("templates/triage.xml", TASK);
    let params = json!({"textDocument": {"uri": client.uri("templates/triage.xml")}, "position": position(TASK, "name=\"tic"), "newName": "case"});
    let refused = renamed(&mut client, &owned(&files), &params).unwrap_err();
    assert!(
        refused.starts_with(
            "with the name `case` there would be a new finding at scenarios/shared.yaml:"
        ),
        "{refused}"
    );
}

#[test]
fn the_workspace_report_has_the_scenarios_that_are_not_open() {
    let slip = CASE.replace("triage", "traige").replace("late\n", "slip\n");
    let mut client = Client::new(
        &[FILES, &[("scenarios/slip.yaml", &slip)]].concat(),
        &pulling(),
    );
    let codes = |client: &mut Client| {
        let answer = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
        let mut codes = Vec::new();
        for item in answer["items"].as_array().unwrap() {
            codes.extend(
                item["items"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| one["code"].as_str().unwrap().to_owned()),
            );
        }
        codes
    };
    assert_eq!(codes(&mut client), ["CTX610"]);
    // A template as the editor has it counts.
    client.open("templates/triage.xml", &TASK.replace("ticket", "tickets"));
    assert_eq!(
        codes(&mut client),
        ["CTX612", "CTX612", "CTX612", "CTX612", "CTX610"]
    );
    client.close("templates/triage.xml");
    // A name used by an unopened scenario is taken.
    client.open("scenarios/new.yaml", CASE);
    assert_eq!(
        client
            .pull("scenarios/new.yaml")
            .iter()
            .map(|one| one["code"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["CTX618"]
    );
}

/// This repository's own project, with its files.
fn own_project() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    let mut open: Vec<String> = [
        "ctxc.toml",
        "templates",
        "scenarios",
        "docs",
        "CHANGELOG.md",
        "README.md",
        "src/syntax",
        "src/base",
    ]
    .map(str::to_owned)
    .to_vec();
    while let Some(name) = open.pop() {
        let path = root.join(&name);
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| {
                format!(
                    "{name}/{}",
                    entry.unwrap().file_name().into_string().unwrap()
                )
            }));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.insert(name, text);
        }
    }
    found
}

/// Renames every name of this repository's project, or each one of a few; the result has no error.
fn rename_own_project(one_of: usize) {
    let files = own_project();
    let listed: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let mut client = Client::new(&listed, &pulling());
    // In a folder of its own: the server must not see the result.
    let outcome = tempfile::tempdir().unwrap();
    for (name, text) in &files {
        let path = outcome.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    assert_eq!(errors(outcome.path()), [""; 0]);
    let mut seen = BTreeSet::new();
    let (mut done, mut refused) = (0, Vec::new());
    let templates = files
        .iter()
        .filter(|(name, _)| name.starts_with("templates/"));
    for (name, text) in
        templates.filter(|(_, text)| text.contains("<task") || text.contains("<library"))
    {
        client.open(name, text);
        for attribute in ["name=\"", "as=\"", "ref=\"", "fragment=\"", "template=\""] {
            for (at, _) in text.match_indices(attribute) {
                let head = &text[..at + attribute.len()];
                let place = json!({"line": head.matches('\n').count(), "character": head.rsplit('\n').next().unwrap().len()});
                let at = json!({"textDocument": {"uri": client.uri(name)}, "position": place});
                let mut params = at.clone();
                params["context"] = json!({"includeDeclaration": true});
                let places = client.ask("textDocument/references", &params);
                if places.as_array().is_none_or(Vec::is_empty)
                    || !seen.insert(places.to_string())
                    || seen.len() % one_of != 0
                {
                    continue;
                }
                let mut params = at;
                params["newName"] = json!("another_name_for_it");
                let after = match renamed(&mut client, &files, &params) {
                    Ok(after) => after,
                    Err(why) => {
                        refused.push(format!("{name}: {why}"));
                        continue;
                    }
                };
                for (name, text) in &after {
                    std::fs::write(outcome.path().join(name), text).unwrap();
                }
                assert_eq!(
                    errors(outcome.path()),
                    [""; 0],
                    "after a rename at {name} {place}"
                );
                for name in after.keys() {
                    std::fs::write(outcome.path().join(name), &files[name]).unwrap();
                }
                done += 1;
            }
        }
        client.close(name);
    }
    assert!(
        refused
            .iter()
            .all(|why| why.contains("there would be a new finding")
                || why.contains("which cannot be changed")),
        "{refused:#?}"
    );
    assert!(
        done * one_of >= 100,
        "{done} renames of {} names; refused: {refused:#?}",
        seen.len()
    );
}

#[test]
fn a_part_of_this_repository_can_be_renamed_and_stays_sound() {
    rename_own_project(11);
}

#[test]
#[ignore = "needs renames: minutes"]
fn all_of_this_repository_can_be_renamed_and_stays_sound() {
    rename_own_project(1);
}

/// A text is found by its fragment, and a path is no name.
#[test]
fn a_fragment_that_a_scenario_names_is_renamed_with_it() {
    let rules = "<library>\n  <fragment name=\"rules\">Be brief.</fragment>\n</library>\n";
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <instructions><use fragment=\"rules\"/></instructions>\n</task>\n";
    let case = "name: c\ntask: t\ncontext: {objective: o}\nexpect_context:\n  - contains: {in: {source: rules}, patterns: [brief]}\n  - not: {contains: {in: {source: templates/t.xml}, patterns: [x]}}\n";
    let files = [
        ("ctxc.toml", ""),
        ("templates/r.xml", rules),
        ("templates/t.xml", task),
        ("scenarios/c.yaml", case),
    ];
    let mut client = Client::new(&files, &pulling());
    client.open("scenarios/c.yaml", case);
    let at = json!({"textDocument": {"uri": client.uri("scenarios/c.yaml")}, "position": position(case, "source: ru")});
    let mut params = at.clone();
    params["newName"] = json!("house rules");
    let after = renamed(&mut client, &owned(&files), &params).unwrap();
    assert_eq!(
        after["templates/r.xml"],
        rules.replace("rules", "house rules")
    );
    assert_eq!(
        after["templates/t.xml"],
        task.replace("rules", "house rules")
    );
    assert_eq!(
        after["scenarios/c.yaml"],
        case.replace("source: rules", "source: \"house rules\"")
    );
    let mut params = at;
    params["context"] = json!({"includeDeclaration": true});
    assert_eq!(
        client
            .ask("textDocument/references", &params)
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(
        client.at(
            "textDocument/prepareRename",
            "scenarios/c.yaml",
            case,
            "source: temp"
        ),
        Value::Null
    );
}
