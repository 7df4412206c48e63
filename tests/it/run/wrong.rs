//! What goes wrong is said, costs nothing that was there, and is never a result.

use super::support::{calls, events, project, scripted, state, trace};
use super::traces::THREE;
use ctxc::internals::record::redact::Redactor;
use ctxc::internals::run::trace::{Journal, LineSink, Trace, TraceEvent};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::io;
use std::sync::{Arc, Mutex};

#[test]
fn a_missing_value_fails_before_any_call() {
    let task = r#"<task type="sequential" name="t"><description>Handle.</description>
        <parameters><parameter name="late" type="string" required="true"/></parameters>
        <steps><task><description>First.</description></task><task><description>Then {{late}}.</description></task></steps></task>"#;
    let project = project(&[("t", task)]);
    scripted(&project, &["t"], "- {reply: x}\n")
        .code(2)
        .warns("`late` has no value")
        .warns("--input late=VALUE")
        .silent_out();
    assert!(
        !std::path::Path::new(&state(&project)).exists(),
        "nothing was begun"
    );
    scripted(&project, &["t", "--input", "lat=x"], "- {reply: x}\n")
        .code(2)
        .warns("did you mean `late`?");
}

#[test]
fn a_tool_that_nobody_gave_is_refused_to_the_agent_and_traced() {
    let project = project(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Do it.</description></task>"#,
    )]);
    let answers = "- {when: {lacks: there is no tool}, tool_calls: [{name: rm_rf, arguments: {path: /}}]}\n- {when: {has: there is no tool}, reply: then not}\n";
    assert_eq!(
        scripted(&project, &["t"], answers).code(0).stdout,
        "then not\n"
    );
    let trace = trace(&state(&project));
    let tool = events(&trace, "tool")[0];
    assert_eq!(
        (&tool["name"], &tool["is_error"]),
        (&json!("rm_rf"), &json!(true))
    );
    assert_eq!(calls(&trace).len(), 2);
    // One that goes on calling ends at a bound.
    scripted(&project, &["t"], "- {tool_calls: [{name: rm_rf}]}\n")
        .code(7)
        .warns("still asked for more after 16 requests");
}

/// Findings R1 and C10: a run ends as its agent says, however that is written.
#[test]
fn the_status_of_an_answer_decides_unless_the_author_asked_for_one() {
    let task = r#"<task type="atomic" name="t"><description>Do it.</description></task>"#;
    let project = project(&[("t", task)]);
    for answer in [
        "{status: FAILED}",
        "{status: failed, notes: no host}",
        "{status: WAITING}",
    ] {
        let run = scripted(&project, &["t"], &format!("- reply: {answer}\n"));
        assert_ne!(run.code, Some(0), "{answer}: {run:?}");
    }
    scripted(
        &project,
        &["t"],
        "- reply: {status: CONTINUATION, subtask_request: {type: atomic}}\n",
    )
    .warns("missing field `description`");
    assert_eq!(
        scripted(
            &project,
            &["t"],
            "- reply: {status: COMPLETE, content: done}\n"
        )
        .code(0)
        .stdout,
        "done\n"
    );
    let project = super::support::project(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Where is it?</description><output_format type="json" schema="order.json"/></task>"#,
    )]);
    project.write(
        "templates/order.json",
        r#"{"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}"#,
    );
    let run = scripted(&project, &["t"], "- reply: {status: failed}\n").code(0);
    assert!(run.stdout.contains("failed"), "{run:?}");
}

#[test]
fn an_answer_that_nobody_wrote_or_recorded_is_told_apart() {
    let project = project(&[(
        "t",
        r#"<task type="atomic" name="t"><description>Do it.</description></task>"#,
    )]);
    scripted(
        &project,
        &["t"],
        "- {when: {has: nothing like it}, reply: x}\n",
    )
    .code(6)
    .warns("none of the 1 scripted answers is for this request");
    project
        .run(&["run", "t", "--no-trace"])
        .code(6)
        .warns("no answer is recorded for this request");
    scripted(&project, &["t"], "- {reply: ''}\n")
        .code(1)
        .warns("the answer is empty");
}

/// A disk that is full after some lines.
#[derive(Debug)]
struct Full(Arc<Mutex<Vec<String>>>, usize);

impl LineSink for Full {
    fn add(&self, line: &[u8]) -> io::Result<()> {
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
fn a_full_disk_loses_no_earlier_line_and_nothing_goes_on_behind_it() {
    let lines = Arc::default();
    let sink: Box<dyn LineSink> = Box::new(Full(Arc::clone(&lines), 2));
    let trace = Trace::new(
        "r".to_owned(),
        Some(sink),
        Redactor::new([0; 32], []),
        Journal::default(),
    );
    let event = |stage: &str| TraceEvent::Case {
        stage: stage.to_owned(),
        case: None,
        test: None,
    };
    trace.event(event("/a")).unwrap();
    trace.event(event("/b")).unwrap();
    assert!(
        trace
            .event(event("/c"))
            .unwrap_err()
            .contains("its earlier lines are as they were")
    );
    assert!(trace.event(event("/d")).is_err());
    let journal = Journal::read(&lines.lock().unwrap().concat()).unwrap();
    assert_eq!(journal.events, [event("/a"), event("/b")]);
}

/// A value of another type is refused where it is written, before a run has begun.
#[test]
fn a_value_of_another_type_is_a_usage_error_of_every_verb() {
    let list = "<task type=\"sequential\" name=\"t\"><description>d</description>\
        <parameters><parameter name=\"xs\" type=\"array\"/></parameters>\
        <steps><task as=\"a\"><description>e {{xs}}</description></task><task><description>f {{a}}</description></task></steps></task>";
    let project = project(&[("t", list)]);
    let told = "--input xs: the parameter's type is array, and `5` is a number";
    scripted(&project, &["t", "-i", "xs=5"], "- {reply: one}\n")
        .code(2)
        .warns(told);
    assert!(
        !std::path::Path::new(&state(&project)).exists(),
        "no run has begun"
    );
    for verb in ["render", "manifest"] {
        project.run(&[verb, "t", "-i", "xs=5"]).code(2).warns(told);
    }
    scripted(&project, &["t", "-i", "xs=[1]"], "- {reply: one}\n").code(0);
}

#[test]
fn answers_that_no_request_gets_are_reported() {
    let project = project(&[("t", THREE)]);
    let answers = "- {when: {node: a}, reply: one}\n- {when: {has: nowhere}, reply: lost}\n- {reply: all}\n- {reply: never}\n";
    let told = "warning: answers 2 and 4 of answers.yaml are not used";
    scripted(&project, &["t", "-i", "x=this"], answers)
        .code(0)
        .warns(told);
    let used = "- {when: {node: a}, reply: one}\n- {reply: all}\n";
    let run = scripted(&project, &["t", "-i", "x=this"], used).code(0);
    assert!(!run.stderr.contains("not used"), "{}", run.stderr);
}
