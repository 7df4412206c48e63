//! Runs as spans of OpenTelemetry, sent to the collector that the variables name, and nowhere else.

use super::support::{project_with_templates, state_folder};
use super::traces::THREE;
use crate::cli::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const ANSWERS: &str = "answers:\n- {when: {node: a}, reply: one for ada@example.com}\n- {when: {node: b}, reply: two}\n- {reply: three}\n";

/// A collector that answers everything with a status, and keeps the requests it received: the head
/// and the body of each.
pub(super) struct Collector {
    pub(super) address: String,
    pub(super) sent: Arc<Mutex<Vec<(String, String)>>>,
}

pub(super) fn collector(status: &'static str) -> Collector {
    answering(status, "")
}

fn answering(status: &'static str, says: &'static str) -> Collector {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let sent: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let kept = Arc::clone(&sent);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            kept.lock()
                .unwrap()
                .push((head, String::from_utf8(body).unwrap()));
            let length = says.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
            );
            let _ = write!(stream, "{head}connection: close\r\n\r\n{says}");
        }
    });
    Collector { address, sent }
}

pub(super) fn run(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> ProgramRun {
    let mut command = project.command(args);
    command
        .env("XDG_STATE_HOME", state_folder(project))
        .envs(variables.iter().copied());
    ProgramRun::from(command.output().unwrap())
}

fn three() -> Project {
    project_with_templates(&[("t", THREE)]).with_file("answers.yaml", ANSWERS)
}

const RUN: [&str; 6] = ["run", "t", "-i", "x=this", "--script", "answers.yaml"];

fn spans(body: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(body).unwrap();
    document["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap()
        .clone()
}

fn attribute<'s>(span: &'s Value, key: &str) -> &'s Value {
    let all = span["attributes"].as_array().unwrap();
    all.iter()
        .find(|one| one["key"] == key)
        .map_or(&Value::Null, |one| &one["value"])
}

#[test]
fn a_run_is_a_span_with_its_agents_and_their_calls_inside_and_no_word_of_them() {
    let (project, collector) = (three(), collector("200 OK"));
    let headers = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer%20planted-1, x-team = desk",
        ),
    ];
    let done = run(&project, &RUN, &headers).exits_with(0);
    assert_eq!(done.stdout, "three\n");
    let (head, body) = collector.sent.lock().unwrap().pop().unwrap();
    let head = head.to_lowercase();
    for line in [
        "post /v1/traces ",
        "content-type: application/json",
        "authorization: bearer planted-1",
        "x-team: desk",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    let spans = spans(&body);
    let names: Vec<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    let expected = [
        "invoke_workflow t",
        "chat",
        "invoke_agent a",
        "chat",
        "invoke_agent b",
        "chat",
        "invoke_agent /steps/2",
    ];
    assert_eq!(names, expected);
    let (root, chat, agent) = (&spans[0], &spans[1], &spans[2]);
    assert_eq!(
        (
            &root["parentSpanId"],
            &agent["parentSpanId"],
            &chat["parentSpanId"]
        ),
        (&"".into(), &root["spanId"], &agent["spanId"])
    );
    assert_eq!(
        attribute(chat, "gen_ai.operation.name")["stringValue"],
        "chat"
    );
    assert_eq!(attribute(chat, "ctxc.answered_by")["stringValue"], "script");
    // No service was called, and no token was paid for.
    assert_eq!(chat["kind"], 1);
    for key in [
        "gen_ai.provider.name",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
    ] {
        assert_eq!(attribute(chat, key), &Value::Null, "{key}: {chat:#}");
    }
    assert_eq!(root["traceId"].as_str().unwrap().len(), 32);
    assert!(
        spans.iter().all(|span| span["traceId"] == root["traceId"]
            && span["spanId"].as_str().unwrap().len() == 16)
    );
    let time = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
    for inner in &spans {
        assert!(
            time(root, "startTimeUnixNano") <= time(inner, "startTimeUnixNano"),
            "{inner:#}"
        );
        assert!(
            time(inner, "startTimeUnixNano") <= time(inner, "endTimeUnixNano"),
            "{inner:#}"
        );
        assert!(
            time(inner, "endTimeUnixNano") <= time(root, "endTimeUnixNano"),
            "{inner:#}"
        );
    }
    for word in ["First, of", "one for", "three", "planted"] {
        assert!(!body.contains(word), "{word}");
    }
}

