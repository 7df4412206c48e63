//! Providers that fail, hang, lie or delay every caller, and many calls at once: their effect on
//! the scorecard.

use super::eval_record::{asked, completion, with_model};
use super::project::{ProgramRun, Project};
use crate::provider::fault_server::{Server, hang, response, say};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const JSON: &str = "content-type: application/json\r\n";

/// An answer with an impossible count of tokens.
const LIE: &str = r#"{"choices":[{"message":{"role":"assistant","content":"billing"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":900}}}"#;

/// The scorecard of a provider that gives one scenario an invalid answer, and another an impossible
/// number of tokens.
pub(crate) fn failing_and_miscounted() -> Value {
    let server = Server::new(|_, request, connection| {
        say(
            connection,
            &response(
                "200 OK",
                JSON,
                if request.contains("lies") {
                    LIE
                } else {
                    "<html>"
                },
            ),
        );
    });
    let project = suite(&server, &["lies", "strange"].map(str::to_owned));
    // On a busy machine an answer may take longer than a second.
    project.write_file(
        "ctxc.toml",
        project
            .read_file("ctxc.toml")
            .replace("timeout_s = 1\n", "timeout_s = 60\n"),
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--answers", "live", "--json"])
        .exits_with(3)
        .json()
}

/// A project with cases that each hand over a ticket, whose models are behind a server.
fn suite(server: &Server, tickets: &[String]) -> Project {
    let mut suite =
        "id: many\ndefaults: {role: clerk, runs: 1, pass_threshold: 1}\ncases:\n".to_owned();
    for (number, ticket) in tickets.iter().enumerate() {
        writeln!(suite, "  - {{id: c{number}, input: {{objective: sort, inputs: {{ticket: \"{ticket}\"}}}}, expected: [{{contains: [billing]}}]}}").unwrap();
    }
    let project = with_model(&format!("{}/v1", server.url()));
    std::fs::remove_file(project.path("scenarios/billing.yaml")).unwrap();
    project.write_file(
        "ctxc.toml",
        project.read_file("ctxc.toml") + "timeout_s = 1\n",
    );
    project.write_file("scenarios/many.yaml", suite);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    project
}

fn case<'c>(card: &'c Value, id: &str) -> &'c Value {
    card["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["id"].as_str().unwrap().ends_with(id))
        .unwrap()
}

#[test]
fn only_cases_that_ended_in_an_error_are_asked_again() {
    let is_up = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&is_up);
    let server = Server::new(move |_, request, connection| {
        let answer = match () {
            () if request.contains("lost") && !shared.load(Ordering::Relaxed) => {
                "<html>".to_owned()
            }
            () if request.contains("wrong") => completion("access"),
            () => completion("billing"),
        };
        say(connection, &response("200 OK", JSON, &answer));
    });
    let project = suite(&server, &["lost", "right", "wrong"].map(str::to_owned));
    let config = project.read_file("ctxc.toml");
    project.write_file(
        "ctxc.toml",
        config.replace("timeout_s = 1\n", "timeout_s = 60\n"),
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let run = |more: &[&str], code| {
        asked(&project, &[&["eval", "--answers", "live"], more].concat()).exits_with(code)
    };
    // A case without a result of its context could be an error.
    run(&["--retry-errors"], 3)
        .stdout_contains("! ERROR  many/c0")
        .stdout_contains("0 carried, ");
    run(&["--retry-errors"], 3).stdout_contains("2 carried, ");
    let suite = project.read_file("scenarios/many.yaml");
    project.write_file(
        "scenarios/many.yaml",
        suite.replace("\"wrong\"", "\"wrong now\""),
    );
    run(&["--retry-errors"], 3).stdout_contains("1 carried, ");
    is_up.store(true, Ordering::Relaxed);
    run(&["--retry-errors"], 0)
        .stdout_contains("✓ PASS          many/c0  context 0/0  answer 1 of 1 (asked)\n")
        .stdout_contains("✓ CARRIED PASS  many/c1  context 0/0  answer 1 of 1 (asked), from b3:")
        .stdout_contains("✗ CARRIED FAIL  many/c2")
        .stdout_contains("2 passed, 1 failed, 0 errored; 2 carried, 1 call, ");
    // Nothing is left to ask.
    run(&["--retry-errors"], 0).stdout_contains("3 carried, 0 calls, ");
}

