//! Answers of scenarios: recorded, stale, scripted, and conversations with tools.

use super::project::{ProgramRun, Project};
use crate::record::file::call;
use ctxc::internals::record::recording::{AnsweredBy, Recording, TrialNumber, TrialStage};
use ctxc::internals::record::{json_text, recording};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

pub(super) const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}</description>\n  <parameters>\n    \
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";

pub(super) fn scenario(more: &str) -> String {
    format!(
        "name: billing\ntask: triage\ncontext: {{objective: sort, inputs: {{ticket: my invoice}}}}\n\
         expectations:\n  - contains: [billing]\n{more}"
    )
}

pub(super) fn sample(more: &str) -> Project {
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/billing.yaml", scenario(more))
}

/// The request of the scenario as `render` shows it.
fn body(project: &Project) -> String {
    let args = [
        "render",
        "triage",
        "--as",
        "openai-chat",
        "-i",
        "ticket=my invoice",
    ];
    json_text::compact_json(&project.run(&args).exits_with(0).stdout)
}

/// A call with this request and this answer.
fn answered(id: &str, body: &str, message: &Value) -> Recording {
    let response = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    Recording {
        answered_by: AnsweredBy::Upstream,
        request: json_text::to_raw_json(body),
        response: Some(json_text::to_raw_json(&response.to_string())),
        key: recording::call_key("POST", "/chat/completions", body).to_string(),
        ..call(id)
    }
}