#[test]
fn message_contents_are_sent_masked_on_request_and_read_again_as_a_recording() {
    let (project, collector) = (three(), collector("200 OK"));
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[record]\ncontent = \"full\"\n",
    );
    let traces = format!("{}/own/path", collector.address);
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces.as_str()),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ];
    run(&project, &RUN, &variables).exits_with(0);
    let (head, body) = collector.sent.lock().unwrap().pop().unwrap();
    assert!(head.starts_with("POST /own/path "), "{head}");
    assert!(
        body.contains("First, of this")
            && body.contains("one for")
            && !body.contains("ada@example.com"),
        "{body}"
    );
    project.write_file("spans.jsonl", &body);
    run(&project, &["check", "spans.jsonl"], &[]).exits_with(0);
    run(&project, &["manifest", "spans.jsonl#2"], &[])
        .exits_with(0)
        .stdout_contains("Earlier step: a");
}

#[test]
fn a_failed_run_a_tool_and_a_command_are_spans_with_their_errors() {
    let task = r#"<task type="sequential" name="t"><description>Count.</description><steps>
        <task type="script" as="out"><description>Write.</description><command>sh go.sh</command></task>
        <task><description>Read {{out}}.</description></task></steps></task>"#;
    let config = "edition = \"2026\"\n[roles.clerk]\ntemplate = \"t\"\ntools = [\"look\"]\n[tools.look]\ndescription = \"Looks.\"\ncommand = [\"sh\", \"look.sh\"]\n";
    let project = project_with_templates(&[("t", task)])
        .with_file("ctxc.toml", config)
        .with_file("go.sh", "echo 3\n")
        .with_file("look.sh", "echo found\n");
    project.write_file(
        "answers.yaml",
        "answers:\n- {when: {node: /steps/1}, tool_calls: [{name: look, arguments: {}}, {name: hide, arguments: {}}, {name: joe@firma.de, arguments: {}}]}\n\
         - {when: {node: /steps/1}, reply: {status: FAILED, content: no room for ada}}\n",
    );
    run(&project, &["trust", "--yes"], &[]).exits_with(0);
    let collector = collector("200 OK");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str())];
    run(
        &project,
        &[
            "run",
            "--role",
            "clerk",
            "--objective",
            "count",
            "--script",
            "answers.yaml",
        ],
        &variables,
    )
    .exits_with(1);
    let (_, body) = collector.sent.lock().unwrap().pop().unwrap();
    let spans = spans(&body);
    let of = |name: &str| {
        spans
            .iter()
            .find(|span| span["name"] == name)
            .unwrap_or_else(|| panic!("{name}: {body}"))
    };
    assert_eq!(of("script out")["status"], serde_json::json!({}));
    assert_eq!(
        of("execute_tool look")["parentSpanId"],
        of("invoke_agent /steps/1")["spanId"]
    );
    assert_eq!(
        (
            &of("execute_tool look")["status"]["code"],
            &of("execute_tool hide")["status"]["code"]
        ),
        (&Value::Null, &2.into())
    );
    assert_eq!(
        attribute(of("invoke_agent /steps/1"), "error.type")["stringValue"],
        "reported"
    );
    assert_eq!(of("invoke_workflow t")["status"]["code"], 2);
    assert!(!body.contains("no room"), "{body}");
    // The name of a tool is a text of the model.
    let named = |span: &&Value| {
        span["name"]
            .as_str()
            .unwrap()
            .starts_with("execute_tool ⟦email:")
    };
    let masked = spans.iter().find(named).unwrap_or_else(|| panic!("{body}"));
    let tool = attribute(masked, "gen_ai.tool.name")["stringValue"]
        .as_str()
        .unwrap();
    assert!(
        tool.starts_with("⟦email:") && !body.contains("firma"),
        "{body}"
    );
}

