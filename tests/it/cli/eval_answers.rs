//! Answers of scenarios: recorded, stale, scripted, and conversations with tools.

use super::project::{Project, Run};
use crate::record::file::call;
use ctxc::internals::record::recording::{AnsweredBy, Recording};
use ctxc::internals::record::{json_text, key};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}</description>\n  <parameters>\n    \
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";

fn scenario(more: &str) -> String {
    format!(
        "name: billing\ntask: triage\ncontext: {{objective: sort, inputs: {{ticket: my invoice}}}}\n\
         expectations:\n  - contains: [billing]\n{more}"
    )
}

fn sample(more: &str) -> Project {
    Project::new().file("templates/triage.xml", TASK).file("scenarios/billing.yaml", scenario(more))
}

/// The request of the scenario as `render` shows it.
fn body(project: &Project) -> String {
    let args = ["render", "triage", "--as", "openai-chat", "-i", "ticket=my invoice"];
    json_text::compact(&project.run(&args).code(0).stdout)
}

/// A call with this request and this answer.
fn answered(id: &str, body: &str, message: &Value) -> Recording {
    let response = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    Recording {
        answered_by: AnsweredBy::Upstream,
        request: json_text::raw(body),
        response: Some(json_text::raw(&response.to_string())),
        key: key::key("POST", "/chat/completions", body).to_string(),
        ..call(id)
    }
}

fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn record(project: &Project, calls: &[Recording]) {
    project.write("scenarios/recordings/billing.jsonl", calls.iter().map(Recording::line).collect::<String>());
}

#[test]
fn recorded_answers_are_judged_each_in_its_turn() {
    let project = sample("");
    let body = body(&project);
    let of = |texts: &[&str]| {
        let calls = texts.iter().enumerate().map(|(at, text)| answered(&at.to_string(), &body, &says(text)));
        record(&project, &calls.collect::<Vec<_>>());
        project.run(&["eval"])
    };
    // Two of three, and no more trials than it takes.
    of(&["billing", "access", "billing"]).code(0).says("answer 2 of 3 (replayed)  PASS");
    of(&["billing", "billing", "access"]).code(0).says("answer 2 of 2 (replayed)  PASS");
    let run = of(&["access", "billing", "access"]).code(1).says("answer 1 of 3 (replayed)  FAIL");
    run.says("expected /billing/, found it nowhere in “access”").says("0 calls, US$ 0");
    // There are no more trials than answers, and no more have to pass.
    of(&["billing"]).code(0).says("answer 1 of 1 (replayed)  PASS");
    let card = project.run(&["eval", "--json"]).code(0).json();
    assert_eq!(card["cases"][0]["rule"], json!({"runs": 1, "pass": 1}));
    let trial = &card["cases"][0]["trials"][0];
    assert_eq!(
        (&trial["provider"], &trial["tokens"]["input"], &trial["tokens"]["output"]),
        (&json!("recording"), &json!(9), &json!(2))
    );
    project.run(&["eval", "--answers", "scripted"]).code(7).says("answer not recorded  INCONCLUSIVE");
}

#[test]
fn answers_for_another_request_are_stale_and_what_moved_is_told() {
    let project = sample("answers: [{reply: billing}]\n");
    let body = body(&project);
    record(&project, &[answered("1", &body, &says("billing"))]);
    project.run(&["eval"]).code(0).says("(replayed)  PASS");
    project.write("templates/triage.xml", TASK.replace("Sort the ticket", "Sort this ticket"));
    let run =
        project.run(&["eval"]).code(6).says("answer stale  STALE").says("1 scenario: 0 passed, 0 failed, 1 stale, 0 errored");
    run.says("scenarios/billing.yaml:1: its answers were recorded for another request; since then:")
        .says("“Sort this ticket: ")
        .says("in place of “Sort the ticket: ");
    let card = project.run(&["eval", "--json"]).code(6).json();
    assert_eq!((&card["cases"][0]["verdict"], &card["summary"]["stale"]), (&json!("stale"), &json!(1)));
    // A script is asked for by name alone: nothing stale passes by way of it.
    project.run(&["eval", "--answers", "scripted"]).code(0).says("answer 2 of 2 (scripted)");
    project.run(&["eval", "--answers", "replay"]).code(6);
    project.write("ctxc.toml", "[eval]\nstale = \"warn\"\n");
    project.run(&["eval"]).code(0).says("STALE");
    // What fails in the context comes first.
    project.write("scenarios/billing.yaml", scenario("expect_context:\n  - contains: {patterns: [nowhere]}\n"));
    project.run(&["eval"]).code(1).says("answer stale  FAIL");
    // An answer to a changed context is no answer at all: nothing was recorded that was answered.
    record(
        &project,
        &[Recording { response: None, status: None, error: Some("timeout".to_owned()), ..answered("1", &body, &says("x")) }],
    );
    project.write("scenarios/billing.yaml", scenario(""));
    project.run(&["eval", "--answers", "replay"]).code(7).says("answer not recorded  INCONCLUSIVE");
}

