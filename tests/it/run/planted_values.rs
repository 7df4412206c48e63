//! Made-up secrets of many kinds in the inputs, answers and failures of a run: none of them is in
//! its trace, its spans or its errors.

use super::spans::{collector, run};
use super::support::{project_with_templates, state_folder};
use crate::cli::project::Project;
use crate::record::planted_secrets::{environment, found_in, planted};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::path::Path;

/// The texts of all files below a folder.
fn files(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, texts);
        } else {
            texts.push((
                path.display().to_string(),
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
            ));
        }
    }
}

/// Runs a task with the planted values, and searches all written files.
fn hold_none(project: &Project, answers: &serde_json::Value, code: i32, says: &str) {
    let all = planted();
    project.write_file("answers.yaml", json!({"answers": answers}).to_string());
    run(project, &["trust", "--yes"], &[]).exits_with(0);
    let collector = collector("200 OK");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ];
    let done = run(
        project,
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
    .exits_with(code);
    let mut texts = Vec::new();
    files(Path::new(&state_folder(project)), &mut texts);
    assert!(
        texts
            .iter()
            .any(|(path, text)| path.contains("/runs/") && text.contains(says)),
        "{texts:?}"
    );
    let (_, spans) = collector.sent.lock().unwrap().pop().unwrap();
    texts.extend([
        ("spans".to_owned(), spans),
        ("errors".to_owned(), done.stderr),
    ]);
    for (place, text) in texts {
        assert_eq!(found_in(&all, &text), [""; 0], "{place}");
    }
}

fn templates(command: &str) -> Project {
    let task = format!(
        r#"<task type="sequential" name="t"><description>Count.</description><steps>
        <task type="script" as="out"><description>Write.</description><command>{command}</command></task>
        <task><description>Read {{{{out}}}}.</description></task></steps></task>"#
    );
    let config = "edition = \"2026\"\n[roles.clerk]\ntemplate = \"t\"\ntools = [\"look\"]\n[tools.look]\ndescription = \"Looks.\"\n\
                  command = [\"cat\", \"values.txt\"]\n";
    project_with_templates(&[("t", &task)])
        .with_file("ctxc.toml", config)
        .with_file("values.txt", environment(&planted()))
        .with_file("go.sh", "cat values.txt >&2\nexit 3\n")
}

#[test]
fn what_commands_and_tools_write_and_a_model_answers_is_in_no_trace() {
    let values = environment(&planted());
    let answers = json!([
        {"when": {"node": "/steps/1"}, "tool_calls": [{"name": "look", "arguments": {"text": values}}, {"name": "hide", "arguments": {}}]},
        {"when": {"node": "/steps/1"}, "reply": {"status": "FAILED", "content": values}},
    ]);
    hold_none(&templates("cat values.txt"), &answers, 1, "⟦secret:");
}

#[test]
fn what_a_command_fails_with_is_in_no_trace_and_no_error() {
    hold_none(
        &templates("sh go.sh"),
        &json!([{"reply": "never"}]),
        1,
        "exit code 3",
    );
}

/// Parts of values of the project's environment files, without the names before them, that a
/// command prints, a tool reads and a model repeats.
#[test]
fn parts_of_values_of_environment_files_are_in_no_trace_no_span_and_no_recording() {
    let environment = "NOTE='x'\nDB_PASSWORD=\"first horse 1\n second battery 2\"\nDB_TOKEN=correct staple horse\n\
                       DB_CONN=Server=db;Password=sword-77;Encrypt=true\n";
    let parts = [
        "first horse 1",
        "second battery 2",
        "correct staple horse",
        "sword-77",
        "hidden staple 9",
    ];
    let printed = parts.join("\n");
    let project = templates("cat values.txt");
    let project = project
        .with_file(".env", environment)
        .with_file(".config/app.env", "API_KEY='hidden staple 9'\n")
        .with_file("values.txt", &printed);
    let answers = json!([
        {"when": {"node": "/steps/1"}, "tool_calls": [{"name": "look", "arguments": {"text": printed}}]},
        {"when": {"node": "/steps/1"}, "reply": printed},
    ]);
    project.write_file("answers.yaml", json!({"answers": answers}).to_string());
    run(&project, &["trust", "--yes"], &[]).exits_with(0);
    let collector = collector("200 OK");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address.as_str()),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ];
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
    );
    let mut texts = Vec::new();
    files(Path::new(&state_folder(&project)), &mut texts);
    assert!(
        texts
            .iter()
            .any(|(path, text)| path.contains("/runs/") && text.contains("⟦secret:")),
        "{texts:?}"
    );
    let (_, spans) = collector.sent.lock().unwrap().pop().unwrap();
    texts.push(("spans".to_owned(), spans));
    for (place, text) in texts {
        for part in parts {
            assert!(!text.contains(part), "{part} in {place}: {text}");
        }
    }
}
