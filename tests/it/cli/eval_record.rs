//! Answers of models: requested, recorded, judged, and the rest of a run that ends early.

use super::eval_answers::{TASK, sample, says, scenario};
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A project whose recorded answer is for another request.
pub(crate) fn stale() -> Project {
    let server = upstream(["billing"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    project.write_file("templates/triage.xml", TASK.replace("Sort", "Order"));
    project
}

/// The verdict on a response with some expectations, live and replayed.
fn of_response(kind: &str, expectations: &str, response: &Value) -> [ProgramRun; 2] {
    let server = upstream(vec![response.to_string()]);
    let project = with_model(&server.address);
    project.write_file(
        "ctxc.toml",
        project
            .read_file("ctxc.toml")
            .replace("kind = \"openai\"", &format!("kind = \"{kind}\"")),
    );
    let text = "name: billing\nrole: clerk\nruns: 1\npass_threshold: 1\ncontext: {objective: sort, inputs: {ticket: my invoice}}\n";
    project.write_file(
        "scenarios/billing.yaml",
        format!("{text}expectations: [{expectations}]\n"),
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let first = asked(&project, &["eval", "--record"]);
    [first, project.run(&["eval"])]
}

#[test]
fn an_answer_that_is_cut_withheld_or_empty_is_none_to_judge() {
    let chat = |reason: &str, text: &str| json!({"choices": [{"message": says(text), "finish_reason": reason}], "usage": {"prompt_tokens": 9, "completion_tokens": 16}});
    let message = |reason: &str, text: &str| json!({"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": reason, "usage": {"input_tokens": 9, "output_tokens": 16}});
    let candidate = |reason: &str, text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": reason}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 16}});
    let responses = |reason: &str, text: &str| {
        json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "usage": {"input_tokens": 9, "output_tokens": 16},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]})
    };
    let ollama = |reason: &str, text: &str| json!({"message": says(text), "done": true, "done_reason": reason, "prompt_eval_count": 9, "eval_count": 16});
    let cut = "found one that was cut at 16 tokens";
    let withheld = "found one that its provider withheld, or that the model refused to give";
    let empty = "found no text and no call of a tool";
    for (kind, response, found) in [
        ("openai", chat("length", "bil"), cut),
        ("openai", chat("model_length", "bil"), cut),
        ("openai", chat("content_filter", "bil"), withheld),
        (
            "openai",
            json!({"choices": [{"message": {"role": "assistant", "content": null, "refusal": "no"}, "finish_reason": "stop"}]}),
            withheld,
        ),
        ("openai", chat("stop", " "), empty),
        (
            "openai-responses",
            responses("max_output_tokens", "bil"),
            cut,
        ),
        (
            "openai-responses",
            responses("content_filter", "bil"),
            withheld,
        ),
        ("anthropic", message("max_tokens", "bil"), cut),
        (
            "anthropic",
            message("model_context_window_exceeded", "bil"),
            cut,
        ),
        ("anthropic", message("refusal", "bil"), withheld),
        ("anthropic", message("end_turn", ""), empty),
        ("gemini", candidate("MAX_TOKENS", "bil"), cut),
        ("gemini", candidate("SAFETY", "bil"), withheld),
        (
            "gemini",
            candidate("IMAGE_PROHIBITED_CONTENT", "bil"),
            withheld,
        ),
        (
            "gemini",
            json!({"promptFeedback": {"blockReason": "SAFETY"}}),
            withheld,
        ),
        ("ollama", ollama("length", "bil"), cut),
    ] {
        for run in of_response(kind, "{absent: [access]}, {contains: [access]}", &response) {
            assert_eq!(run.code, Some(1), "{kind} {response} {}", run.stdout);
            assert_eq!(run.stdout.matches("expected").count(), 1, "{}", run.stdout);
            run.stdout_contains(&format!("expected a whole answer, {found}"));
        }
    }
    // An expected refusal is an answer, and the text beside it is judged.
    let refused = message("refusal", "I may not say that.");
    for run in of_response(
        "anthropic",
        "{refuses: true}, {contains: [may not]}",
        &refused,
    ) {
        run.exits_with(0).stdout_contains("PASS");
    }
    for run in of_response(
        "anthropic",
        "{refuses: true}, {contains: [invoice]}",
        &refused,
    ) {
        run.exits_with(1)
            .stdout_contains("expected /invoice/, found it nowhere in “I may not say that.”")
            .output_lacks("a whole answer");
    }
    for run in of_response("anthropic", "{refuses: false}", &refused) {
        run.exits_with(1)
            .stdout_contains("expected no refusal, found one: “I may not say that.”");
    }
    for run in of_response(
        "anthropic",
        "{refuses: true}",
        &message("end_turn", "It is paid."),
    ) {
        run.exits_with(1)
            .stdout_contains("expected a refusal, found an answer: “It is paid.”");
    }
    // Without an expectation on the text, nothing is missing.
    for expectations in [
        "{max_tokens: 30}",
        "{contains: [bil], gate: false}, {max_tokens: 30}",
    ] {
        for run in of_response("openai", expectations, &chat("length", "bil")) {
            run.exits_with(0).stdout_contains("PASS");
        }
    }
}

