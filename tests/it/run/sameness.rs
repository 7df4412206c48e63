//! Every request of a run equals the output of `ctxc render` for the same situation, byte for byte:
//! in every shipped template, the later requests of a tool loop too.

use crate::assembly::shipped::{Here, shipped};
use crate::cli::project::command_in;
use ctxc::internals::base::fs;
use ctxc::internals::context::TaskGraph;
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::StepResult;
use ctxc::internals::kernel::conversation::{Part, ToolCall};
use ctxc::internals::kernel::provider::{Answer, Response, Stop, Usage};
use ctxc::internals::record::json_text::compact_json;
use ctxc::internals::record::recording::AnsweredBy;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::run::answers::{AgentRequest, AnswerBackend, NoAnswer, SourcedAnswer};
use ctxc::internals::run::commands::{CommandOutput, CommandRunner, CommandSpec};
use ctxc::internals::run::flow::{RunPosition, TaskFlow};
use ctxc::internals::run::runner::{NoSubtasks, RunLimits, Runner, RunnerParts, TaskFrame};
use ctxc::internals::run::situation::RunSituation;
use ctxc::internals::run::tools::NoTools;
use ctxc::internals::run::trace::{RunJournal, TraceEvent, TraceWriter};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// A request that was sent.
#[derive(Debug)]
struct Seen {
    stage: String,
    node: String,
    number: u32,
    dialect: &'static str,
    body: String,
}

/// Calls a tool first, then answers in the required form; loops end in their second round.
#[derive(Debug, Default)]
struct Anybody(Mutex<Vec<Seen>>);

/// A value that fits a schema.
fn fitting(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind {
        Some("object") => {
            let wanted = schema["required"].as_array().cloned().unwrap_or_default();
            let field = |name: &Value| {
                (
                    name.as_str().unwrap().to_owned(),
                    fitting(&schema["properties"][name.as_str().unwrap()]),
                )
            };
            Value::Object(wanted.iter().map(field).collect())
        }
        Some("array") => json!([fitting(&schema["items"])]),
        Some("number" | "integer") => schema["minimum"].as_i64().unwrap_or(1).into(),
        Some("boolean") => json!(true),
        _ => {
            let words = [
                "some words",
                "a",
                "1.2.3",
                "2026-01-01",
                "T-1",
                "src/a.rs",
                "b",
            ]
            .map(Value::from);
            // A reference leads to a text, and nowhere outside of its schema.
            let fits =
                |words: &Value| schema.get("$ref").is_some() || jsonschema::is_valid(schema, words);
            words
                .into_iter()
                .find(fits)
                .unwrap_or_else(|| json!("some words"))
        }
    }
}

