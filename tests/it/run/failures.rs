//! Failures are reported, lose no earlier result, and are never a result.

use super::support::{
    events_of_kind, newest_trace, project_with_templates, run_scripted, state_folder, trace_calls,
};
use super::traces::THREE;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::run::trace::{LineSink, RunJournal, TraceEvent, TraceWriter};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex};

#[test]
fn a_missing_value_fails_before_any_call() {
    let task = r#"<task type="sequential" name="t"><description>Handle.</description>
        <parameters><parameter name="late" type="string" required="true"/></parameters>
        <steps><task><description>First.</description></task><task><description>Then {{late}}.</description></task></steps></task>"#;
    let project = project_with_templates(&[("t", task)]);
    run_scripted(&project, &["t"], "- {reply: x}\n")
        .exits_with(2)
        .stderr_contains("`late` has no value")
        .stderr_contains("--input late=VALUE")
        .stdout_is_empty();
    assert!(
        !std::path::Path::new(&state_folder(&project)).exists(),
        "nothing was begun"
    );
    run_scripted(&project, &["t", "--input", "lat=x"], "- {reply: x}\n")
        .exits_with(2)
        .stderr_contains("did you mean `late`?");
}

#[test]
fn a_tool_that_no_one_gave_is_refused_to_the_agent_and_traced() {
    let project = project_with_templates(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Do it.</description></task>"#,
    )]);
    let answers = "- {when: {lacks: there is no tool}, tool_calls: [{name: rm_rf, arguments: {path: /}}]}\n- {when: {has: there is no tool}, reply: then not}\n";
    assert_eq!(
        run_scripted(&project, &["t"], answers).exits_with(0).stdout,
        "then not\n"
    );
    let trace = newest_trace(&state_folder(&project));
    let tool = events_of_kind(&trace, "tool")[0];
    assert_eq!(
        (&tool["name"], &tool["is_error"]),
        (&json!("rm_rf"), &json!(true))
    );
    assert_eq!(trace_calls(&trace).len(), 2);
    // An agent that goes on calling tools ends at a bound.
    run_scripted(&project, &["t"], "- {tool_calls: [{name: rm_rf}]}\n")
        .exits_with(7)
        .stderr_contains("still asked for more after 16 requests");
}

/// Findings R1 and C10: a run ends with its agent's status, in any notation.
#[test]
fn the_status_of_an_answer_decides_unless_the_author_requests_a_status_field() {
    let task = r#"<task type="atomic" name="t"><description>Do it.</description></task>"#;
    let project = project_with_templates(&[("t", task)]);
    for answer in [
        "{status: FAILED}",
        "{status: failed, notes: no host}",
        "{status: WAITING}",
    ] {
        let run = run_scripted(&project, &["t"], &format!("- reply: {answer}\n"));
        assert_ne!(run.code, Some(0), "{answer}: {run:?}");
    }
    run_scripted(
        &project,
        &["t"],
        "- reply: {status: CONTINUATION, subtask_request: {type: atomic}}\n",
    )
    .stderr_contains("missing field `description`");
    assert_eq!(
        run_scripted(
            &project,
            &["t"],
            "- reply: {status: COMPLETE, content: done}\n"
        )
        .exits_with(0)
        .stdout,
        "done\n"
    );
    let project = super::support::project_with_templates(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Where is it?</description><output_format type="json" schema="order.json"/></task>"#,
    )]);
    project.write_file(
        "templates/order.json",
        r#"{"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}"#,
    );
    let run = run_scripted(&project, &["t"], "- reply: {status: failed}\n").exits_with(0);
    assert!(run.stdout.contains("failed"), "{run:?}");
}

#[test]
fn an_answer_that_no_one_wrote_or_recorded_is_distinguished() {
    let project = project_with_templates(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Do it.</description></task>"#,
    )]);
    run_scripted(
        &project,
        &["t"],
        "- {when: {has: nothing like it}, reply: x}\n",
    )
    .exits_with(6)
    .stderr_contains("none of the 1 scripted answers is for this request");
    project
        .run(&["run", "t", "--no-trace"])
        .exits_with(6)
        .stderr_contains("no answer is recorded for this request");
    run_scripted(&project, &["t"], "- {reply: ''}\n")
        .exits_with(1)
        .stderr_contains("the answer is empty");
}

/// A disk that is full after some lines.
#[derive(Debug)]
struct Full(Arc<Mutex<Vec<String>>>, usize);

impl LineSink for Full {
    fn add_line(&self, line: &[u8]) -> io::Result<()> {
        let mut lines = self.0.lock().unwrap();
        if lines.len() == self.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        lines.push(String::from_utf8(line.to_vec()).unwrap());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_loses_no_earlier_line_and_nothing_continues_behind_it() {
    let lines = Arc::default();
    let sink: Box<dyn LineSink> = Box::new(Full(Arc::clone(&lines), 2));
    let trace = TraceWriter::new(
        "r".to_owned(),
        Some(sink),
        Redactor::new([0; 32], []),
        RunJournal::default(),
    );
    let event = |stage: &str| TraceEvent::Case {
        stage: stage.to_owned(),
        case: None,
        test: None,
    };
    trace.write_event(event("/a")).unwrap();
    trace.write_event(event("/b")).unwrap();
    assert!(
        trace
            .write_event(event("/c"))
            .unwrap_err()
            .contains("its earlier lines are as they were")
    );
    assert!(trace.write_event(event("/d")).is_err());
    let journal = RunJournal::read(&lines.lock().unwrap().concat()).unwrap();
    assert_eq!(journal.events, [event("/a"), event("/b")]);
}

/// A value of another type is refused where it is written, before a run has begun.
#[test]
fn a_value_of_another_type_is_a_usage_error_of_every_verb() {
    let list = "<task type=\"sequential\" name=\"t\"><description>d</description>\
        <parameters><parameter name=\"xs\" type=\"array\"/></parameters>\
        <steps><task as=\"a\"><description>e {{xs}}</description></task><task><description>f {{a}}</description></task></steps></task>";
    let project = project_with_templates(&[("t", list)]);
    let message = "--input xs: the parameter's type is array, and `5` is a number";
    run_scripted(&project, &["t", "-i", "xs=5"], "- {reply: one}\n")
        .exits_with(2)
        .stderr_contains(message);
    assert!(
        !std::path::Path::new(&state_folder(&project)).exists(),
        "no run has begun"
    );
    for verb in ["render", "manifest"] {
        project
            .run(&[verb, "t", "-i", "xs=5"])
            .exits_with(2)
            .stderr_contains(message);
    }
    run_scripted(&project, &["t", "-i", "xs=[1]"], "- {reply: one}\n").exits_with(0);
}

#[test]
fn answers_that_no_request_gets_are_reported() {
    let project = project_with_templates(&[("t", THREE)]);
    let answers = "- {when: {node: a}, reply: one}\n- {when: {has: nowhere}, reply: lost}\n- {reply: all}\n- {reply: never}\n";
    let message = "warning: answers 2 and 4 of answers.yaml are not used";
    run_scripted(&project, &["t", "-i", "x=this"], answers)
        .exits_with(0)
        .stderr_contains(message);
    let used = "- {when: {node: a}, reply: one}\n- {reply: all}\n";
    let run = run_scripted(&project, &["t", "-i", "x=this"], used).exits_with(0);
    assert!(!run.stderr.contains("not used"), "{}", run.stderr);
}
