//! Tools that a project defines: their definitions for an agent, in every output.

use super::project::Project;
use ctxc::internals::context::tokens;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const TOML: &str = r#"edition = "2026"
[tools]
from = ["tools.json", "mcp.json"]
[tools.read_file]
description = "Read a file."
parameters = { type = "object", properties = { path = { type = "string" }, lines = { type = "integer" } }, required = ["path"] }
[tools.read_secret]
parameters = "secret.json"
strict = true
[roles.clerk]
template = "triage"
system = "You sort."
tools = ["list_files", "read_*"]
blocked_tools = ["read_mail"]
model = "small"
[models.small]
provider = "openai"
id = "gpt-x"
tier = "economy"
context_window = 8000
"#;

const OPENAI: &str = r#"[
  {"type": "function", "function": {"name": "list_files", "description": "List \"all\" files.\nOf a folder."}},
  {"type": "function", "name": "read_mail", "parameters": {"type": "object"}}
]"#;

const MCP: &str = r#"{"tools": [
  {"name": "read_page", "title": "A page", "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}},
  {"name": "write_page", "inputSchema": {"type": "object"}}
]}"#;

fn project() -> Project {
    Project::new()
        .with_file("ctxc.toml", TOML)
        .with_file("tools.json", OPENAI)
        .with_file("mcp.json", MCP)
        .with_file(
            "secret.json",
            r#"{"type": "object", "properties": {}, "additionalProperties": false}"#,
        )
        .with_file(
            "templates/triage.xml",
            "<task type=\"atomic\" name=\"triage\"><description>Sort it.</description></task>\n",
        )
}

const ORDER: [&str; 4] = ["list_files", "read_file", "read_page", "read_secret"];

fn body(project: &Project, target: &str) -> Value {
    serde_json::from_str(
        &project
            .run(&["render", "--role", "clerk", "--as", target])
            .exits_with(0)
            .stdout,
    )
    .unwrap()
}

