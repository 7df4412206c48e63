//! Traces: their content, their use as recordings, and runs that resume from one.

use super::support::{
    newest_trace, newest_trace_file, project_with_templates, run_scripted, state_folder,
    trace_calls,
};
use crate::cli::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(super) const THREE: &str = r#"<task type="sequential" name="t"><description>Handle {{x}}.</description>
    <parameters><parameter name="x" type="string" required="true"/></parameters>
    <steps><task as="a"><description>First, of {{x}}.</description></task><task as="b"><description>Second, of {{a}}.</description></task>
    <task><description>Third, of {{b}}.</description></task></steps></task>"#;

pub(super) fn with_state(project: &Project, args: &[&str]) -> ProgramRun {
    ProgramRun::from(
        project
            .command(args)
            .env("XDG_STATE_HOME", state_folder(project))
            .output()
            .unwrap(),
    )
}

#[test]
fn a_trace_is_a_recording_that_answers_the_same_run() {
    let project = project_with_templates(&[("t", THREE)]);
    let answers =
        "- {when: {node: a}, reply: one}\n- {when: {node: b}, reply: two}\n- {reply: three}\n";
    run_scripted(&project, &["t", "-i", "x=this"], answers).exits_with(0);
    let path = newest_trace_file(&state_folder(&project));
    let path = path.to_string_lossy();
    assert_eq!(
        with_state(
            &project,
            &["run", "t", "-i", "x=this", "--recording", "run:last"]
        )
        .exits_with(0)
        .stdout,
        "three\n"
    );
    with_state(
        &project,
        &["run", "t", "-i", "x=that", "--recording", &path],
    )
    .exits_with(6)
    .stderr_contains("no answer is recorded for this request of /steps/0")
    .stderr_contains("hint: `--script FILE` takes answers that you wrote");
    // Other verbs read the calls between the lines of the run.
    with_state(&project, &["manifest", &format!("{path}#2")])
        .exits_with(0)
        .stdout_contains("Earlier step: a");
    with_state(&project, &["check", &path]).exits_with(0);
}

/// An agent that waits a moment before each answer, and records the requests.
fn slow(wait: Duration, asked: Arc<Mutex<Vec<String>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let asked = Arc::clone(&asked);
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    if let Some((name, value)) = line.split_once(':')
                        && name.eq_ignore_ascii_case("content-length")
                    {
                        length = value.trim().parse().unwrap();
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let body: Value = serde_json::from_slice(&body).unwrap();
                let last = body["messages"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|message| message["content"].to_string())
                    .collect::<String>();
                asked.lock().unwrap().push(last.clone());
                std::thread::sleep(wait);
                let word = ["Third", "Second", "First"]
                    .into_iter()
                    .find(|word| last.contains(&format!("{word}, of")))
                    .unwrap_or("other");
                let answer = json!({"choices": [{"message": {"role": "assistant", "content": format!("{word} done")}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 5, "completion_tokens": 1}})
                .to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    answer.len()
                );
                // A killed program reads no more.
                let _ = stream.write_all((head + &answer).as_bytes());
            });
        }
    });
    address
}

fn with_server(address: &str, task: &str) -> Project {
    let config = format!(
        "edition = \"2026\"\n[models.small]\nid = \"house-1\"\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 8000\n\
         [providers.house]\nkind = \"openai\"\nbase_url = \"{address}\"\n"
    );
    let project = project_with_templates(&[("t", task)]).with_file("ctxc.toml", config);
    with_state(&project, &["trust", "--yes"]).exits_with(0);
    project
}

fn modelled(task: &str) -> String {
    task.replacen("<description>", "<model>small</model><description>", 1)
}

