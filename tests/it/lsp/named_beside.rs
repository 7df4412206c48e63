//! Names of tasks, steps and inputs in scenarios, their tables and requirements: they follow a
//! rename.

use super::client::{Client, applied, position, pulling};
use ctxc::internals::base::hash::Hash;
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
    let place = ("templates/flow.xml", before);
    renamed_in(FILES, place, new).unwrap_or_else(|reason| panic!("{reason}"))
}

/// The texts that a rename of the name before a place in a file changes, or the reason why there is
/// none.
fn renamed_in(
    files: &[(&'static str, &str)],
    (file, before): (&str, &str),
    new: &str,
) -> Result<Vec<(&'static str, String)>, String> {
    let mut client = Client::new(files, &pulling());
    let text = files.iter().find(|(name, _)| *name == file).unwrap().1;
    client.open(file, text);
    let at = json!({"textDocument": {"uri": client.uri(file)}, "position": position(text, before)});
    let prepared = client.ask("textDocument/prepareRename", &at);
    assert!(prepared["range"].is_object(), "{prepared}");
    let mut params = at;
    params["newName"] = json!(new);
    let changes = client
        .try_ask("textDocument/rename", &params)
        .map_err(|(_, reason)| reason)?["changes"]
        .clone();
    let texts = files.iter().filter_map(|(name, text)| {
        let edits = &changes[client.uri(name)];
        (!edits.is_null()).then(|| (*name, applied(text, edits)))
    });
    Ok(texts.collect())
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

const ROLES: &str = "[project]\nname = \"clerk\"\n\n[roles.clerk] # the clerk\ndescription = \"clerk\"\n\n[roles.clerk.budget]\ntokens = 4000\n\n[roles]\nlead.template = \"flow\"\n\n[[require]]\nrole = [\"clerk\", 'lead']\nmust = \"has description\"\nreason = \"clerk\"\n";
const CLERK: &str =
    "<task type=\"atomic\" name=\"clerk\">\n  <description>Be clerk.</description>\n</task>\n";
const PLAYED: &str = "name: clerk\ndescription: clerk\nrole: clerk\ncontext: {objective: clerk}\nexpect_context:\n  - contains: [clerk]\n";
const PLAYED_ROWS: &str = "id,objective,role\nclerk,clerk,clerk\nb,\"clerk, or not\",\"clerk\"\n";
const PLAYED_LINES: &str =
    "{\"id\": \"clerk\", \"role\": \"clerk\", \"context\": {\"objective\": \"clerk\"}}\n";
const PLAYED_TABLE: &str =
    "id: many\ndefaults:\n  expect_context: [{nothing_cut: true}]\ncases_from: rows.csv\n";

const OF_ROLES: &[(&str, &str)] = &[
    ("ctxc.toml", ROLES),
    ("templates/flow.xml", FLOW),
    ("templates/clerk.xml", CLERK),
    ("scenarios/played.yaml", PLAYED),
    (
        "scenarios/listed.yaml",
        "id: listed\ncases:\n  - {name: clerk, role: clerk, context: {objective: clerk}}\ndefaults:\n  expect_context: [{nothing_cut: true}]\n",
    ),
    (
        "scenarios/whole.yaml",
        "id: whole\ndefaults:\n  role: \"clerk\"\n  context: {objective: clerk}\n  expect_context: [{nothing_cut: true}]\ncases: [{name: clerk}]\n",
    ),
    ("scenarios/many.yaml", PLAYED_TABLE),
    ("scenarios/rows.csv", PLAYED_ROWS),
    ("scenarios/lines.yaml", LINES),
    ("scenarios/lines.jsonl", PLAYED_LINES),
];

#[test]
fn a_role_is_renamed_wherever_it_is_named_and_its_task_stays() {
    let text = |file: &str| OF_ROLES.iter().find(|(name, _)| *name == file).unwrap().1;
    let expected = |new: &str, key: &str| {
        let project = ROLES
            .replace(
                "[roles.clerk] # the clerk\n",
                &format!("[roles.{key}] # the clerk\ntemplate = \"clerk\"\n"),
            )
            .replace("[roles.clerk.budget]", &format!("[roles.{key}.budget]"))
            .replace("[\"clerk\"", &format!("[\"{new}\""));
        let yaml = |file: &str| {
            text(file)
                .replace("role: clerk", &format!("role: {key}"))
                .replace("role: \"clerk\"", &format!("role: \"{new}\""))
        };
        vec![
            ("ctxc.toml", project),
            ("scenarios/played.yaml", yaml("scenarios/played.yaml")),
            ("scenarios/listed.yaml", yaml("scenarios/listed.yaml")),
            ("scenarios/whole.yaml", yaml("scenarios/whole.yaml")),
            (
                "scenarios/rows.csv",
                PLAYED_ROWS
                    .replace("clerk\nb", &format!("{key}\nb"))
                    .replace("\"clerk\"\n", &format!("\"{new}\"\n")),
            ),
            (
                "scenarios/lines.jsonl",
                PLAYED_LINES.replace("\"role\": \"clerk\"", &format!("\"role\": \"{new}\"")),
            ),
        ]
    };
    for place in [
        ("ctxc.toml", "[roles.cl"),
        ("ctxc.toml", "role = [\"cl"),
        ("scenarios/played.yaml", "role: cl"),
        ("scenarios/rows.csv", "clerk,clerk,cl"),
    ] {
        let after = renamed_in(OF_ROLES, place, "scribe");
        assert_eq!(after, Ok(expected("scribe", "scribe")), "{place:?}");
    }
    let after = renamed_in(OF_ROLES, ("scenarios/played.yaml", "role: cl"), "a, scribe");
    assert_eq!(after, Ok(expected("a, scribe", "\"a, scribe\"")));
}

#[test]
fn a_rename_of_a_role_is_refused_with_the_reason() {
    let house = "[[require]]\nrole = \"clerk\"\nmust = \"has description\"\n";
    let refused = |project: &str, new: &str| {
        let files: Vec<(&str, &str)> = OF_ROLES
            .iter()
            .map(|(name, text)| (*name, if *name == "ctxc.toml" { project } else { text }))
            .chain([("house.toml", house)])
            .collect();
        renamed_in(&files, ("scenarios/played.yaml", "role: cl"), new).unwrap_err()
    };
    assert_eq!(
        refused(ROLES, "lead"),
        "there is a role named `lead` already"
    );
    assert_eq!(
        refused(ROLES, "a\"b"),
        "`a\"b` cannot be a name: it must be on one line, without quotes, brackets and braces"
    );
    let inline = "[roles]\nclerk = { description = \"clerk\" }\n";
    assert_eq!(
        refused(inline, "scribe"),
        "the role `clerk` plays the task of its own name, which it would lose: add `template = \"clerk\"` to the role first"
    );
    let hash = Hash::digest(house.as_bytes());
    let extended = format!("extends = {{ path = \"house.toml\", hash = \"{hash}\" }}\n\n{ROLES}");
    let reason = refused(&extended, "scribe");
    assert!(
        reason
            .starts_with("with the name `scribe` there would be a new finding at house.toml:2:8: "),
        "{reason}"
    );
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