#[test]
fn a_recording_that_cannot_be_read_is_told_and_passes_nothing() {
    let project = sample("");
    let body = body(&project);
    let line = answered("1", &body, &says("billing")).line();
    let of = |text: &str| {
        project.write("scenarios/recordings/billing.jsonl", text);
        project.run(&["eval"])
    };
    let run = of(&line.replace("ctxc/request/1", "ctxc/request/7")).code(3).says("ERROR");
    run.says("the recorded answers in scenarios/recordings/billing.jsonl cannot be read: line 1: it says `ctxc/request/7`, which a newer ctxc wrote");
    of("{}\n").code(3).says("line 1: it is no recorded call");
    of(&line.replace("\"choices\"", "\"chances\"")).code(3).says("the recorded call 1 cannot be read");
    of(&line.replace("openai-chat", "morse")).code(3).says("has a form that is not known: `morse`");
    // What a killed program left is no whole set of trials.
    of(&format!("{line}{}", &line[..50])).code(3).says("its last line is cut, as a run leaves it that was killed");
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("a.jsonl"), &line).unwrap();
        std::fs::remove_file(project.path("scenarios/recordings/billing.jsonl")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("a.jsonl"), project.path("scenarios/recordings/billing.jsonl")).unwrap();
        project.run(&["eval"]).code(3).says("it lies outside the project's folder");
    }
}

#[test]
fn no_script_passes_in_the_place_of_a_damaged_recording() {
    let project = sample("answers: [{reply: billing}]\n");
    let line = answered("1", &body(&project), &says("billing")).line();
    let refused = line.replace("\"status\":200", "\"status\":500").replace("\"truncated\":false", "\"truncated\":true");
    let (unanswered, cut) = ("no call in it was answered; record it anew, or remove the file", "its last line is cut");
    let half = line.get(..line.len() / 2).unwrap();
    for (text, why) in
        [("", unanswered), ("\n", unanswered), (&refused, unanswered), (half, cut), (&format!("{line}{half}"), cut)]
    {
        project.write("scenarios/recordings/billing.jsonl", text);
        project.run(&["eval"]).code(3).says(why);
    }
    std::fs::remove_file(project.path("scenarios/recordings/billing.jsonl")).unwrap();
    project.run(&["eval"]).code(0).says("(scripted)  PASS");
}

#[test]
fn a_changed_recording_is_judged_again() {
    let project = sample("");
    let body = body(&project);
    record(&project, &[answered("1", &body, &says("billing"))]);
    project.run(&["eval", "--out", "card.json"]).code(0);
    project.run(&["eval", "--since", "card.json"]).code(0).says("CARRIED");
    record(&project, &[answered("1", &body, &says("access"))]);
    project.run(&["eval", "--since", "card.json"]).code(1).says("FAIL");
}

/// A suite whose agent asks a tool before it answers.
fn with_tools(tools: &str, answers: &str) -> Project {
    let suite = format!(
        "id: desk\nfixtures:\n  tools: {tools}\ncases:\n  - id: one\n    task: triage\n    context: {{objective: sort, inputs: {{ticket: my invoice}}}}\n    \
         expectations:\n      - contains: [billing]\n      - calls_tool: lookup\n    answers:\n{answers}"
    );
    Project::new().file("templates/triage.xml", TASK).file("scenarios/desk.yaml", suite)
}

