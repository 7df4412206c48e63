//! Live runs that are killed at random moments: an answered request is sent once, and the result is
//! that of the whole run.

use super::eval_record::{KEY, asked, completion, with_model};
use super::project::Project;
use crate::provider::fault_server::{Server, response, say};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

const CASES: usize = 24;
/// One case of three has a tool called first, so that its trials take two calls.
const CALLS_OF_A_TRIAL: usize = CASES + CASES / 3;

fn upstream() -> Server {
    Server::new(|_, request, connection| {
        std::thread::sleep(Duration::from_millis(4));
        let has_result = request.contains(r#""role":"tool""#);
        let body = if request.contains("look up") && !has_result {
            let call = json!({"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}});
            json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}).to_string()
        } else {
            completion(if request.contains("access") {
                "access"
            } else {
                "billing"
            })
        };
        say(
            connection,
            &response("200 OK", "content-type: application/json\r\n", &body),
        );
    })
}

fn suite(server: &Server) -> Project {
    let mut suite =
        "id: many\ndefaults: {role: clerk}\nfixtures: {tools: {lookup: found}}\ncases:\n"
            .to_owned();
    for number in 0..CASES {
        let ticket = ["look up my invoice", "my invoice", "my access"][number % 3];
        writeln!(
            suite,
            "  - {{id: c{number}, input: {{objective: sort, inputs: {{ticket: \"{ticket} {number}\"}}}}, expected: [{{contains: [billing]}}]}}"
        )
        .unwrap();
    }
    let project = with_model(&format!("{}/v1", server.url()));
    std::fs::remove_file(project.path("scenarios/billing.yaml")).unwrap();
    let tool = "[tools.lookup]\ndescription = \"Looks up\"\n";
    project.write_file(
        "ctxc.toml",
        project.read_file("ctxc.toml").replace(
            "model = \"small\"",
            "model = \"small\"\ntools = [\"lookup\"]",
        ) + tool,
    );
    project.write_file("scenarios/many.yaml", suite);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    project
}

/// A scorecard without times and durations.
fn timeless(mut card: Value) -> Value {
    let trials = card["cases"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .flat_map(|case| case["trials"].as_array_mut().unwrap());
    trials.for_each(|trial| trial["latency_ms"] = Value::Null);
    card
}

/// The time of the program's build: a program that is rebuilt between a kill and its resumption is
/// another one, with other keys.
fn built() -> std::time::SystemTime {
    std::fs::metadata(env!("CARGO_BIN_EXE_ctxc"))
        .and_then(|meta| meta.modified())
        .unwrap()
}

/// The stored state of the last run: true if it is open, and the number of its answered calls.
fn acknowledged(project: &Project, records: bool) -> (bool, usize) {
    let listed = project
        .run(&["history", "list", "--json"])
        .exits_with(0)
        .json();
    let Some(last) = listed["runs"]
        .as_array()
        .unwrap()
        .last()
        .filter(|run| run["finished"] == false)
    else {
        return (false, 0);
    };
    if !records {
        return (true, last["calls"].as_u64().unwrap() as usize);
    }
    let folder = std::fs::read_dir(project.path("scenarios/recordings"))
        .into_iter()
        .flatten();
    let mut ids: Vec<(String, String)> = Vec::new();
    for file in folder {
        let path = file.unwrap().path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let calls = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        ids.extend(
            calls
                .filter(|call| call["run"] == last["id"])
                .map(|call| (call["conversation"].to_string(), call["id"].to_string())),
        );
    }
    // A recording stands twice for a moment: beside its place, and in it.
    ids.sort();
    ids.dedup();
    (true, ids.len())
}

fn kills(rounds: u64, args: &[&str], trials: usize) {
    let records = args.contains(&"--record") || args.contains(&"replay-or-record");
    let server = upstream();
    let project = suite(&server);
    let total = CALLS_OF_A_TRIAL * trials;
    let fresh = || {
        drop(std::fs::remove_dir_all(
            project.path("scenarios/recordings"),
        ));
    };
    let args = [&["eval", "--json", "--jobs", "6"], args].concat();
    // By their key, since a request of a killed run may arrive at any time.
    let sent = || {
        server
            .requests()
            .iter()
            .filter(|request| request.contains(KEY))
            .count()
    };
    let (begun, program) = (Instant::now(), built());
    let whole = timeless(asked(&project, &args).json());
    let time = begun.elapsed();
    assert_eq!((sent(), &whole["summary"]["calls"]), (total, &total.into()));
    assert_eq!(
        (&whole["summary"]["passed"], &whole["summary"]["failed"]),
        (&16.into(), &8.into()),
        "{whole:#}"
    );
    let (mut seed, mut halves) = (2026_u64 + trials as u64, 0);
    for round in 0..rounds {
        fresh();
        let mut child = project.command(&args);
        let mut child = child
            .env("HOUSE_KEY", "killed-key-0123456789")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(
            (seed >> 33) % (time.as_micros() as u64 * 11 / 10),
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        let (is_open, known) = acknowledged(&project, records);
        halves += u64::from(known > 0 && known < total);
        if !is_open {
            fresh();
        }
        let before = sent();
        let listed = project.run(&["history", "list"]).stdout;
        let run = asked(&project, &[&args[..], &["--resume"]].concat());
        assert_eq!(built(), program, "the program was built anew while it ran");
        assert_eq!(timeless(run.json()), whole, "round {round}");
        let what = || {
            format!(
                "{}\nruns before:\n{listed}\nruns after:\n{}",
                run.stderr,
                project.run(&["history", "list"]).stdout
            )
        };
        assert_eq!(
            sent() - before,
            total - known,
            "round {round} of {args:?}: asked again, or lost: {}",
            what()
        );
        let (is_open, _) = acknowledged(&project, records);
        assert!(!is_open);
        let cases = project
            .run(&["history", "show", "last", "--json"])
            .exits_with(0)
            .json()["cases"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(cases, CASES, "round {round}");
        if records {
            let names = std::fs::read_dir(project.path("scenarios/recordings"))
                .unwrap()
                .map(|file| file.unwrap().file_name());
            let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            // A file cut by a kill while it was written has a name of its own, and is no recording.
            let ending = |name: &str| {
                std::path::Path::new(name)
                    .extension()
                    .map(std::ffi::OsStr::to_owned)
            };
            let recordings = names
                .iter()
                .filter(|name| ending(name).is_some_and(|ending| ending == "jsonl"))
                .count();
            assert!(
                recordings == CASES
                    && !names
                        .iter()
                        .any(|name| ending(name).is_some_and(|ending| ending == "part")),
                "{names:?}"
            );
        }
    }
    assert!(
        halves >= rounds / 6,
        "only {halves} kills of {rounds} hit a run between two answers"
    );
}

#[test]
#[ignore = "needs kills: how far a run is when it is killed wants a machine that does nothing else"]
fn a_killed_run_asks_for_no_answer_twice() {
    kills(6, &["--answers", "live"], 2);
    kills(6, &["--record"], 3);
    kills(3, &["--answers", "replay-or-record"], 3);
}

#[test]
#[ignore = "needs kills: 300 of them take minutes"]
fn three_hundred_kills_of_runs_that_ask_lose_no_answer() {
    kills(120, &["--answers", "live"], 2);
    kills(120, &["--record"], 3);
    kills(60, &["--answers", "replay-or-record"], 3);
}