fn schema(value: &Value) -> Option<&Value> {
    match value {
        Value::Object(fields) => fields
            .get("schema")
            .filter(|schema| schema.is_object())
            .or_else(|| fields.values().find_map(schema)),
        Value::Array(items) => items.iter().find_map(schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The text of an answer in the form that a request asks for.
pub(super) fn fitting_text(body: &str, stage: &str) -> String {
    let request: Value = serde_json::from_str(body).unwrap();
    let object =
        json!({"success": stage.contains("@2"), "severity": "sev2", "team": "core", "said": "more", "v": "word", "k": "a"})
            .to_string();
    if request["response_format"]["type"] == "json_object" {
        return object;
    }
    let fields = ["response_format", "output_config"];
    if let Some(schema) = fields.iter().find_map(|field| schema(&request[field])) {
        return fitting(schema).to_string();
    }
    // Inherited segments stand under other headings.
    let headings = [
        "## Output format\\n\\n",
        "<output_format>\\n",
        "Output format:\\n",
        "# Output format\\n\\n",
    ];
    let forms = headings
        .iter()
        .filter_map(|heading| Some(body.rsplit_once(&[heading, "Answer with "].concat())?.1));
    // A bare text has none.
    let bare = body
        .rsplit_once("Answer with ")
        .map_or("", |(_, form)| form);
    let form = forms.min_by_key(|form| form.len()).unwrap_or(bare);
    let texts = [
        ("one JSON array of strings", "[\"a\"]"),
        ("one JSON array", "[1]"),
        ("one JSON number", "2"),
        ("`true` or `false`", "true"),
        ("one JSON object", &object),
        ("one JSON value", &object),
    ];
    let text = texts
        .iter()
        .find(|(words, _)| form.starts_with(words))
        .map(|(_, text)| (*text).to_owned());
    text.unwrap_or_else(|| format!("what {stage} says"))
}

impl AnswerBackend for Anybody {
    fn answer(&self, asked: &AgentRequest<'_>) -> Result<SourcedAnswer, NoAnswer> {
        let (stage, node) = (asked.stage.to_owned(), asked.node.to_owned());
        let body = asked.sent.body.clone();
        self.0.lock().unwrap().push(Seen {
            stage,
            node,
            number: asked.number,
            dialect: asked.sent.dialect,
            body: body.clone(),
        });
        let usage = Usage {
            input: Some(9),
            output: Some(3),
            ..Usage::default()
        };
        let answer = if asked.number == 1 {
            let call = ToolCall {
                id: "call_1".to_owned(),
                name: "look".to_owned(),
                arguments: json!({"at": "it"}),
            };
            Answer::new(
                vec![Part::Text("let me see".to_owned()), Part::Call(call)],
                Stop::Tool,
                usage,
                None,
            )
        } else {
            let text = fitting_text(&body, asked.stage);
            Answer::new(vec![Part::Text(text)], Stop::End, usage, None)
        };
        let response = Response {
            answer,
            body: "{}".to_owned(),
            status: 200,
            latency: Duration::ZERO,
        };
        Ok(SourcedAnswer {
            response,
            by: AnsweredBy::Script,
        })
    }
}

/// Returns the command that it would have run.
#[derive(Debug)]
pub(super) struct Echo;

impl CommandRunner for Echo {
    fn run(&self, command: &CommandSpec) -> Result<CommandOutput, String> {
        Ok(CommandOutput {
            code: 0,
            stdout: command.argv_strings().join(" "),
            stderr: String::new(),
        })
    }
}

/// The output of `ctxc render` for a situation.
fn rendered(
    task: &str,
    inputs: &BTreeMap<String, Value>,
    results: &BTreeMap<String, StepResult>,
    seen: &Seen,
    turns: &Path,
) -> String {
    let mut args = vec![
        "render".to_owned(),
        task.to_owned(),
        "--node".to_owned(),
        seen.node.clone(),
        "--no-index".to_owned(),
    ];
    for (name, value) in inputs {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        args.extend(["--input".to_owned(), format!("{name}={text}")]);
    }
    for (
        path,
        StepResult {
            content,
            notes,
            trust,
        },
    ) in results
    {
        args.extend([
            "--result".to_owned(),
            format!(
                "{path}={}",
                json!({"content": content, "notes": notes, "trust": trust})
            ),
        ]);
    }
    args.extend(["--as".to_owned(), seen.dialect.to_owned()]);
    if seen.number > 1 {
        args.extend(["--turns".to_owned(), turns.to_string_lossy().into_owned()]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = command_in(Path::new(env!("CARGO_MANIFEST_DIR")), &args)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{task} {}: {printed}\n{args:?}",
        seen.stage
    );
    compact_json(&String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_request_of_a_run_is_what_render_gives_for_its_situation() {
    let registry = shipped();
    let folder = tempfile::tempdir().unwrap();
    let turns = folder.path().join("turns.jsonl");
    let called = json!({"role": "assistant", "content": [{"type": "text", "text": "let me see"},
        {"type": "tool_use", "id": "call_1", "name": "look", "input": {"at": "it"}}]});
    let refused = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "is_error": true,
        "content": "there is no tool `look`"}]});
    fs::write_atomic(&turns, format!("{called}\n{refused}\n").as_bytes()).unwrap();
    let mut count = 0;
    // `render` never runs the command that lists the files of the first, and knows the model that
    // the second names, which this runner is not given.
    let apart = ["assess-api-change", "plan-next-step"];
    for task in registry
        .tasks()
        .filter(|task| !apart.contains(&task.name()))
    {
        let name = task.name();
        let graph = TaskGraph::load(&registry, name).unwrap().unwrap();
        let inputs: BTreeMap<String, Value> = task
            .parameters()
            .unwrap()
            .into_iter()
            .filter(|parameter| parameter.default.is_none())
            .map(|parameter| {
                let value = match (parameter.kind.as_deref(), parameter.name.as_str()) {
                    (_, "strings") => json!([{"key": "inbox.unread", "en": "unread", "text": "unread", "note": "a count"}]),
                    (Some("number"), _) => json!(0.07),
                    (Some("array"), "passages") => json!([{"title": "Retention", "text": "Logs are kept for 90 days."}]),
                    (Some("array"), "commits") => json!([{"hash": "a1b2c3d", "subject": "Add retries"}]),
                    (Some("object"), _) => json!({"name": "Zoë Adler", "plan": "team", "locale": "de"}),
                    (Some("string[]"), _) => json!(["one"]),
                    (Some("array"), _) => json!([{"title": "a", "text": "b"}]),
                    (Some("boolean"), _) => json!(true),
                    (_, other) => json!(format!("the {other}, with some words")),
                };
                (parameter.name, value)
            })
            .collect();
        let options = Options::default();
        let situation = RunSituation {
            files: &Here,
            ..RunSituation::new(name, &inputs)
        };
        let flow = TaskFlow::new(&graph, situation, &options).unwrap();
        let answers = Anybody::default();
        let trace = TraceWriter::new(
            "r".to_owned(),
            None,
            Redactor::new([0; 32], []),
            RunJournal::default(),
        )
        .with_kept_events();
        let limits = RunLimits {
            jobs: 1,
            ..RunLimits::default()
        };
        let parts = RunnerParts {
            options,
            providers: None,
            answers: &answers,
            tools: &NoTools,
            commands: &Echo,
            subtasks: &NoSubtasks,
            trace: &trace,
            limits,
            clock: || None,
        };
        let outcome = Runner::new(parts).run(&TaskFrame::new(&graph, situation, &flow));
        assert_eq!(outcome.obstacle, None, "{name}");
        let seen = answers.0.into_inner().unwrap();
        let mut outputs = BTreeMap::new();
        for event in trace.events() {
            if let TraceEvent::Result { stage, output, .. } = event {
                outputs.insert(stage, output);
            } else if let TraceEvent::Stage { stage, .. } = event {
                let (RunPosition::Running(ready), _) = flow.position(&outputs) else {
                    panic!("{name} {stage}")
                };
                let ready = ready
                    .into_iter()
                    .find(|ready| ready.stage == stage)
                    .unwrap();
                // The second request holds the first.
                for one in seen
                    .iter()
                    .filter(|one| one.stage == stage && one.number == 2)
                {
                    assert_eq!(
                        rendered(name, &inputs, &ready.results, one, &turns),
                        one.body,
                        "{name} {stage}"
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 50, "{count}");
}