#[test]
fn tools_of_the_fixtures_answer_until_the_agent_does() {
    let calls = "      - when: {lacks: [open invoice]}\n        tool_calls: [{name: lookup, arguments: {id: 7}}]\n";
    let answers = format!("{calls}      - {{reply: billing}}\n");
    let project = with_tools("{lookup: {state: open invoice}}", &answers);
    project.run(&["eval"]).code(0).says("desk/one  context 0/0  answer 2 of 2 (scripted)  PASS");
    let card = project.run(&["eval", "--json"]).code(0).json();
    // Tokens are those of both requests.
    let trial = &card["cases"][0]["trials"][0];
    assert!(trial["tokens"]["input"].as_u64() > card["cases"][0]["tokens"]["total"].as_u64().map(|tokens| 2 * tokens), "{trial}");
    // What the tool gives back is a part of the case.
    project.run(&["eval", "--out", "card.json"]).code(0);
    let other = with_tools("{lookup: {state: closed}}", &answers);
    other.write("card.json", project.read("card.json"));
    let run = other.run(&["eval", "--since", "card.json"]).code(3);
    run.says("the agent was still calling tools after 16 requests");
    // A tool that the fixtures say nothing of ends the conversation.
    let run = with_tools("{other: 1}", &answers).run(&["eval"]).code(1);
    run.says("expected /billing/, found it nowhere in “”");
}

#[test]
fn recorded_conversations_go_on_as_they_did() {
    let project = with_tools("{lookup: open}", "      - {reply: nobody}\n");
    let tool = json!({"id": "call_9", "type": "function", "function": {"name": "lookup", "arguments": "{\"id\":7}"}});
    let first = body(&project);
    let path = "scenarios/recordings/desk-one-";
    let calls = |result: &str| {
        let turns = format!(
            ",{{\"role\":\"assistant\",\"tool_calls\":[{{\"id\":\"call_9\",\"type\":\"function\",\"function\":{{\"name\":\"lookup\",\
             \"arguments\":\"{{\\\"id\\\":7}}\"}}}}]}},{{\"role\":\"tool\",\"tool_call_id\":\"call_9\",\"content\":\"{result}\"}}]}}"
        );
        let second = first.strip_suffix("]}").unwrap().to_owned() + &turns;
        let asks = answered("1", &first, &json!({"role": "assistant", "content": null, "tool_calls": [tool]}));
        [asks, answered("2", &second, &says("billing"))].map(|call| call.line()).concat()
    };
    let name = ctxc::internals::scenario::paths::recording("scenarios/desk.yaml", "desk/one");
    assert!(name.starts_with(path), "{name}");
    project.write(&name, calls("open"));
    let run: Run = project.run(&["eval"]).code(0);
    run.says("answer 1 of 1 (replayed)  PASS");
    project.write(&name, calls("shut"));
    project.run(&["eval"]).code(6).says("“open” in place of “shut”");
}

/// A server on loopback that answers each request in turn, and what it was sent.
struct Upstream {
    address: String,
    asked: std::sync::mpsc::Receiver<String>,
}

fn upstream(answers: Vec<String>) -> Upstream {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for answer in answers {
            let Ok((mut stream, _)) = listener.accept() else { return };
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
            sender.send(head + std::str::from_utf8(&body).unwrap()).unwrap();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                answer.len()
            );
            stream.write_all((head + &answer).as_bytes()).unwrap();
        }
    });
    Upstream { address, asked }
}

fn completion(text: &str) -> String {
    json!({"choices": [{"message": says(text), "finish_reason": "stop"}], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}).to_string()
}

const KEY: &str = "house-key-0123456789";

fn asked(project: &Project, args: &[&str]) -> Run {
    Run::from(project.command(args).env("HOUSE_KEY", KEY).output().unwrap())
}

/// A project with a role whose model is behind an address.
fn with_model(address: &str) -> Project {
    let config = format!(
        "[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n[models.small]\nid = \"house-1\"\nprovider = \"house\"\ntier = \"economy\"\n\
         context_window = 8000\nusd_per_million = {{ input = 1.0, output = 10.0 }}\n[providers.house]\nkind = \"openai\"\nbase_url = \"{address}\"\n\
         api_key_env = \"HOUSE_KEY\"\n"
    );
    sample("").file("ctxc.toml", config).file("scenarios/billing.yaml", scenario("").replace("task: triage", "role: clerk"))
}