/// A server on loopback that answers each request in turn, and the requests it received.
pub(crate) struct Upstream {
    pub(crate) address: String,
    pub(crate) asked: std::sync::mpsc::Receiver<String>,
}

pub(crate) fn upstream(answers: Vec<String>) -> Upstream {
    let count = answers.len();
    let mut answers = answers.into_iter();
    serve(count, move |_| answers.next().unwrap())
}

/// A server on loopback that answers so many requests, each by its content.
pub(crate) fn serve(
    count: usize,
    mut answer: impl FnMut(&str) -> String + Send + 'static,
) -> Upstream {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for _ in 0..count {
            let Ok((mut stream, _)) = listener.accept() else {
                return;
            };
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.trim().parse().unwrap();
                }
                head += &line;
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let request = head + std::str::from_utf8(&body).unwrap();
            let answer = answer(&request);
            sender.send(request).unwrap();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                answer.len()
            );
            stream.write_all((head + &answer).as_bytes()).unwrap();
        }
    });
    Upstream { address, asked }
}

pub(crate) fn completion(text: &str) -> String {
    json!({"choices": [{"message": says(text), "finish_reason": "stop"}], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}).to_string()
}

pub(super) const KEY: &str = "house-key-0123456789";

pub(crate) fn asked(project: &Project, args: &[&str]) -> ProgramRun {
    ProgramRun::from(
        project
            .command(args)
            .env("HOUSE_KEY", KEY)
            .output()
            .unwrap(),
    )
}

/// A project with a role whose model is behind an address.
pub(crate) fn with_model(address: &str) -> Project {
    let config = format!(
        "[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n[models.small]\nid = \"house-1\"\nprovider = \"house\"\ntier = \"economy\"\n\
         context_window = 8000\nusd_per_million = {{ input = 1.0, output = 10.0 }}\n[providers.house]\nkind = \"openai\"\nbase_url = \"{address}\"\n\
         api_key_env = \"HOUSE_KEY\"\n"
    );
    sample("").with_file("ctxc.toml", config).with_file(
        "scenarios/billing.yaml",
        scenario("").replace("task: triage", "role: clerk"),
    )
}

#[test]
fn what_models_answer_is_recorded_and_replayed() {
    let answers = [
        "billing, says a.person@example.org",
        "access",
        "billing, by house-key-0123456789",
    ];
    let server = upstream(answers.map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["eval", "--record"])
        .exits_with(2)
        .stderr_contains("asking a model is not permitted in this project")
        .stderr_contains("`ctxc trust`");
    assert!(server.asked.try_recv().is_err(), "nobody was asked");
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let run = asked(&project, &["eval", "--record"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 3 (asked)");
    run.stdout_contains("3 calls, US$ 0.006");
    let sent: Vec<String> = server.asked.iter().take(3).collect();
    assert!(
        sent[0]
            .to_lowercase()
            .contains("authorization: bearer house-key-0123456789"),
        "{}",
        sent[0]
    );
    assert_eq!(sent[0], sent[2]);
    let kept = project.read_file("scenarios/recordings/billing.jsonl");
    assert_eq!(kept.lines().count(), 3);
    assert!(
        !kept.contains(KEY) && !kept.contains("a.person") && kept.contains("billing, says ⟦email:"),
        "{kept}"
    );
    let first: Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["answered_by"], &first["model"], &first["endpoint"]),
        (
            &json!("upstream"),
            &json!("house-1"),
            &json!("/chat/completions")
        )
    );
    assert_eq!(
        first["redacted"][0]["pointer"],
        "/response/choices/0/message/content"
    );
    // From now on no server, no key and no trust is needed.
    let run = project.run(&["eval"]).exits_with(0);
    run.stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 3 (replayed)")
        .stdout_contains("0 calls, US$ 0");
    project.run(&["trust", "--revoke"]).exits_with(0);
    project.run(&["eval", "--answers", "replay"]).exits_with(0);
    // An earlier recording is gone with the first new answer.
    let config = project.read_file("ctxc.toml");
    let server = upstream(["billing", "billing", "access"].map(completion).to_vec());
    project.write_file(
        "ctxc.toml",
        with_model(&server.address).read_file("ctxc.toml"),
    );
    assert_ne!(config, project.read_file("ctxc.toml"));
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--answers", "replay-or-record"])
        .exits_with(0)
        .stdout_contains("0 calls");
    project.write_file("templates/triage.xml", TASK.replace("Sort", "Order"));
    project.run(&["eval"]).exits_with(6).stdout_contains(
        "`ctxc eval billing --record --stale --budget-usd 0.01` asks anew: 3 calls, US$ 0.006",
    );
    let card = project.run(&["eval", "--json"]).exits_with(6).json();
    assert_eq!(
        card["cases"][0]["anew"],
        json!({"calls": [3, 3], "usd": [0.006, 0.006]})
    );
    asked(&project, &["eval", "--record", "--stale"])
        .exits_with(0)
        .stdout_contains("3 calls");
    assert_eq!(
        project
            .read_file("scenarios/recordings/billing.jsonl")
            .lines()
            .count(),
        3
    );
}