#[test]
fn failing_calls_change_no_rate_of_the_others() {
    let tickets: Vec<String> = (0..40)
        .map(|number| {
            format!(
                "ticket-{number}-{}",
                if number % 10 < 3 { "down" } else { "up" }
            )
        })
        .collect();
    let play = |fails: bool| {
        move |_: usize, request: &str, connection: &mut std::net::TcpStream| {
            if fails && request.contains("-down") {
                return say(
                    connection,
                    &response(
                        "503 Service Unavailable",
                        JSON,
                        r#"{"error":{"message":"overloaded"}}"#,
                    ),
                );
            }
            let is_other = ["ticket-4-", "ticket-14-", "ticket-25-"]
                .iter()
                .any(|one| request.contains(one));
            say(
                connection,
                &response(
                    "200 OK",
                    JSON,
                    &completion(if is_other { "access" } else { "billing" }),
                ),
            );
        }
    };
    let (sound, failing) = (Server::new(play(false)), Server::new(play(true)));
    let whole = asked(&suite(&sound, &tickets), &["eval", "--record", "--json"])
        .exits_with(1)
        .json();
    let run = asked(&suite(&failing, &tickets), &["eval", "--record", "--json"]).exits_with(3);
    let card = run.json();
    let rest: Vec<f64> = (0_u32..40)
        .filter(|number| number % 10 >= 3)
        .map(|number| {
            case(&whole, &format!("/c{number}"))["rate"]["value"]
                .as_f64()
                .unwrap()
        })
        .collect();
    let summary = &card["summary"];
    assert_eq!(
        summary["pass_rate"],
        json!(rest.iter().sum::<f64>() / f64::from(u32::try_from(rest.len()).unwrap()))
    );
    assert_eq!(
        (
            &summary["passed"],
            &summary["failed"],
            &summary["errored"],
            &summary["answered"]
        ),
        (&json!(25), &json!(3), &json!(12), &json!(28))
    );
    // Each is asked three times.
    assert_eq!(
        (&summary["calls"], &summary["failed_calls"]),
        (&json!(28 + 36), &json!({"refused": 36}))
    );
    assert_eq!(failing.requests().len(), 64);
    assert_eq!(case(&card, "/c1")["failed_calls"], json!({"refused": 3}));
    for number in (0..40).filter(|number| number % 10 >= 3) {
        let id = format!("/c{number}");
        assert_eq!(
            case(&card, &id)["verdict"],
            case(&whole, &id)["verdict"],
            "{id}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_provider_is_distinguished() {
    let tickets = ["hangs", "half", "limits", "lies", "sound", "strange"].map(str::to_owned);
    let times: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let server = Server::new(move |_, request, connection| {
        let ticket = ["hangs", "half", "limits", "lies", "strange"]
            .into_iter()
            .find(|one| request.contains(one))
            .unwrap_or("sound");
        let time = {
            let mut times = times.lock().unwrap();
            *times
                .entry(ticket.to_owned())
                .and_modify(|time| *time += 1)
                .or_insert(1)
        };
        let whole = response("200 OK", JSON, &completion("billing"));
        match ticket {
            "hangs" => hang(connection),
            "half" => say(connection, &whole[..whole.len() - 30]),
            "limits" if time < 4 => say(
                connection,
                &response("429 Too Many Requests", "retry-after: 1\r\n", "{}"),
            ),
            "lies" => say(connection, &response("200 OK", JSON, LIE)),
            "strange" => say(connection, &response("200 OK", JSON, "<html>")),
            _ => say(connection, &whole),
        }
    });
    let project = suite(&server, &tickets);
    let run = asked(
        &project,
        &["eval", "--answers", "live", "--out", "card.json"],
    )
    .exits_with(3);
    let card: Value = serde_json::from_str(&project.read_file("card.json")).unwrap();
    let of = |id: &str| {
        (
            case(&card, id)["verdict"].as_str().unwrap().to_owned(),
            case(&card, id)["failed_calls"].clone(),
        )
    };
    assert_eq!(of("/c0"), ("error".to_owned(), json!({"time_limit": 3})));
    assert_eq!(of("/c1"), ("error".to_owned(), json!({"cut_stream": 3})));
    assert_eq!(of("/c2"), ("pass".to_owned(), json!({"rate_limited": 3})));
    assert_eq!(of("/c3"), ("pass".to_owned(), Value::Null));
    assert_eq!(of("/c4"), ("pass".to_owned(), Value::Null));
    assert_eq!(
        of("/c5"),
        ("error".to_owned(), json!({"not_understood": 1}))
    );
    assert_eq!(
        case(&card, "/c3")["trials"][0]["miscounted"],
        "more tokens were read from the cache than were sent"
    );
    assert_eq!(
        (
            &case(&card, "/c3")["trials"][0]["tokens"]["cached"],
            &case(&card, "/c4")["trials"][0]["miscounted"]
        ),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        card["summary"]["failed_calls"],
        json!({"cut_stream": 3, "not_understood": 1, "rate_limited": 3, "time_limit": 3})
    );
    let run = run
        .stdout_contains("no answer within 1 s")
        .stdout_contains("the answer ended before it was complete");
    run.stdout_contains("its provider's count of tokens is impossible")
        .stdout_contains("13 calls (10 not answered: 3 cut stream, 1 not understood, 3 rate limited, 3 time limit)");
}

/// The scorecard of a live run, without times.
fn recorded(server: &Server, tickets: &[String], jobs: &str) -> (Value, ProgramRun) {
    let project = suite(server, tickets);
    let mut card = asked(&project, &["eval", "--record", "--json", "--jobs", jobs])
        .exits_with(0)
        .json();
    for case in card["cases"].as_array_mut().unwrap() {
        case["trials"][0]["latency_ms"] = Value::Null;
    }
    (
        card,
        project.run(&["eval", "--json", "--full"]).exits_with(0),
    )
}

#[test]
fn how_many_calls_are_under_way_changes_nothing() {
    let tickets: Vec<String> = (0..30).map(|number| format!("ticket {number}")).collect();
    let server = Server::new(|number, _, connection| {
        std::thread::sleep(std::time::Duration::from_millis(number as u64 * 7 % 11));
        say(
            connection,
            &response("200 OK", JSON, &completion("billing")),
        );
    });
    let (one, many) = (
        recorded(&server, &tickets, "1"),
        recorded(&server, &tickets, "16"),
    );
    assert_eq!(one.0, many.0);
    // A recording has the times of its calls, and so have the values derived from them.
    let timeless = |run: &ProgramRun| {
        let lines = run
            .stdout
            .lines()
            .filter(|line| !line.contains("latency_ms") && !line.contains("\"key\""));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(timeless(&one.1), timeless(&many.1));
}

/// Puts a folder in the place of each file.
fn block(folder: &std::path::Path) {
    for path in std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
    {
        if path.is_dir() {
            block(&path);
        } else {
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
        }
    }
}

/// The disk is full from the first answer on: an unwritable file stands for it.
#[test]
fn no_model_is_asked_after_the_first_answer_that_cannot_be_kept() {
    let folder: std::sync::Arc<Mutex<Option<std::path::PathBuf>>> = std::sync::Arc::default();
    let place = std::sync::Arc::clone(&folder);
    let server = Server::new(move |_, _, connection| {
        if let Some(folder) = place.lock().unwrap().take() {
            block(&folder);
        }
        say(
            connection,
            &response("200 OK", JSON, &completion("billing")),
        );
    });
    let tickets: Vec<String> = (0..30).map(|number| format!("ticket-{number}-")).collect();
    let project = suite(&server, &tickets);
    *folder.lock().unwrap() = Some(project.path("scenarios/recordings"));
    let run = asked(&project, &["eval", "--record", "--jobs", "1"]);
    let run = run.stdout_contains("no model was asked, since an earlier answer could not be kept");
    assert!(run.code != Some(0), "{}", run.stdout);
    assert!(
        server.requests().len() <= 2,
        "{} calls",
        server.requests().len()
    );
}

/// Forty cases of three trials each, and a budget for twelve calls.
#[test]
fn a_budget_finishes_cases_one_by_one() {
    let server = Server::new(|_, _, connection| {
        // All callers are there before the first is answered.
        std::thread::sleep(std::time::Duration::from_millis(30));
        say(
            connection,
            &response("200 OK", JSON, &completion("billing")),
        );
    });
    let tickets: Vec<String> = (0..40).map(|number| format!("ticket-{number}-")).collect();
    let project = suite(&server, &tickets);
    project.write_file(
        "scenarios/many.yaml",
        project
            .read_file("scenarios/many.yaml")
            .replace("runs: 1, pass_threshold: 1", "runs: 3, pass_threshold: 2"),
    );
    // 1,000 tokens are sent and 100 received with each.
    let card = asked(
        &project,
        &[
            "eval",
            "--record",
            "--budget-tokens",
            "13200",
            "--jobs",
            "40",
            "--json",
        ],
    )
    .json();
    let whole = card["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["trials"].as_array().unwrap().len() == 3)
        .count();
    assert_eq!(
        (server.requests().len(), whole),
        (12, 4),
        "{}",
        card["summary"]
    );
}