#[test]
fn a_collector_that_fails_is_one_warning_and_fails_no_run() {
    let project = three();
    project.write_file(
        "tasks.yaml",
        "- {id: T-1, payload: {task: t, inputs: {x: this}}}\n- {id: T-2, payload: {task: t, inputs: {x: that}}}\n",
    );
    let refusing = collector("503 Service Unavailable");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", refusing.address.as_str())];
    let batch = run(
        &project,
        &["run", "--source", "tasks.yaml", "--script", "answers.yaml"],
        &variables,
    )
    .exits_with(0);
    assert_eq!(
        batch.stderr.matches("it answered with status 503").count(),
        1,
        "{}",
        batch.stderr
    );
    assert!(!batch.stderr.contains("OTLP over"), "{}", batch.stderr);
    let other = collector("415 Unsupported Media Type");
    let form = [("OTEL_EXPORTER_OTLP_ENDPOINT", other.address.as_str())];
    run(&project, &RUN, &form)
        .exits_with(0)
        .stderr_contains("it answered with status 415");
    let partial = answering(
        "200 OK",
        r#"{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}"#,
    );
    let some = [("OTEL_EXPORTER_OTLP_ENDPOINT", partial.address.as_str())];
    run(&project, &RUN, &some)
        .exits_with(0)
        .stderr_contains("it rejected some of them: ");
    // No server listens there; secrets in the address itself are not shown.
    let nobody = [(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "http://user:planted-2@127.0.0.1:9/?key=planted-3",
    )];
    let done = run(&project, &RUN, &nobody)
        .exits_with(0)
        .stderr_contains("the spans of this run were not accepted by 127.0.0.1:9");
    assert!(
        !done.stderr.contains("planted") && !done.stderr.contains("OTLP over"),
        "{}",
        done.stderr
    );
    for off in [
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_TRACES_EXPORTER", "none"),
    ] {
        let quiet = run(&project, &RUN, &[variables[0], off]).exits_with(0);
        assert!(!quiet.stderr.contains("spans"), "{}", quiet.stderr);
    }
}

/// A project with a model at an address.
fn asking(provider: &Collector) -> Project {
    let config = format!(
        "edition = \"2026\"\n[models.small]\nid = \"house-1\"\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 8000\n\
         [providers.house]\nkind = \"openai\"\nbase_url = \"{}/v1\"\n",
        provider.address
    );
    let task = r#"<task type="atomic" name="t"><model>small</model><description>Say hi.</description><sampling temperature="0.5"/></task>"#;
    let project = project_with_templates(&[("t", task)]).with_file("ctxc.toml", config);
    run(&project, &["trust", "--yes"], &[]).exits_with(0);
    project
}

#[test]
fn a_call_states_the_model_its_vendor_and_what_it_was_asked_with() {
    let answer = r#"{"model": "house-1", "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1}}"#;
    let project = asking(&answering("200 OK", answer));
    let collector = collector("200 OK");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()),
        ("OTEL_SERVICE_NAME", "desk"),
    ];
    run(&project, &["run", "t", "--answers", "live"], &variables).exits_with(0);
    let (_, body) = collector.sent.lock().unwrap().pop().unwrap();
    let spans = spans(&body);
    let of = |name: &str| {
        spans
            .iter()
            .find(|span| span["name"] == name)
            .unwrap_or_else(|| panic!("{name}: {body}"))
    };
    let chat = of("chat house-1");
    for (key, kind, value) in [
        ("gen_ai.provider.name", "stringValue", Value::from("openai")),
        ("gen_ai.agent.name", "stringValue", "t".into()),
        ("gen_ai.request.model", "stringValue", "house-1".into()),
        ("gen_ai.request.temperature", "doubleValue", 0.5.into()),
        ("gen_ai.usage.input_tokens", "intValue", "5".into()),
        ("gen_ai.usage.output_tokens", "intValue", "1".into()),
    ] {
        assert_eq!(attribute(chat, key)[kind], value, "{key}: {chat:#}");
    }
    assert_eq!(chat["kind"], 3);
    // The project's own name of the model means nothing outside of it.
    assert_eq!(
        attribute(of("invoke_agent t"), "gen_ai.request.model"),
        &Value::Null
    );
    assert!(body.contains("desk") && !body.contains("small"), "{body}");
}

