//! Recordings of other tools: VCR cassettes and traces of OpenTelemetry, under the verbs that take
//! recordings.

use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A cassette with two calls of a model and one of another server. One answer is packed.
const CASSETTE: &str = r#"interactions:
- request:
    body: '{"model": "gpt-4.1", "messages": [{"role": "system", "content": "You help
      with orders."}, {"role": "user", "content": "Where is order 7?"}]}'
    headers:
      authorization:
      - Bearer sk-secret-of-the-cassette
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body:
      string: !!binary |
        H4sIAAAAAAACAz2NQQoCMRAEv7L0OYiKp3zCB4gsIY7u4O5MyIyoLPm78aCnbrqgekWelDMZ4mkFy4VeiNuAhczSjRBXVJ17Ipmx
        eRJHQFZx6i3iKAO7Dc/03qAFXFnYprFSMpWOzbWgnQMeP1upuhQfXe8k/XS/+9qWMpOzyn8+tPYBvf7ljJoAAAA=
    headers: {}
    status: {code: 200, message: OK}
- request:
    body: null
    headers: {}
    method: GET
    uri: https://example.com/logo.png?key=sk-secret-of-the-query
  response:
    body: {string: ''}
    status: {code: 200, message: OK}
- request:
    headers: {}
    method: POST
    parsed_body:
      model: gpt-4.1
      messages:
      - {role: system, content: You help with orders.}
      - {role: user, content: Where is order 7?}
      - role: assistant
        tool_calls:
        - {id: call_1, type: function, function: {name: find, arguments: '{}'}}
    uri: https://api.openai.com/v1/chat/completions
  response:
    parsed_body: {error: {message: 'An assistant message with ''tool_calls'' must be followed by tool messages'}}
    status: {code: 400, message: Bad Request}
version: 1
"#;

/// An attribute of OTLP.
fn attribute(key: &str, value: &Value) -> Value {
    fn any(value: &Value) -> Value {
        match value {
            Value::String(text) => json!({"stringValue": text}),
            Value::Number(number) => json!({"intValue": number.to_string()}),
            Value::Array(list) => {
                json!({"arrayValue": {"values": list.iter().map(any).collect::<Vec<_>>()}})
            }
            Value::Object(object) => {
                json!({"kvlistValue": {"values": object.iter().map(|(key, value)| attribute(key, value)).collect::<Vec<_>>()}})
            }
            Value::Bool(value) => json!({"boolValue": value}),
            Value::Null => json!({}),
        }
    }
    json!({"key": key, "value": any(value)})
}

fn attributes(of: &Value) -> Vec<Value> {
    of.as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| attribute(key, value))
        .collect()
}

fn trace(id: &str, start: u64, of: &Value, events: &Value) -> Value {
    let span = json!({"traceId": "t", "spanId": id, "name": "chat", "startTimeUnixNano": (start * 1_000_000_000).to_string(),
        "attributes": attributes(of), "events": events, "status": {}});
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
}