pub(super) fn says(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn record(project: &Project, calls: &[Recording]) {
    project.write_file(
        "scenarios/recordings/billing.jsonl",
        calls.iter().map(Recording::to_line).collect::<String>(),
    );
}

/// A project with one recorded answer, whose scenario requires three.
pub(crate) fn recorded_once() -> Project {
    let project = sample("");
    record(
        &project,
        &[answered("1", &body(&project), &says("billing"))],
    );
    project
}

#[test]
fn recorded_answers_are_judged_each_in_its_turn() {
    let project = sample("");
    let body = body(&project);
    let of = |texts: &[&str]| {
        let calls = texts
            .iter()
            .enumerate()
            .map(|(at, text)| answered(&at.to_string(), &body, &says(text)));
        record(&project, &calls.collect::<Vec<_>>());
        project.run(&["eval"])
    };
    // Two of three, and no more trials than necessary.
    of(&["billing", "access", "billing"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 3 (replayed)");
    of(&["billing", "billing", "access"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 2 (replayed)");
    let run = of(&["access", "billing", "access"])
        .exits_with(1)
        .stdout_contains("✗ FAIL")
        .stdout_contains("answer 1 of 3 (replayed)");
    run.stdout_contains("expected /billing/, found it nowhere in “access”")
        .stdout_contains("0 calls, US$ 0");
    // There are no more trials than answers, and no more have to pass.
    of(&["billing"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (replayed, 1 of 3 recorded)");
    let card = project.run(&["eval", "--json"]).exits_with(0).json();
    let recorded = json!({"trials": 1, "of": 3, "cut": false});
    assert_eq!(
        card["cases"][0]["rule"],
        json!({"runs": 1, "pass": 1, "stage": "first", "recorded": recorded})
    );
    let trial = &card["cases"][0]["trials"][0];
    assert_eq!(
        (
            &trial["provider"],
            &trial["tokens"]["input"],
            &trial["tokens"]["output"]
        ),
        (&json!("recording"), &json!(9), &json!(2))
    );
    project
        .run(&["eval", "--answers", "scripted"])
        .exits_with(7)
        .stdout_contains("? INCONCLUSIVE")
        .stdout_contains("answer not recorded");
}

#[test]
fn of_long_texts_the_place_is_shown_where_they_part() {
    let project = sample("answers: [{reply: billing}]\n");
    let task = |end: &str| {
        TASK.replace(
            "Sort the ticket",
            &format!(
                "Sort the ticket by {}{end}",
                "the rules of the house, ".repeat(9)
            ),
        )
    };
    project.write_file("templates/triage.xml", task("all of them"));
    record(
        &project,
        &[answered("1", &body(&project), &says("billing"))],
    );
    project.run(&["eval"]).exits_with(0);
    project.write_file("templates/triage.xml", task("some of them"));
    let moved = "content line 3: “…rules of the house, some of them: my invoice” in place of “…rules of the house, all of them: my invoice”";
    project.run(&["eval"]).exits_with(6).stdout_contains(moved);
}

#[test]
fn answers_for_another_request_are_stale_and_what_moved_is_reported() {
    let project = sample("answers: [{reply: billing}]\n");
    let body = body(&project);
    record(&project, &[answered("1", &body, &says("billing"))]);
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("(replayed, 1 of 3 recorded)");
    project.write_file(
        "templates/triage.xml",
        TASK.replace("Sort the ticket", "Sort this ticket"),
    );
    let run = project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("~ STALE")
        .stdout_contains("answer stale")
        .stdout_contains("1 scenario: 0 passed, 0 failed, 1 stale, 0 errored");
    run.stdout_contains(
        "scenarios/billing.yaml:1: its answers were recorded for another request; since then:",
    )
    .stdout_contains("“Sort this ticket: ")
    .stdout_contains("in place of “Sort the ticket: ");
    let card = project.run(&["eval", "--json"]).exits_with(6).json();
    assert_eq!(
        (&card["cases"][0]["verdict"], &card["summary"]["stale"]),
        (&json!("stale"), &json!(1))
    );
    // A script is used only if it is named: no stale answer passes by way of it.
    project
        .run(&["eval", "--answers", "scripted"])
        .exits_with(0)
        .stdout_contains("answer 2 of 2 (scripted)");
    project.run(&["eval", "--answers", "replay"]).exits_with(6);
    project.write_file("ctxc.toml", "[eval]\nstale = \"warn\"\n");
    project
        .run(&["eval", "--junit", "out.xml"])
        .exits_with(0)
        .stdout_contains("STALE");
    // Without an error beside it, no report counts a stale answer as an error; and its message is a
    // whole sentence.
    let xml = project.read_file("out.xml");
    assert!(
        xml.contains("errors=\"0\" skipped=\"1\"") && !xml.contains("<error"),
        "{xml}"
    );
    assert!(
        xml.contains(
            "<skipped message=\"scenarios/billing.yaml:1: its answers were recorded for another request; since then: messages "
        ),
        "{xml}"
    );
    // A failure in the context comes first.
    project.write_file(
        "scenarios/billing.yaml",
        scenario("expect_context:\n  - contains: {patterns: [nowhere]}\n"),
    );
    project
        .run(&["eval", "--junit", "out.xml"])
        .exits_with(1)
        .stdout_contains("✗ FAIL")
        .stdout_contains("answer stale");
    let xml = project.read_file("out.xml");
    assert!(
        xml.contains(
            "<failure message=\"scenarios/billing.yaml:7: expected the context to contain /nowhere/"
        ),
        "{xml}"
    );
    // Without any answer no recording exists either, and nothing passes in its place.
    record(
        &project,
        &[Recording {
            response: None,
            status: None,
            error: Some("timeout".to_owned()),
            ..answered("1", &body, &says("x"))
        }],
    );
    project.write_file("scenarios/billing.yaml", scenario(""));
    project
        .run(&["eval", "--answers", "replay"])
        .exits_with(3)
        .stdout_contains("no call in it was answered; record it anew, or remove the file");
}

#[test]
fn a_recording_that_cannot_be_read_is_reported_and_passes_nothing() {
    let project = sample("");
    let body = body(&project);
    let line = answered("1", &body, &says("billing")).to_line();
    let of = |text: &str| {
        project.write_file("scenarios/recordings/billing.jsonl", text);
        project.run(&["eval"])
    };
    let run = of(&line.replace("ctxc/request/1", "ctxc/request/7"))
        .exits_with(3)
        .stdout_contains("ERROR");
    run.stdout_contains("the recorded answers in scenarios/recordings/billing.jsonl cannot be read: line 1: it says `ctxc/request/7`, which a newer ctxc wrote");
    of("{}\n")
        .exits_with(3)
        .stdout_contains("line 1: it is not a recorded call");
    of(&line.replace("\"choices\"", "\"chances\""))
        .exits_with(3)
        .stdout_contains("the recorded call 1 cannot be read");
    of(&line.replace("openai-chat", "morse"))
        .exits_with(3)
        .stdout_contains("has a form that is not known: `morse`");
    // The rest of a killed program is no complete set of trials.
    of(&format!("{line}{}", &line[..50]))
        .exits_with(3)
        .stdout_contains("its last line is incomplete, as after a killed run");
    #[cfg(unix)]
    {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("a.jsonl"), &line).unwrap();
        std::fs::remove_file(project.path("scenarios/recordings/billing.jsonl")).unwrap();
        std::os::unix::fs::symlink(
            outside.path().join("a.jsonl"),
            project.path("scenarios/recordings/billing.jsonl"),
        )
        .unwrap();
        project
            .run(&["eval"])
            .exits_with(3)
            .stdout_contains("it lies outside the project's folder");
    }
}

#[test]
fn a_recording_that_lost_trials_passes_only_by_what_is_left() {
    let project = sample("");
    let body = body(&project);
    let of = |texts: &[&str]| {
        let call = |(at, text): (usize, &&str)| {
            let number = u32::try_from(at).unwrap() + 1;
            Recording {
                trial: Some(TrialNumber {
                    stage: TrialStage::First,
                    number,
                    of: 3,
                }),
                ..answered(&at.to_string(), &body, &says(text))
            }
        };
        record(
            &project,
            &texts.iter().enumerate().map(call).collect::<Vec<_>>(),
        );
        project.run(&["eval"])
    };
    let run = of(&["billing"])
        .exits_with(7)
        .stdout_contains("? INCONCLUSIVE")
        .stdout_contains("answer 1 of 1 (replayed, 1 of 3 recorded)");
    run.stdout_contains("only 1 of 3 trials have answers")
        .stdout_contains("`ctxc eval billing --record --stale` asks anew");
    let card = project.run(&["eval", "--json"]).exits_with(7).json();
    let recorded = json!({"trials": 1, "of": 3, "cut": true});
    assert_eq!(
        card["cases"][0]["rule"],
        json!({"runs": 3, "pass": 2, "stage": "first", "recorded": recorded})
    );
    of(&["access"]).exits_with(7);
    of(&["billing", "access"])
        .exits_with(7)
        .stdout_contains("? INCONCLUSIVE")
        .stdout_contains("answer 1 of 2 (replayed, 2 of 3 recorded)");
    of(&["billing", "billing"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 2 (replayed, 2 of 3 recorded)");
    of(&["access", "access"])
        .exits_with(1)
        .stdout_contains("FAIL");
    // A copied line is no additional trial.
    of(&["billing"]);
    let line = project.read_file("scenarios/recordings/billing.jsonl");
    project.write_file("scenarios/recordings/billing.jsonl", line.repeat(3));
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("? INCONCLUSIVE")
        .stdout_contains("answer 1 of 1 (replayed, 1 of 3 recorded)");
    // Fewer trials than recorded answers: that is no loss.
    project.write_file(
        "scenarios/billing.yaml",
        scenario("runs: 1\npass_threshold: 1\n"),
    );
    of(&["billing"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (replayed)");
}

#[test]
fn what_a_person_wrote_into_a_recording_is_shown_as_a_script() {
    let project = sample("");
    let by = |answered_by| Recording {
        answered_by,
        ..answered("1", &body(&project), &says("billing"))
    };
    record(
        &project,
        &[
            by(AnsweredBy::Upstream),
            by(AnsweredBy::Script),
            by(AnsweredBy::Upstream),
        ],
    );
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("(scripted)");
    let card = project.run(&["eval", "--json"]).exits_with(0).json();
    let providers: Vec<&Value> = card["cases"][0]["trials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|trial| &trial["provider"])
        .collect();
    assert_eq!(providers, ["recording", "script"]);
}

#[test]
fn a_request_that_is_recorded_under_another_key_or_address_is_reported_so() {
    let project = sample("");
    let call = answered("1", &body(&project), &says("billing"));
    record(
        &project,
        &[Recording {
            key: "b3:1".to_owned(),
            ..call.clone()
        }],
    );
    let edited = "its `key` is not that of its `request`, which was edited or has its fields in another order; restore the line, or record it anew";
    project.run(&["eval"]).exits_with(3).stdout_contains(edited);
    let elsewhere = Recording {
        key: "b3:1".to_owned(),
        endpoint: "/models/big:ask".to_owned(),
        ..call.clone()
    };
    record(&project, &[elsewhere]);
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("the address: “/chat/completions” in place of “/models/big:ask”");
    // The key of today's request above another one is no answer to it.
    let other = json_text::to_raw_json(
        &call
            .request
            .get()
            .replace("Sort the ticket", "Burn the ticket"),
    );
    record(
        &project,
        &[Recording {
            request: other,
            ..call.clone()
        }],
    );
    project.run(&["eval"]).exits_with(3).stdout_contains(edited);
    // A byte order mark is no damage.
    project.write_file(
        "scenarios/recordings/billing.jsonl",
        format!("\u{feff}{}", call.to_line()),
    );
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
}

#[test]
fn nothing_passes_in_the_place_of_a_damaged_recording() {
    for script in [
        "answers: [{reply: billing}]\n",
        "expect_context: [{nothing_cut: true}]\n",
    ] {
        passes_only_without_a_damaged_recording(&sample(script));
    }
}

fn passes_only_without_a_damaged_recording(project: &Project) {
    let line = answered("1", &body(project), &says("billing")).to_line();
    let refused = line
        .replace("\"status\":200", "\"status\":500")
        .replace("\"truncated\":false", "\"truncated\":true");
    let (unanswered, cut) = (
        "no call in it was answered; record it anew, or remove the file",
        "its last line is incomplete",
    );
    let half = line.get(..line.len() / 2).unwrap();
    for (text, why) in [
        ("", unanswered),
        ("\n", unanswered),
        (&refused, unanswered),
        (half, cut),
        (&format!("{line}{half}"), cut),
    ] {
        project.write_file("scenarios/recordings/billing.jsonl", text);
        project.run(&["eval"]).exits_with(3).stdout_contains(why);
    }
    std::fs::remove_file(project.path("scenarios/recordings/billing.jsonl")).unwrap();
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
}

#[test]
fn a_changed_recording_is_judged_again() {
    let project = sample("");
    let body = body(&project);
    record(&project, &[answered("1", &body, &says("billing"))]);
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(0)
        .stdout_contains("CARRIED");
    record(&project, &[answered("1", &body, &says("access"))]);
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(1)
        .stdout_contains("FAIL");
}

/// A suite whose agent calls a tool before it answers.
fn with_tools(tools: &str, answers: &str) -> Project {
    let suite = format!(
        "id: desk\nfixtures:\n  tools: {tools}\ncases:\n  - id: one\n    task: triage\n    context: {{objective: sort, inputs: {{ticket: my invoice}}}}\n    \
         expectations:\n      - contains: [billing]\n      - calls_tool: lookup\n    answers:\n{answers}"
    );
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/desk.yaml", suite)
}

#[test]
fn tools_of_the_fixtures_answer_until_the_agent_does() {
    let calls = "      - when: {lacks: [open invoice]}\n        tool_calls: [{name: lookup, arguments: {id: 7}}]\n";
    let answers = format!("{calls}      - {{reply: billing}}\n");
    let project = with_tools("{lookup: {state: open invoice}}", &answers);
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("desk/one  context 0/0  answer 2 of 2 (scripted)");
    let card = project.run(&["eval", "--json"]).exits_with(0).json();
    // Tokens are those of both requests.
    let trial = &card["cases"][0]["trials"][0];
    assert!(
        trial["tokens"]["input"].as_u64()
            > card["cases"][0]["tokens"]["total"]
                .as_u64()
                .map(|tokens| 2 * tokens),
        "{trial}"
    );
    // The tool result is a part of the case.
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    let other = with_tools("{lookup: {state: closed}}", &answers);
    other.write_file("card.json", project.read_file("card.json"));
    let run = other.run(&["eval", "--since", "card.json"]).exits_with(1);
    run.stdout_contains("calls of tools without an end: no answer after 16 requests");
    // A tool without a fixture ends the conversation.
    let run = with_tools("{other: 1}", &answers)
        .run(&["eval"])
        .exits_with(1);
    run.stdout_contains("expected /billing/, found no text, but a call of `lookup`");
}

#[test]
fn recorded_conversations_continue_as_they_did() {
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
        let asks = answered(
            "1",
            &first,
            &json!({"role": "assistant", "content": null, "tool_calls": [tool]}),
        );
        [asks, answered("2", &second, &says("billing"))]
            .map(|call| call.to_line())
            .concat()
    };
    let name = ctxc::internals::scenario::paths::recording_path("scenarios/desk.yaml", "desk/one");
    assert!(name.starts_with(path), "{name}");
    project.write_file(&name, calls("open"));
    let run: ProgramRun = project.run(&["eval"]).exits_with(0);
    run.stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (replayed, 1 of 3 recorded)");
    project.write_file(&name, calls("shut"));
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("“open” in place of “shut”");
}

#[test]
fn a_rate_has_its_interval_and_the_mean_of_many_tasks_too() {
    let project = sample("");
    let body = body(&project);
    let calls = ["billing", "access", "billing"].map(|text| answered(text, &body, &says(text)));
    record(&project, &calls);
    let rate = |args: &[&str]| project.run(args).exits_with(0).json()["cases"][0]["rate"].clone();
    let near = |found: &Value, expected: f64| {
        assert!(
            (found.as_f64().unwrap() - expected).abs() < 1e-4,
            "{found} {expected}"
        );
    };
    // statsmodels.stats.proportion.proportion_confint(2, 3, method="wilson"), then method="beta"
    for (args, method, low, high) in [
        (
            ["eval", "--full", "--json"].as_slice(),
            "wilson",
            0.207_66,
            0.938_51,
        ),
        (
            &["eval", "--full", "--exact", "--json"],
            "clopper_pearson",
            0.094_30,
            0.991_60,
        ),
    ] {
        let rate = rate(args);
        assert_eq!(rate["method"], method);
        near(&rate["value"], 2.0 / 3.0);
        near(&rate["low"], low);
        near(&rate["high"], high);
    }
    project
        .run(&["eval", "--full", "--format", "markdown"])
        .exits_with(0)
        .stdout_contains("answers pass 67 %");
    project
        .run(&["eval", "--full", "--format", "html"])
        .exits_with(0)
        .stdout_contains("passes 67 %, 95 % interval 21 % to 94 %");
    // Nine tasks predict nothing about a tenth.
    let project = Project::new();
    let interval = |count: usize| {
        let number = count - 1;
        project.write_file(
            &format!("templates/t{number}.xml"),
            TASK.replace("triage", &format!("t{number}")),
        );
        let reply = if number.is_multiple_of(2) {
            "billing"
        } else {
            "access"
        };
        let text = scenario(&format!("answers: [{{reply: {reply}}}]\n"));
        let text = text
            .replace("name: billing", &format!("name: s{number}"))
            .replace("task: triage", &format!("task: t{number}"));
        project.write_file(&format!("scenarios/s{number}.yaml"), text);
    };
    (1..=9).for_each(interval);
    assert_eq!(
        project.run(&["eval", "--json"]).exits_with(1).json()["summary"]["interval"],
        Value::Null
    );
    interval(10);
    let summary = project.run(&["eval", "--json"]).exits_with(1).json()["summary"].clone();
    near(&summary["pass_rate"], 0.5);
    let [low, high] = [0, 1].map(|end| summary["interval"][end].as_f64().unwrap());
    assert!(
        (0.1..0.4).contains(&low) && (0.6..0.9).contains(&high),
        "{summary}"
    );
}