#[test]
fn the_only_agent_of_a_task_goes_by_the_role_that_it_plays() {
    let task = r#"<task type="atomic" name="t"><description>Say hi.</description></task>"#;
    let project = project_with_templates(&[("t", task)]).with_file(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.clerk]\ntemplate = \"t\"\n",
    );
    project.write_file("answers.yaml", "answers:\n- {reply: hi}\n");
    let collector = collector("200 OK");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str())];
    let role = [
        "run",
        "--role",
        "clerk",
        "--objective",
        "greet",
        "--script",
        "answers.yaml",
    ];
    for (args, name) in [
        (&["run", "t", "--script", "answers.yaml"][..], "t"),
        (&role[..], "clerk"),
    ] {
        run(&project, args, &variables).exits_with(0);
        let (_, body) = collector.sent.lock().unwrap().pop().unwrap();
        let spans = spans(&body);
        let agent = spans.last().unwrap();
        assert_eq!(agent["name"], format!("invoke_agent {name}"), "{body}");
        assert_eq!(attribute(agent, "gen_ai.agent.name")["stringValue"], name);
    }
}

#[test]
fn a_call_that_a_provider_failed_is_a_span_of_its_own_beside_that_of_the_model_that_answered() {
    let answer = r#"{"model": "house-2", "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}"#;
    let (broken, sound) = (
        answering(
            "400 Bad Request",
            r#"{"error": {"message": "no ada@example.com"}}"#,
        ),
        answering("200 OK", answer),
    );
    let project = asking(&broken);
    let more = format!(
        "[models.big]\nid = \"house-2\"\nprovider = \"other\"\ntier = \"standard\"\ncontext_window = 8000\n\
         [providers.other]\nkind = \"openai\"\nbase_url = \"{}/v1\"\n",
        sound.address
    );
    project.write_file("ctxc.toml", project.read_file("ctxc.toml") + &more);
    project.write_file("templates/t.xml", r#"<task type="atomic" name="t"><model><preferred>small</preferred><fallback>big</fallback></model><description>Say hi.</description></task>"#);
    run(&project, &["trust", "--yes"], &[]).exits_with(0);
    let collector = collector("200 OK");
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str())];
    let sent = |variables: &[(&str, &str)], code: i32| {
        run(&project, &["run", "t", "--answers", "live"], variables).exits_with(code);
        let (_, body) = collector.sent.lock().unwrap().pop().unwrap();
        (spans(&body), body)
    };
    let of = |spans: &[Value], name: &str| {
        spans
            .iter()
            .find(|span| span["name"] == name)
            .unwrap_or_else(|| panic!("{name}: {spans:#?}"))
            .clone()
    };
    let (found, body) = sent(&variables, 0);
    let (failed, answered) = (of(&found, "chat house-1"), of(&found, "chat house-2"));
    assert_eq!(
        (
            attribute(&failed, "error.type")["stringValue"].as_str(),
            &failed["status"]["code"]
        ),
        (Some("400"), &2.into())
    );
    assert_eq!(
        (
            attribute(&failed, "gen_ai.request.model")["stringValue"].as_str(),
            &failed["kind"]
        ),
        (Some("house-1"), &3.into())
    );
    assert_eq!(
        (&answered["status"], attribute(&answered, "error.type")),
        (&serde_json::json!({}), &Value::Null)
    );
    assert!(
        failed["spanId"] != answered["spanId"]
            && failed["parentSpanId"] == answered["parentSpanId"],
        "{body}"
    );
    // The provider's error may repeat the request.
    let is_private = |text: &str| !text.contains("ada@") && !text.contains("example.com");
    assert!(
        is_private(&body) && failed["status"]["message"] == "",
        "{body}"
    );
    let more_variables = [
        variables[0],
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ];
    let (found, body) = sent(&more_variables, 0);
    let message = of(&found, "chat house-1")["status"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        message.contains("status 400") && !body.contains("ada@"),
        "{message}"
    );
    // Without any other collector, the run fails with it.
    project.write_file(
        "templates/t.xml",
        r#"<task type="atomic" name="t"><model>small</model><description>Say hi.</description></task>"#,
    );
    let (found, _) = sent(&variables, 3);
    assert_eq!(
        attribute(&of(&found, "chat house-1"), "error.type")["stringValue"],
        "400"
    );
    assert_eq!(
        attribute(&of(&found, "invoke_agent t"), "error.type")["stringValue"],
        "provider"
    );
    let alone = run(&project, &["run", "t", "--answers", "live"], &[]).exits_with(3);
    alone.stderr_contains("failed: /: the provider answered with status 400: no ⟦email:");
    project.write_file(
        "templates/t.xml",
        r#"<task type="atomic" name="t"><description>Say hi.</description></task>"#,
    );
    let nobody = run(&project, &["run", "t", "--answers", "live"], &[])
        .exits_with(6)
        .stderr_contains("nothing says which model answers /: name a model");
    assert!(
        !nobody.stderr.contains("--answers record"),
        "{}",
        nobody.stderr
    );
}