#[test]
fn a_cassette_is_read_by_every_verb_that_takes_a_recording() {
    let project = Project::new().with_file("orders.yaml", CASSETTE);
    let run = project
        .run(&["check", "orders.yaml", "--format", "json"])
        .exits_with(1);
    let found = run
        .stderr_contains("skipped: not of a chat API that ctxc reads")
        .json();
    let findings = found["findings"]
        .as_array()
        .or_else(|| found["diagnostics"].as_array())
        .unwrap()
        .clone();
    let names: Vec<_> = findings
        .iter()
        .map(|one| {
            (
                one["name"].as_str(),
                one["path"].as_str(),
                one["severity"].as_str(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [(
            Some("unanswered-call"),
            Some("orders.yaml#3"),
            Some("error")
        )]
    );
    let manifest = project
        .run(&["manifest", "orders.yaml", "--json"])
        .exits_with(0)
        .json();
    let calls = manifest["calls"].as_array().unwrap();
    assert_eq!(
        (calls.len(), &calls[0]["id"], &calls[0]["reported"]),
        (2, &json!("orders.yaml#1"), &json!(21))
    );
    project
        .run(&["render", "orders.yaml#1"])
        .exits_with(0)
        .stdout_contains("You help with orders.");
    project
        .run(&["prompt-cache", "orders.yaml"])
        .exits_with(0)
        .stdout_contains("conversation 1: 2 calls");
    project
        .run(&["diff", "orders.yaml", "orders.yaml"])
        .exits_with(0)
        .stdout_contains("2 the same, 0 changed");
    project
        .run(&["new", "scenario", "--from", "orders.yaml#1"])
        .exits_with(0);
    let written = project.run(&["eval"]).exits_with(0);
    assert!(!written.stdout.contains("sk-secret"));
}

#[test]
fn what_is_copied_from_a_cassette_is_masked() {
    let text = CASSETTE
        .replace(
            "order 7?",
            "order 7? Write to ann.planted@example.org with sk-planted0123456789abcdef.",
        )
        // The body repeats a value of its headers, and so does the body of another call.
        .replace(
            "Bearer sk-secret-of-the-cassette",
            "Bearer planted-in-a-header",
        )
        .replace("key=sk-secret-of-the-query", "key=planted-in-a-query")
        .replace(
            "You help\n      with orders.",
            "You help with planted-in-a-header and planted-in-a-query.",
        );
    let project = Project::new().with_file("orders.yaml", text);
    project
        .run(&["new", "scenario", "--from", "orders.yaml#1"])
        .exits_with(0)
        .stdout_contains("(1 email, 3 secrets masked)");
    for file in project
        .files()
        .iter()
        .filter(|file| file.starts_with("scenarios/"))
    {
        assert!(!project.read_file(file).contains("planted"), "{file}");
    }
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
    // A body alone.
    let body = json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "Write to ann.planted@example.org"}]});
    let project = Project::new().with_file("sent.json", body.to_string());
    project
        .run(&["new", "scenario", "--from", "sent.json", "--name", "alone"])
        .exits_with(0)
        .stdout_contains("(1 email masked)");
    for file in project
        .files()
        .iter()
        .filter(|file| file.starts_with("scenarios/"))
    {
        assert!(!project.read_file(file).contains("planted"), "{file}");
    }
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
}

#[test]
fn a_cassette_of_json_is_one_and_a_file_with_no_call_reports_what_it_holds() {
    let body = "{\"model\": \"claude-sonnet-4-5\", \"max_tokens\": 9, \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}";
    let interaction = json!({"request": {"method": "POST", "uri": "https://api.anthropic.com/v1/messages", "body": body, "headers": {}},
        "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": "{}"}}});
    let other = json!({"request": {"method": "GET", "uri": "https://example.com/", "body": null}, "response": {}});
    let cassette = |list: &[&Value]| json!({"version": 1, "interactions": list}).to_string();
    let project = Project::new()
        .with_file("a.json", cassette(&[&interaction]))
        .with_file("other.json", cassette(&[&other]))
        .with_file("empty.yaml", "interactions: []\nversion: 1\n")
        .with_file("torn.yaml", "interactions:\n- request: {a: [\n")
        .with_file("list.yaml", "interactions: 3\n");
    project.run(&["check", "a.json"]).exits_with(0);
    project
        .run(&["manifest", "a.json"])
        .exits_with(0)
        .stdout_contains("a.json#1 to claude-sonnet-4-5");
    project
        .run(&["check", "other.json"])
        .exits_with(1)
        .stderr_contains("none of its 1 calls goes to a model API that ctxc reads");
    project
        .run(&["check", "empty.yaml"])
        .exits_with(1)
        .stderr_contains("the cassette is empty");
    project
        .run(&["check", "torn.yaml"])
        .exits_with(1)
        .stderr_contains("it begins like a VCR cassette, but line ");
    project
        .run(&["check", "list.yaml"])
        .exits_with(1)
        .stderr_contains("its key `interactions` holds no list");
}