#[test]
fn an_interrupted_recording_leaves_the_old_one_and_continues_later() {
    let server = upstream(["billing"].map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let (place, part) = (
        "scenarios/recordings/billing.jsonl",
        "scenarios/recordings/billing.jsonl.part",
    );
    // One call is paid for, and then the budget is used up.
    project.write_file(place, "the old one\n");
    let run = asked(&project, &["eval", "--record", "--budget-tokens", "1500"]).exits_with(3);
    run.stdout_contains("the call was not made")
        .stdout_contains("scenarios/recordings/billing.jsonl.part keeps 1 answer");
    assert_eq!(project.read_file(place), "the old one\n");
    assert_eq!(project.read_file(part).lines().count(), 1);
    std::fs::remove_file(project.path(place)).unwrap();
    project
        .run(&["eval"])
        .exits_with(7)
        .stderr_contains("holds answers of an interrupted recording");
    // The remaining answers are requested, and the whole replaces the old recording.
    let server = upstream(["access", "billing"].map(completion).to_vec());
    project.write_file(
        "ctxc.toml",
        with_model(&server.address).read_file("ctxc.toml"),
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let run = asked(&project, &["eval", "--record"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 3 (asked)")
        .stdout_contains("2 calls");
    run.stderr_contains("1 answer of an interrupted recording");
    assert!(!project.path(part).exists());
    let trials: Vec<Value> = project
        .read_file(place)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["trial"].take())
        .collect();
    let of = |number: u32| json!({"stage": "first", "number": number, "of": 3});
    assert_eq!(trials, [of(1), of(2), of(3)]);
    // A partial recording of another request is of no use.
    project.write_file(part, project.read_file(place));
    project.write_file("templates/triage.xml", TASK.replace("Sort", "Order"));
    let server = upstream(["billing", "billing", "access"].map(completion).to_vec());
    project.write_file(
        "ctxc.toml",
        with_model(&server.address).read_file("ctxc.toml"),
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"])
        .exits_with(0)
        .stdout_contains("3 calls");
    assert_eq!(project.read_file(place).lines().count(), 3);
}

#[test]
fn a_plan_estimates_the_calls_and_calls_no_model() {
    let server = upstream(["billing", "access", "billing"].map(completion).to_vec());
    let project = with_model(&server.address);
    // Without trust and without a key.
    let run = project
        .run(&["eval", "--plan"])
        .exits_with(0)
        .stdout_contains("billing: 3 calls, US$ 0.000048 to 0.12");
    let run = run
        .stdout_contains("1 scenario of 1 would be asked: 3 calls")
        .stdout_contains("how long that takes is known once all of them were recorded");
    run.stdout_contains("2 of 3: a scenario whose trials pass at this rate passes")
        .stdout_contains("  90 %: 97.2 %, 2.2\n")
        .stdout_contains("  30 %: 21.6 %, 2.4\n");
    let run = project
        .run(&["eval", "--plan", "--answers", "live", "--confirm"])
        .exits_with(0)
        .stdout_contains("billing: 2 to 13 calls");
    run.stdout_contains("2 of 3, then 7 of 10: ")
        .stdout_contains("  90 %: 100.0 %, 2.4\n")
        .stdout_contains("  30 %: 22.4 %");
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    let run = project
        .run(&["eval", "--plan", "--runs", "5", "--pass", "4"])
        .exits_with(0)
        .stdout_contains("billing: 5 calls, US$ 0.01\n");
    run.stdout_contains("by the recorded times")
        .stdout_contains("4 of 5: ");
    project
        .run(&["eval", "--plan", "--record", "--stale"])
        .exits_with(0)
        .stdout_contains("0 scenarios of 1 would be asked: 0 calls");
    let plan = project
        .run(&["eval", "--plan", "--runs", "5", "--pass", "4", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&plan["cases"][0]["asks"]["calls"], &plan["total"]["usd"]),
        (&json!([5, 5]), &json!([0.01, 0.01]))
    );
    assert_eq!(
        (
            &plan["rules"][0]["rule"],
            &plan["rules"][0]["rates"][1]["percent"]
        ),
        (&"4 of 5".into(), &90.into())
    );
    project
        .run(&["eval", "--plan", "--format", "junit"])
        .exits_with(2)
        .stderr_contains("--plan list no verdicts");
    project.run(&["eval", "--plan", "--accept"]).exits_with(2);
}

#[test]
fn a_case_that_fails_is_tried_in_a_second_stage_where_that_is_asked_for() {
    let good = |count: usize| vec!["billing"; count];
    let answers = [
        vec!["access"; 2],
        good(7),
        vec!["access"; 3],
        good(8),
        vec!["access"; 2],
    ]
    .concat();
    let server = upstream(answers.into_iter().map(completion).collect());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--answers", "live", "--confirm"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 7 of 7 (asked, second stage)");
    // A complete recording serves every rule of trials.
    asked(&project, &["eval", "--record", "--confirm"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 8 of 10 (asked, second stage)")
        .stdout_contains("13 calls");
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 7 of 7 (replayed, second stage)");
    let card = project
        .run(&["eval", "--json", "--full"])
        .exits_with(0)
        .json();
    let case = &card["cases"][0];
    assert_eq!(
        case["rule"],
        json!({"runs": 10, "pass": 7, "stage": "confirm", "recorded": null})
    );
    let of = |stage: &str| {
        case["trials"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|trial| trial["stage"] == stage)
            .count()
    };
    assert_eq!((of("first"), of("confirm")), (3, 10));
    // A final failure has no second trial.
    project.write_file(
        "scenarios/billing.yaml",
        project.read_file("scenarios/billing.yaml") + "rule: {runs: 3, pass: 2, strict: true}\n",
    );
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("✗ FAIL")
        .stdout_contains("answer 0 of 2 (replayed)");
}

#[test]
fn a_trial_rule_can_be_set_for_all_and_a_run_without_models_takes_no_model_flags() {
    let project = sample("answers: [{reply: billing}]\n");
    project
        .run(&["eval", "--runs", "5", "--pass", "4"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 4 of 4 (scripted)");
    project
        .run(&["eval", "--runs", "2", "--pass", "3"])
        .exits_with(2)
        .stderr_contains("--pass 3 of --runs 2 can never pass");
    project
        .run(&["eval", "--runs", "2"])
        .exits_with(2)
        .stderr_contains("--pass");
    project
        .run(&["eval", "--stale"])
        .exits_with(2)
        .stderr_contains("--record");
    project
        .run(&["eval", "--confirm"])
        .exits_with(2)
        .stderr_contains("--confirm tries again, and no model is asked here");
    project.run(&["eval", "--jobs", "4"]).exits_with(0);
    project
        .run(&["eval", "--jobs", "0", "--record"])
        .exits_with(2);
}

#[test]
fn no_model_is_called_if_its_answer_could_not_be_stored() {
    let server = upstream(["billing"].map(completion).to_vec());
    let project = with_model(&server.address).with_file("scenarios/recordings/billing.jsonl/x", "");
    asked(&project, &["trust", "--yes"]).exits_with(0);
    let run = asked(&project, &["eval", "--record"]).exits_with(3);
    run.stdout_contains("no model was asked, since its answer cannot be kept: scenarios/recordings/billing.jsonl is a folder");
    std::fs::remove_dir_all(project.path("scenarios/recordings")).unwrap();
    project.write_file("scenarios/recordings", "a file");
    asked(&project, &["eval", "--record"])
        .exits_with(3)
        .stdout_contains("no model was asked");
    std::fs::remove_file(project.path("scenarios/recordings")).unwrap();
    // A call without an answer leaves nothing behind.
    project
        .run(&["eval", "--record"])
        .exits_with(3)
        .stdout_contains("`HOUSE_KEY`");
    assert!(!project.path("scenarios/recordings").exists());
    assert!(server.asked.try_recv().is_err(), "nobody was asked");
}

#[test]
fn what_is_kept_is_what_is_judged() {
    let server = upstream(["ask a.person@example.org"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    let text = project
        .read_file("scenarios/billing.yaml")
        .replace("contains: [billing]", "contains: [a.person]");
    project.write_file("scenarios/billing.yaml", text);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"])
        .exits_with(1)
        .stdout_contains("found it nowhere in “ask ⟦email:");
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("found it nowhere in “ask ⟦email:");
}

#[test]
fn live_answers_inform_until_the_project_sets_how_they_gate() {
    let server = upstream(["access", "access"].map(completion).to_vec());
    let project = with_model(&server.address);
    let hash = project
        .run(&["trust", "--show", "--json"])
        .exits_with(0)
        .json()["hash"]
        .as_str()
        .unwrap()
        .to_owned();
    let other = format!("b3:{}", "0".repeat(64));
    asked(
        &project,
        &["eval", "--mode", "real", "--trust-hash", &other],
    )
    .exits_with(2)
    .stderr_contains("are not those of --trust-hash (now 0 commands, 1 provider)");
    asked(
        &project,
        &["eval", "--mode", "real", "--trust-hash", &other],
    )
    .exits_with(2)
    .stderr_contains(&format!("gh variable set CTXC_TRUST_HASH --body {hash}"));
    // While a change of permissions is under review, the pipeline permits both.
    let both = format!("{other},{hash}");
    let run = asked(&project, &["eval", "--mode", "real", "--trust-hash", &both])
        .exits_with(0)
        .stderr_contains("this run only informs");
    run.stdout_contains("✗ FAIL")
        .stdout_contains("answer 0 of 2 (asked)");
    assert!(
        !project.path("scenarios/recordings").exists(),
        "nothing is kept of a live run"
    );
}

#[test]
fn a_run_without_models_takes_no_budget_and_models_without_a_key_are_reported() {
    let project = with_model("http://127.0.0.1:1/v1");
    project
        .run(&["eval", "--budget-usd", "1"])
        .exits_with(2)
        .stderr_contains("a budget is for calls of models, and none is asked here");
    project
        .run(&["eval", "--record", "--accept"])
        .exits_with(2)
        .stderr_contains("--accept, --mutate and --coverage ask no model");
    project.run(&["trust", "--yes"]).exits_with(0);
    // An address without encryption is reported before any call.
    let config = project.read_file("ctxc.toml");
    project.write_file("ctxc.toml", config.replace("127.0.0.1", "models.invalid"));
    project.run(&["trust", "--yes"]).exits_with(0);
    project
        .run(&["eval", "--record"])
        .exits_with(3)
        .stderr_contains("`house` is asked at http://models.invalid:1/v1, which is not encrypted");
    project.write_file("ctxc.toml", config);
    project.run(&["trust", "--yes"]).exits_with(0);
    // Without its key no call is made.
    project
        .run(&["eval", "--record"])
        .exits_with(3)
        .stdout_contains("`HOUSE_KEY`")
        .stdout_contains("ERROR");
    asked(&project, &["eval", "--record", "--budget-tokens", "1"])
        .exits_with(3)
        .stdout_contains("the call was not made: the budget of 1 tokens");
    // A task alone leads to no model of the project; a context that fails is not paid for.
    let task = scenario("").replace("name: billing", "name: alone");
    project.write_file("scenarios/alone.yaml", task);
    project
        .run(&["eval", "alone", "--record"])
        .exits_with(3)
        .stdout_contains("no model is known for this agent, so none can be asked");
    project.write_file(
        "scenarios/billing.yaml",
        scenario("expect_context:\n  - contains: {patterns: [nowhere]}\n")
            .replace("task: triage", "role: clerk"),
    );
    project
        .run(&["eval", "billing", "--record"])
        .exits_with(1)
        .stdout_contains("0 calls");
    project.write_file(
        "scenarios/alone.yaml",
        "name: alone\ntask: triage\ncontext:\n  objective: o\nexpect_context:\n  - nothing_cut: true\n",
    );
    project
        .run(&["eval", "alone", "--record"])
        .stderr_contains("1 scenario without `expectations`: no model was asked");
}