/// Kills a run after a time, resumes it until it is done, and returns the requests.
fn killed(times: &mut dyn FnMut() -> Duration, most: usize) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let project = with_server(
        &slow(Duration::from_millis(20), Arc::clone(&asked)),
        &modelled(THREE),
    );
    let mut args = vec!["run", "t", "-i", "x=this", "--answers", "record"];
    for _ in 0..most {
        let mut child = project
            .command(&args)
            .env("XDG_STATE_HOME", state_folder(&project))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(times());
        child.kill().unwrap();
        child.wait().unwrap();
        let has_begun = std::path::Path::new(&state_folder(&project))
            .join("ctxc")
            .exists()
            && std::panic::catch_unwind(|| newest_trace_file(&state_folder(&project)))
                .is_ok_and(|file| std::fs::metadata(file).unwrap().len() > 0);
        if has_begun {
            args = vec!["run", "--resume"];
        }
    }
    let run = with_state(&project, &args);
    if run.code == Some(2) {
        assert!(run.stderr.contains("is complete"), "{}", run.stderr);
    } else {
        assert_eq!(run.exits_with(0).stdout, "Third done\n");
    }
    // Each call has one line, and the last line marks the trace as complete.
    let lines = std::fs::read_to_string(newest_trace_file(&state_folder(&project))).unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for call in trace_calls(&lines) {
        *ids.entry(call["id"].as_str().unwrap()).or_default() += 1;
    }
    assert_eq!(
        ids,
        BTreeMap::from([("/steps/0#1", 1), ("/steps/1#1", 1), ("/steps/2#1", 1)])
    );
    assert_eq!(lines.last().unwrap()["status"], "complete");
}

#[test]
fn a_run_that_was_killed_continues_without_repeating_a_finished_call() {
    let mut at = [60_u64, 90, 130].into_iter().cycle();
    killed(&mut || Duration::from_millis(at.next().unwrap()), 3);
}

#[test]
#[ignore = "needs kills: 200 of them take minutes"]
fn a_run_continues_after_kills_at_any_moment() {
    let mut state = 7_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis((state >> 33) % 160)
    };
    for _ in 0..40 {
        killed(&mut random, 5);
    }
}

#[test]
fn a_run_that_changed_or_is_complete_is_not_gone_on_with() {
    let project = project_with_templates(&[("t", THREE)]);
    run_scripted(
        &project,
        &["t", "-i", "x=this"],
        "- {when: {node: a}, reply: one}\n",
    )
    .exits_with(6);
    // It resumes with the stored answers, and requests none twice.
    let answers = "- {when: {node: b}, reply: two}\n- {when: {has: Third}, reply: three}\n";
    project.write_file("answers.yaml", format!("answers:\n{answers}"));
    let other = with_state(
        &project,
        &[
            "run",
            "--resume=last",
            "-i",
            "x=that",
            "--script",
            "answers.yaml",
        ],
    )
    .exits_with(2);
    other.stderr_contains("it was given other values");
    assert_eq!(
        with_state(&project, &["run", "--resume", "--script", "answers.yaml"])
            .exits_with(0)
            .stdout,
        "three\n"
    );
    let trace = newest_trace(&state_folder(&project));
    assert_eq!(trace_calls(&trace).len(), 3);
    with_state(&project, &["run", "--resume", "--script", "answers.yaml"])
        .exits_with(2)
        .stderr_contains("is complete");
    // With any answers that it would need.
    with_state(&project, &["run", "--resume"])
        .exits_with(2)
        .stderr_contains("is complete");
    run_scripted(
        &project,
        &["t", "-i", "x=this"],
        "- {when: {node: a}, reply: one}\n",
    )
    .exits_with(6);
    project.write_file("templates/t.xml", THREE.replace("First", "Firstly"));
    with_state(&project, &["run", "--resume", "--script", "answers.yaml"])
        .exits_with(2)
        .stderr_contains("the templates have changed since");
}

#[test]
fn independent_inputs_are_made_at_once() {
    let made = |name: &str| {
        format!(
            r#"<input name="{name}"><task type="atomic"><description>Make {name}.</description></task></input>"#
        )
    };
    let inputs: String = ["one", "two", "three", "four"]
        .into_iter()
        .map(made)
        .collect();
    // In both cases: a text of the task names them, or they are shown by themselves.
    for instructions in [
        "",
        "<instructions>{{one}} {{two}} {{three}} {{four}}</instructions>",
    ] {
        made_at_once(&format!(
            r#"<task type="atomic" name="t"><description>Join.</description><inputs>{inputs}</inputs>{instructions}</task>"#
        ));
    }
}