#[test]
fn what_models_answer_is_recorded_and_replayed() {
    let answers = ["billing, says a.person@example.org", "access", "billing, by house-key-0123456789"];
    let server = upstream(answers.map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["eval", "--record"]).code(2).warns("asking a model is not permitted in this project").warns("`ctxc trust`");
    assert!(server.asked.try_recv().is_err(), "nobody was asked");
    asked(&project, &["trust", "--yes"]).code(0);
    let run = asked(&project, &["eval", "--record"]).code(0).says("answer 2 of 3 (asked)  PASS");
    run.says("3 calls, US$ 0.006");
    let sent: Vec<String> = server.asked.iter().take(3).collect();
    assert!(sent[0].to_lowercase().contains("authorization: bearer house-key-0123456789"), "{}", sent[0]);
    assert_eq!(sent[0], sent[2]);
    let kept = project.read("scenarios/recordings/billing.jsonl");
    assert_eq!(kept.lines().count(), 3);
    assert!(!kept.contains(KEY) && !kept.contains("a.person") && kept.contains("billing, says ⟦email:"), "{kept}");
    let first: Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["answered_by"], &first["model"], &first["endpoint"]),
        (&json!("upstream"), &json!("house-1"), &json!("/chat/completions"))
    );
    assert_eq!(first["redacted"][0]["pointer"], "/response/choices/0/message/content");
    // From now on nobody is needed: no server, no key, no trust.
    let run = project.run(&["eval"]).code(0);
    run.says("answer 2 of 3 (replayed)  PASS").says("0 calls, US$ 0");
    project.run(&["trust", "--revoke"]).code(0);
    project.run(&["eval", "--answers", "replay"]).code(0);
    // An earlier recording is gone with the first new answer.
    let config = project.read("ctxc.toml");
    let server = upstream(["billing", "billing", "access"].map(completion).to_vec());
    project.write("ctxc.toml", with_model(&server.address).read("ctxc.toml"));
    assert_ne!(config, project.read("ctxc.toml"));
    asked(&project, &["trust", "--yes"]).code(0);
    asked(&project, &["eval", "--answers", "replay-or-record"]).code(0).says("0 calls");
    project.write("templates/triage.xml", TASK.replace("Sort", "Order"));
    project.run(&["eval"]).code(6).says("`ctxc eval billing --record` asks anew: 3 calls or more of");
    asked(&project, &["eval", "--answers", "replay-or-record"]).code(0).says("2 calls");
    assert_eq!(project.read("scenarios/recordings/billing.jsonl").lines().count(), 2);
}

#[test]
fn what_is_kept_is_what_is_judged() {
    let server = upstream(["ask a.person@example.org"; 3].map(completion).to_vec());
    let project = with_model(&server.address);
    let text = project.read("scenarios/billing.yaml").replace("contains: [billing]", "contains: [a.person]");
    project.write("scenarios/billing.yaml", text);
    asked(&project, &["trust", "--yes"]).code(0);
    asked(&project, &["eval", "--record"]).code(1).says("found it nowhere in “ask ⟦email:");
    project.run(&["eval"]).code(1).says("found it nowhere in “ask ⟦email:");
}

#[test]
fn live_answers_inform_until_the_project_says_how_they_gate() {
    let server = upstream(["access", "access"].map(completion).to_vec());
    let project = with_model(&server.address);
    let hash = project.run(&["trust", "--show", "--json"]).code(0).json()["hash"].as_str().unwrap().to_owned();
    let other = format!("b3:{}", "0".repeat(64));
    asked(&project, &["eval", "--mode", "real", "--trust-hash", &other]).code(2).warns("--trust-hash is of another project file");
    let run = asked(&project, &["eval", "--mode", "real", "--trust-hash", &hash]).code(0).warns("this run only informs");
    run.says("answer 0 of 2 (asked)  FAIL");
    assert!(!project.path("scenarios/recordings").exists(), "nothing is kept of a live run");
}

#[test]
fn what_asks_nobody_takes_no_budget_and_who_cannot_be_asked_is_told() {
    let project = with_model("http://127.0.0.1:1/v1");
    project.run(&["eval", "--budget-usd", "1"]).code(2).warns("a budget is for calls of models, and none is asked here");
    project.run(&["eval", "--record", "--accept"]).code(2).warns("--accept, --mutate and --coverage ask no model");
    project.run(&["trust", "--yes"]).code(0);
    // Without its key nobody is asked.
    project.run(&["eval", "--record"]).code(3).says("`HOUSE_KEY`").says("ERROR");
    asked(&project, &["eval", "--record", "--budget-tokens", "1"]).code(3).says("the call was not made: the budget of 1 tokens");
    // A task alone leads to no model of the project; a context that does not hold is not paid for.
    let task = scenario("").replace("name: billing", "name: alone");
    project.write("scenarios/alone.yaml", task);
    project.run(&["eval", "alone", "--record"]).code(3).says("no model of `[models]` in ctxc.toml is known for it");
    project.write(
        "scenarios/billing.yaml",
        scenario("expect_context:\n  - contains: {patterns: [nowhere]}\n").replace("task: triage", "role: clerk"),
    );
    project.run(&["eval", "billing", "--record"]).code(1).says("0 calls");
}