#[test]
fn every_body_has_the_tools_of_the_role_in_its_providers_form() {
    let project = project();
    let chat = body(&project, "openai-chat");
    let names: Vec<&Value> = chat["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(names, ORDER);
    let list = json!({"name": "list_files", "description": "List \"all\" files.\nOf a folder.",
        "parameters": {"type": "object", "properties": {}}});
    assert_eq!(
        chat["tools"][0],
        json!({"type": "function", "function": list})
    );
    assert_eq!(chat["tools"][3]["function"]["strict"], true);
    assert_eq!(chat["tools"][3]["function"].get("description"), None);
    assert_eq!(body(&project, "ollama")["tools"], chat["tools"]);
    let responses = body(&project, "openai-responses");
    assert_eq!(
        (
            &responses["tools"][0]["type"],
            &responses["tools"][0]["name"]
        ),
        (&json!("function"), &json!("list_files"))
    );
    // An omitted key is not left to a default that would change the schema.
    assert_eq!(
        (
            &responses["tools"][0]["strict"],
            &responses["tools"][3]["strict"]
        ),
        (&json!(false), &json!(true))
    );
    let anthropic = body(&project, "anthropic");
    let marked: Vec<bool> = anthropic["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool.get("cache_control").is_some())
        .collect();
    assert_eq!(marked, [false, false, false, true]);
    assert_eq!(
        anthropic["tools"][2]["input_schema"]["properties"],
        json!({"url": {"type": "string"}})
    );
    let gemini = &body(&project, "gemini")["tools"][0]["functionDeclarations"];
    assert_eq!(
        gemini[1]["parametersJsonSchema"]["required"],
        json!(["path"])
    );
    assert_eq!(gemini.as_array().unwrap().len(), 4);
}

#[test]
fn tools_stand_in_front_and_are_counted_as_they_are_sent() {
    let project = project();
    let manifest = project
        .run(&["manifest", "--role", "clerk", "--json"])
        .exits_with(0)
        .json();
    let entry = &manifest["entries"][0];
    let parts = entry["segments"].as_array().unwrap();
    let counter = tokens::counter("o200k").unwrap();
    let mut sum = 0;
    for (at, (part, name)) in parts.iter().zip(ORDER).enumerate() {
        assert_eq!(
            (&part["id"], &part["kind"]),
            (&json!(format!("tool:{name}")), &json!("tools"))
        );
        assert_eq!(
            (&part["position"], &part["priority"], &part["stability"]),
            (&json!(at), &json!(0), &json!("project"))
        );
        let text = project
            .run(&["render", "--role", "clerk", "--as", "openai-chat"])
            .stdout;
        let sent = &serde_json::from_str::<Value>(&text).unwrap()["tools"][at]["function"];
        assert_eq!(part["tokens"], counter.count(&sent.to_string()), "{sent}");
        sum += part["tokens"].as_u64().unwrap();
    }
    assert_eq!(parts[2]["source"][0]["path"], "mcp.json");
    let others: u64 = parts
        .iter()
        .skip(4)
        .map(|part| part["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(entry["total"]["fixed"], sum + others);
    assert!(entry["prefix_tokens"].as_u64().unwrap() > sum);
    // They are counted in the budget, and are never cut.
    let run = project
        .run(&["render", "--role", "clerk", "--budget", "30"])
        .exits_with(1);
    assert!(run.stderr.contains("`tool:list_files`"), "{}", run.stderr);
}

#[test]
fn tools_are_shown_with_where_they_are_defined() {
    let project = project();
    let run = project
        .run(&["render", "--role", "clerk", "--explain"])
        .exits_with(0);
    for place in ["tools.json:2", "ctxc.toml:4", "mcp.json:2", "ctxc.toml:7"] {
        assert!(run.stdout.contains(place), "{place}\n{}", run.stdout);
    }
    assert!(run.stdout.starts_with("tools "), "{}", run.stdout);
    assert!(
        run.stdout.contains("there by the role's tools"),
        "{}",
        run.stdout
    );
    let raw = project
        .run(&["render", "--role", "clerk", "--raw"])
        .exits_with(0)
        .stdout;
    assert!(
        raw.starts_with("[tools]\n{\n") && raw.contains("\n\n[system]\nYou sort."),
        "{raw}"
    );
    // A task alone has none, and is shown none.
    assert!(
        !project
            .run(&["render", "triage", "--raw"])
            .exits_with(0)
            .stdout
            .contains("[tools]")
    );
}

#[test]
fn scenarios_say_which_tools_there_are_and_what_they_take() {
    let project = project().with_file(
        "page.json",
        r#"{"properties": {"url": {"type": "string"}}, "type": "object"}"#,
    );
    let verdict = |expectation: &str| {
        let scenario = format!(
            "name: s\nrole: clerk\ncontext: {{objective: o}}\nexpect_context:\n  - {expectation}\n"
        );
        project.write_file("scenarios/s.yaml", scenario);
        project.write_file("scenarios/page.json", project.read_file("page.json"));
        let run = project.run(&["eval", "--json"]);
        let row =
            serde_json::from_str::<Value>(&run.stdout).unwrap()["cases"][0]["context"][0].clone();
        format!("{}: {row}", row["verdict"].as_str().unwrap())
    };
    let holds = |expectation: &str| {
        assert!(
            verdict(expectation).starts_with("pass"),
            "{expectation}: {}",
            verdict(expectation)
        );
    };
    let fails = |expectation: &str, found: &str| {
        let reason = verdict(expectation);
        assert!(
            reason.starts_with("fail") && reason.contains(found),
            "{expectation}: {reason}"
        );
    };
    // A task without a role has no tools, for any request.
    for (asked, words) in [
        ("exactly", "tools `read_page`"),
        ("has", "tools `read_page`"),
        ("lacks", "the tools of a role"),
    ] {
        let expected = format!("expect_context:\n  - tools: {{{asked}: [read_page]}}\n");
        project.write_file(
            "scenarios/s.yaml",
            format!("name: s\ntask: triage\ncontext: {{objective: o}}\n{expected}"),
        );
        let run = project.run(&["eval"]).exits_with(1);
        run.stdout_contains(&format!(
            "expected {words}, found no tools: a task has none"
        ));
    }
    holds("tools: {has: [read_page, list_files], lacks: [read_mail, write_page]}");
    fails("tools: {has: [read_mail]}", "none of that name");
    fails("tools: {lacks: [read_page]}", "it");
    // A slip in a name proves nothing.
    for slip in [
        "tools: {lacks: [raed_page]}",
        "not: {tools: {has: [raed_page]}}",
    ] {
        fails(slip, "did you mean `read_page`?");
    }
    holds("tools: {exactly: [read_secret, read_page, read_file, list_files]}");
    fails("tools: {exactly: [read_page]}", "`list_files`");
    holds(
        "tools: {schema_of: {read_page: page.json, read_file: {type: object, required: [path], properties: {lines: {type: integer}, path: {type: string}}}}}",
    );
    fails(
        "tools: {schema_of: {read_file: {type: object, required: [path], properties: {path: {type: integer}}}}}",
        "ctxc.toml, line 4",
    );
    fails(
        "tools: {schema_of: {read_mail: page.json}}",
        "no definition",
    );
    holds("segment: {id: \"tool:read_page\", state: kept}");
    holds("segment: {kind: tools, state: kept}");
    holds("contains: Read a file");
    fails("absent: Read a file", "Read a file");
    holds("tools: [list_files, \"read_*\", \"!read_mail\"]");
}

#[test]
fn a_tool_that_changed_is_another_context() {
    let project = project();
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
        written.contains("tools: {exactly: [list_files, read_file, read_page, read_secret]}"),
        "{written}"
    );
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(0)
        .stdout_contains("1 carried");
    project.write_file("mcp.json", MCP.replace("\"url\"", "\"address\""));
    let run = project
        .run(&["eval", "--since", "card.json"])
        .exits_with(1)
        .stdout_contains("0 carried");
    assert!(run.stdout.contains("address"), "{}", run.stdout);
}

#[test]
fn a_project_without_definitions_is_asked_of_its_lists() {
    let toml = "edition = \"2026\"\n[roles.clerk]\ntemplate = \"triage\"\ntools = [\"read_*\"]\nblocked_tools = [\"read_mail\"]\n";
    let scenario = "name: s\nrole: clerk\ncontext: {objective: o}\nexpect_context:\n  - tools: {has: [read_x], lacks: [read_mail, write]}\n";
    let project = project()
        .with_file("ctxc.toml", toml)
        .with_file("scenarios/s.yaml", scenario);
    project.run(&["check", "--deny-warnings"]);
    project.run(&["eval"]).exits_with(0);
    assert_eq!(body(&project, "openai-chat").get("tools"), None);
}