#[test]
fn a_trace_is_put_together_again_and_its_errors_are_warnings() {
    let input = json!([
        {"role": "user", "parts": [{"type": "text", "content": "Where is order 7?"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "call_1", "name": "find", "arguments": {"order": 7}}]},
    ]);
    let output = json!([{"role": "assistant", "parts": [{"type": "text", "content": "On its way."}], "finish_reason": "stop"}]);
    let own = json!({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4.1", "gen_ai.usage.input_tokens": 21,
        "gen_ai.system_instructions": "[{\"type\": \"text\", \"content\": \"You help with orders.\"}]",
        "gen_ai.tool.definitions": [{"type": "function", "name": "find", "parameters": {"type": "object", "properties": {}}}],
        "gen_ai.input.messages": input, "gen_ai.output.messages": output.to_string()});
    let agent = json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": input.to_string()});
    let lines = [
        trace("b", 20, &own, &json!([])),
        trace("a", 10, &agent, &json!([])),
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    let project = Project::new().with_file("traces.jsonl", lines);
    let run = project.run(&["check", "traces.jsonl"]).exits_with(0);
    run.stdout_contains("warning[unanswered-call]")
        .stderr_contains("a trace does not hold the bodies as they were sent");
    let manifest = project
        .run(&["manifest", "traces.jsonl", "--json"])
        .exits_with(0)
        .json();
    let ids: Vec<_> = manifest["calls"][0]["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "tool:find",
            "system:1",
            "message:2/text:1",
            "message:3/tool_call:call_1"
        ]
    );
    assert_eq!(
        (
            manifest["calls"].as_array().unwrap().len(),
            &manifest["calls"][0]["reported"]
        ),
        (1, &json!(21))
    );
    project
        .run(&["render", "traces.jsonl"])
        .exits_with(0)
        .stdout_contains("{\"order\":7}");
    project
        .run(&["new", "scenario", "--from", "traces.jsonl#1"])
        .exits_with(0);
    project.run(&["eval"]).exits_with(0);
}

#[test]
fn events_logs_and_flat_attributes_hold_messages_too() {
    let plain = json!({"gen_ai.system": "openai", "gen_ai.request.model": "gpt-4.1"});
    let event = |name: &str, of: &Value| json!({"name": name, "timeUnixNano": "1", "attributes": attributes(of)});
    let events = json!([
        event("gen_ai.system.message", &json!({"content": "You help."})),
        event("gen_ai.user.message", &json!({"content": "Hello"}))
    ]);
    let record = |name: &str, when: u64, body: &Value| {
        json!({"traceId": "t", "spanId": "s", "timeUnixNano": when.to_string(), "attributes": [attribute("event.name", &json!(name))],
            "body": attribute("", body)["value"]})
    };
    let call = json!([{"id": "call_1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]);
    let records = [
        record(
            "gen_ai.tool.message",
            3,
            &json!({"id": "call_1", "content": "found"}),
        ),
        record("gen_ai.assistant.message", 2, &json!({"tool_calls": call})),
        record("gen_ai.user.message", 1, &json!({"content": "Hello"})),
        record(
            "gen_ai.choice",
            4,
            &json!({"index": 0, "message": {"content": "Hi"}}),
        ),
        record("other.event", 5, &json!({"content": "no"})),
    ];
    let logs = json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]});
    let flat = json!({"llm.request.type": "chat", "gen_ai.request.model": "gpt-4.1", "gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "You help.",
        "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "Hello", "llm.request.functions.0.name": "find",
        "llm.request.functions.0.parameters": "{\"type\": \"object\"}"});
    let agent = json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find"});
    let project = Project::new()
        .with_file("events.json", trace("a", 10, &plain, &events).to_string())
        .with_file("logs.json", logs.to_string())
        .with_file(
            "flat.json",
            format!("[{}]", trace("a", 10, &flat, &json!([]))),
        )
        .with_file("bare.json", trace("a", 10, &plain, &json!([])).to_string())
        .with_file("none.json", trace("a", 10, &agent, &json!([])).to_string());
    let ids = |file: &str| {
        let manifest = project
            .run(&["manifest", file, "--json"])
            .exits_with(0)
            .json();
        let segments = manifest["calls"][0]["segments"].as_array().unwrap().clone();
        segments
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("events.json"), ["system:1", "message:2/text:1"]);
    assert_eq!(
        ids("logs.json"),
        [
            "message:1/text:1",
            "message:2/tool_call:call_1",
            "message:3/tool_result:call_1"
        ]
    );
    assert_eq!(
        ids("flat.json"),
        ["tool:find", "system:1", "message:2/text:1"]
    );
    let bare = project.run(&["check", "bare.json"]).exits_with(1);
    bare.stderr_contains("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true")
        .stderr_contains("TRACELOOP_TRACE_CONTENT=true");
    project
        .run(&["check", "none.json"])
        .exits_with(1)
        .stderr_contains("it holds no span or event of a call to a model");
}