#[test]
fn the_standard_variables_name_the_service_its_attributes_and_headers_and_a_protocol_that_is_not_spoken()
 {
    let (project, collector) = (three(), collector("200 OK"));
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str());
    let sent = |more: &[(&str, &str)]| {
        let done = run(&project, &RUN, &[&[endpoint], more].concat()).exits_with(0);
        let (head, body) = collector.sent.lock().unwrap().pop().unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        (
            head,
            body["resourceSpans"][0]["resource"].clone(),
            done.stderr,
        )
    };
    let word = |resource: &Value, key: &str| {
        attribute(resource, key)["stringValue"]
            .as_str()
            .map(str::to_owned)
    };
    let said = |text: &str| Some(text.to_owned());
    let attributes = (
        "OTEL_RESOURCE_ATTRIBUTES",
        "service.name=desk, team=a%2Cb%20c,deployment.environment.name=prod,",
    );
    let (_, resource, _) = sent(&[]);
    assert_eq!(word(&resource, "service.name"), said("ctxc"));
    let (_, resource, _) = sent(&[attributes]);
    let found =
        ["service.name", "team", "deployment.environment.name"].map(|key| word(&resource, key));
    assert_eq!(found, [said("desk"), said("a,b c"), said("prod")]);
    assert!(word(&resource, "service.version").is_some());
    let (_, resource, _) = sent(&[attributes, ("OTEL_SERVICE_NAME", "front")]);
    assert_eq!(
        (word(&resource, "service.name"), word(&resource, "team")),
        (said("front"), said("a,b c"))
    );
    // A list with an invalid item is ignored as a whole, as the specification requires.
    for wrong in ["team=a,b", "team=%zz", "=a"] {
        let (_, resource, warned) = sent(&[("OTEL_RESOURCE_ATTRIBUTES", wrong)]);
        assert_eq!(
            (word(&resource, "team"), word(&resource, "service.name")),
            (None, said("ctxc")),
            "{wrong}"
        );
        assert!(
            warned.contains("OTEL_RESOURCE_ATTRIBUTES is ignored"),
            "{warned}"
        );
    }
    let all = (
        "OTEL_EXPORTER_OTLP_HEADERS",
        "x-team=desk%2B1,authorization=Basic YTpi==",
    );
    let (head, ..) = sent(&[all]);
    assert!(
        head.contains("x-team: desk+1\r\n") && head.contains("authorization: Basic YTpi==\r\n"),
        "{head}"
    );
    let (head, ..) = sent(&[all, ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-team=own")]);
    assert!(
        head.contains("x-team: own") && !head.contains("authorization"),
        "{head}"
    );
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
        ("OTEL_TRACES_EXPORTER", "console,otlp"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
        ("OTEL_SDK_DISABLED", "no"),
    ] {
        let (_, _, warned) = sent(&[(name, value)]);
        assert!(!warned.contains("warning"), "{name}: {warned}");
    }
    for (name, value, says) in [
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc",
            "OTLP over HTTP in JSON",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "grpc",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is `grpc`",
        ),
        ("OTEL_TRACES_EXPORTER", "console", ""),
        ("OTEL_SDK_DISABLED", "TRUE", ""),
    ] {
        run(&project, &RUN, &[endpoint, (name, value)])
            .exits_with(0)
            .stderr_contains(says);
        assert!(collector.sent.lock().unwrap().is_empty(), "{name}");
    }
}