fn made_at_once(task: &str) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let project = with_server(
        &slow(Duration::from_millis(200), Arc::clone(&asked)),
        &modelled(task),
    );
    let begun = Instant::now();
    with_state(&project, &["run", "t", "--answers", "live"]).exits_with(0);
    let at_once = begun.elapsed();
    let begun = Instant::now();
    with_state(&project, &["run", "t", "--answers", "live", "--jobs", "1"]).exits_with(0);
    // Four in a row and one behind them take a second; concurrent ones take as long as two.
    assert!(
        begun.elapsed() > at_once + Duration::from_millis(400),
        "{at_once:?} against {:?}",
        begun.elapsed()
    );
    assert_eq!(asked.lock().unwrap().len(), 10);
}

#[test]
fn a_scenario_of_an_agent_in_a_run_passes_with_what_it_answered() {
    let project = project_with_templates(&[("t", THREE)]);
    let answers =
        "- {when: {node: a}, reply: one}\n- {when: {node: b}, reply: two}\n- {reply: three}\n";
    run_scripted(&project, &["t", "-i", "x=this"], answers).exits_with(0);
    with_state(
        &project,
        &[
            "new",
            "scenario",
            "--from",
            "run:last/b",
            "--name",
            "second",
        ],
    )
    .exits_with(0)
    .stdout_contains("wrote scenarios/second.yaml");
    let text = project.read_file("scenarios/second.yaml");
    assert!(
        text.contains("node: b") && text.contains("one") && text.contains("runs: 1"),
        "{text}"
    );
    assert!(
        project
            .read_file("scenarios/recordings/second.jsonl")
            .contains("\"/steps/1#1\"")
    );
    with_state(&project, &["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)");
    with_state(&project, &["new", "scenario", "--from", "run:last/nobody"])
        .exits_with(2)
        .stderr_contains("no agent `/nobody` of run");
}

#[test]
fn a_scenario_of_a_role_that_was_run_without_an_objective_is_not_stale_at_once() {
    let project = project_with_templates(&[("t", THREE)]);
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.clerk]\ntemplate = \"t\"\n",
    );
    run_scripted(
        &project,
        &["clerk", "-i", "x=this"],
        "- {when: {node: a}, reply: one}\n- {when: {node: b}, reply: two}\n- {reply: three}\n",
    )
    .exits_with(0);
    with_state(
        &project,
        &["new", "scenario", "--from", "run:last", "--name", "all"],
    )
    .exits_with(0);
    with_state(
        &project,
        &[
            "new",
            "scenario",
            "--from",
            "run:last/b",
            "--name",
            "second",
            "--no-index",
        ],
    )
    .exits_with(0);
    for name in ["all", "second"] {
        assert!(
            project
                .read_file(&format!("scenarios/{name}.yaml"))
                .contains("objective: \"\""),
            "{name}"
        );
    }
    with_state(&project, &["check"]).exits_with(0);
    with_state(&project, &["eval"])
        .exits_with(0)
        .stdout_contains("2 passed");
}

#[cfg(unix)]
#[test]
fn an_interrupt_explains_how_the_run_continues_and_sends_its_spans() {
    let collector = super::spans::collector("200 OK");
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let address = slow(Duration::from_secs(20), Arc::clone(&asked));
    let project = with_server(&address, &modelled(THREE));
    let mut command = project.command(&["run", "t", "-i", "x=this", "--answers", "record"]);
    command
        .env("XDG_STATE_HOME", state_folder(&project))
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    let child = command
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while asked.lock().unwrap().is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let signal = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(
        signal.success() && done.status.code() == Some(130),
        "{done:?}"
    );
    assert_eq!(
        String::from_utf8_lossy(&done.stderr),
        "interrupted: `ctxc run --resume` continues this run\n"
    );
    let sent = collector.sent.lock().unwrap();
    assert!(
        sent.len() == 1 && sent[0].1.contains("\"invoke_workflow t\""),
        "{sent:?}"
    );
}
