//! Names of tasks, steps and inputs in scenarios, their tables and requirements: they follow a
//! rename.

use super::client::{Client, applied, position, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const FLOW: &str = "<task type=\"sequential\" name=\"flow\">\n  <description>Flow</description>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <steps>\n    <task as=\"verdict\"><description>One</description><inputs><input name=\"body\">{{ticket}}</input></inputs></task>\n    <task as=\"out\"><description>Two {{verdict}}</description></task>\n  </steps>\n</task>\n";
const RUN: &str = "name: run\ndescription: verdict\ntask: flow\nrun: true\ncontext: {objective: verdict, inputs: {ticket: verdict}}\nexpect_context:\n  - {node: verdict, contains: [\"One\"]}\n  - {node: out, contains: [\"Two\"]}\nexpectations:\n  - path: [verdict, \"out\"]\n  - any_of: [{path: {match: superset, nodes: ['verdict', /steps/1]}}, {contains: verdict}]\n  - {node: verdict@1, contains: [\"verdict\"]}\nanswers:\n  - {when: {node: verdict}, reply: \"verdict\"}\n  - {when: {node: /steps/1}, reply: \"b\"}\n";
const OUT: &str = "name: out\ntask: flow\nnode: out\ncontext:\n  objective: verdict\n  inputs: {ticket: body}\n  results: {verdict: body}\nexpect_context:\n  - nothing_cut: true\n";
const SOURCE: &str = "name: source\ntask: flow\nnode: verdict\ncontext: {objective: ticket, inputs: {ticket: body}}\nexpect_context:\n  - contains: {in: {source: \"input:body\"}, patterns: [body]}\n  - not: {segment: {source: 'input:body', state: cut}}\n  - order: [description, input:body]\n";
const TABLE: &str = "id: many\ndefaults:\n  task: flow\n  node: out\n  expect_context: [{nothing_cut: true}]\ncases_from: rows.csv\n";
const ROWS: &str =
    "id,objective, ticket ,node\nticket,flow,\"flow, ticket\",verdict\nb,flow,flow,\"out\"\n";
const LINES: &str =
    "id: lines\ndefaults:\n  expect_context: [{nothing_cut: true}]\ncases_from: lines.jsonl\n";
const LINE: &str = "{\"id\": \"flow\", \"task\": \"flow\", \"node\": \"verdict\", \"context\": {\"objective\": \"ticket\", \"inputs\": {\"ticket\": \"flow\"}}}\n";
const PROJECT: &str = "[roles.flow]\ntemplate = \"flow\"\n\n[[require]]\nname = [\"flow\", \"f*\"]\nmust = \"has description\"\nreason = \"flow\"\n";

const FILES: &[(&str, &str)] = &[
    ("ctxc.toml", PROJECT),
    ("templates/flow.xml", FLOW),
    ("scenarios/run.yaml", RUN),
    ("scenarios/out.yaml", OUT),
    ("scenarios/source.yaml", SOURCE),
    ("scenarios/many.yaml", TABLE),
    ("scenarios/rows.csv", ROWS),
    ("scenarios/lines.yaml", LINES),
    ("scenarios/lines.jsonl", LINE),
];

/// The texts that a rename of the name before a place changes, in the order of [`FILES`].
fn renamed(before: &str, new: &str) -> Vec<(&'static str, String)> {
    let mut client = Client::new(FILES, &pulling());
    client.open("templates/flow.xml", FLOW);
    let uri = client.uri("templates/flow.xml");
    let params =
        json!({"textDocument": {"uri": uri}, "position": position(FLOW, before), "newName": new});
    let changes: Value = client.ask("textDocument/rename", &params)["changes"].clone();
    let texts = FILES.iter().filter_map(|(name, text)| {
        let edits = &changes[client.uri(name)];
        (!edits.is_null()).then(|| (*name, applied(text, edits)))
    });
    texts.collect()
}

#[test]
fn a_step_is_renamed_where_a_run_names_it() {
    let run = RUN
        .replace("node: verdict", "node: opinion")
        .replace("[verdict, \"out\"]", "[opinion, \"out\"]")
        .replace("['verdict'", "['opinion'");
    let expected = vec![
        ("templates/flow.xml", FLOW.replace("verdict", "opinion")),
        ("scenarios/run.yaml", run),
        ("scenarios/out.yaml", OUT.replace("{verdict:", "{opinion:")),
        (
            "scenarios/source.yaml",
            SOURCE.replace("verdict", "opinion"),
        ),
        ("scenarios/rows.csv", ROWS.replace("verdict", "opinion")),
        ("scenarios/lines.jsonl", LINE.replace("verdict", "opinion")),
    ];
    assert_eq!(renamed("as=\"ver", "opinion"), expected);
}

#[test]
fn an_input_is_renamed_where_a_source_names_its_segment() {
    let expected = vec![
        ("templates/flow.xml", FLOW.replace("\"body\"", "\"letter\"")),
        (
            "scenarios/source.yaml",
            SOURCE.replace("input:body", "input:letter"),
        ),
    ];
    assert_eq!(renamed("name=\"bo", "letter"), expected);
}

#[test]
fn a_parameter_is_renamed_in_the_columns_and_lines_of_tables() {
    let expected = vec![
        ("templates/flow.xml", FLOW.replace("ticket", "mail")),
        ("scenarios/run.yaml", RUN.replace("{ticket:", "{mail:")),
        ("scenarios/out.yaml", OUT.replace("{ticket:", "{mail:")),
        (
            "scenarios/source.yaml",
            SOURCE.replace("{ticket:", "{mail:"),
        ),
        ("scenarios/rows.csv", ROWS.replace(" ticket ", " mail ")),
        (
            "scenarios/lines.jsonl",
            LINE.replace("{\"ticket\"", "{\"mail\""),
        ),
    ];
    assert_eq!(renamed("parameter name=\"ti", "mail"), expected);
}

#[test]
fn a_task_is_renamed_in_defaults_tables_and_requirements() {
    let yaml = |text: &str| text.replace("task: flow", "task: \"the, flow\"");
    let project = PROJECT
        .replace("template = \"flow\"", "template = \"the, flow\"")
        .replace("[\"flow\"", "[\"the, flow\"");
    let expected = vec![
        ("ctxc.toml", project),
        (
            "templates/flow.xml",
            FLOW.replace("name=\"flow\"", "name=\"the, flow\""),
        ),
        ("scenarios/run.yaml", yaml(RUN)),
        ("scenarios/out.yaml", yaml(OUT)),
        ("scenarios/source.yaml", yaml(SOURCE)),
        ("scenarios/many.yaml", yaml(TABLE)),
        (
            "scenarios/lines.jsonl",
            LINE.replace("\"task\": \"flow\"", "\"task\": \"the, flow\""),
        ),
    ];
    assert_eq!(renamed("name=\"fl", "the, flow"), expected);
}

#[test]
fn a_table_that_is_open_counts_as_the_editor_has_it() {
    let mut client = Client::new(FILES, &pulling());
    client.open("scenarios/many.yaml", TABLE);
    assert_eq!(client.pull("scenarios/many.yaml"), [Value::Null; 0]);
    client.open("scenarios/rows.csv", &ROWS.replace(" ticket ", " tickt "));
    let found = client.pull("scenarios/many.yaml");
    assert!(found.iter().any(|one| one["code"] == "CTX612"), "{found:?}");
    client.replace("scenarios/rows.csv", 2, ROWS);
    assert_eq!(client.pull("scenarios/many.yaml"), [Value::Null; 0]);
}
