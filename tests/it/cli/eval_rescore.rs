//! Answers of earlier runs, judged again by today's expectations.

use super::eval_answers::TASK;
use super::eval_record::{asked, completion, upstream, with_model};
use super::history::sample;
use super::project::Project;
use pretty_assertions::assert_eq;

fn runs(project: &Project) -> Vec<serde_json::Value> {
    project
        .run(&["history", "list", "--json"])
        .exits_with(0)
        .json()["runs"]
        .as_array()
        .unwrap()
        .clone()
}

fn expect(project: &Project, path: &str, from: &str, to: &str) {
    let text = project.read_file(path);
    assert!(text.contains(from), "{text}");
    project.write_file(path, text.replace(from, to));
}

#[test]
fn live_answers_are_judged_again_without_a_call() {
    let server = upstream(
        ["billing, ask a.person@example.org", "access", "billing"]
            .map(completion)
            .to_vec(),
    );
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--answers", "live"])
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 2 of 3 (asked)");
    assert!(!project.path("scenarios/recordings").exists());
    // The upstream answers no more, and no key is there.
    let same = project.run(&["eval", "--rescore", "--json"]).exits_with(0);
    let again = same
        .stderr_contains("again for 1 scenario; no model was asked")
        .json();
    assert_eq!(again["summary"]["calls"], 0);
    let trial = &again["cases"][0]["trials"][0];
    assert_eq!(
        (&trial["provider"], &trial["tokens"]["input"]),
        (&"house".into(), &1000.into())
    );
    expect(
        &project,
        "scenarios/billing.yaml",
        "contains: [billing]",
        "contains: [access]",
    );
    project
        .run(&["eval", "--rescore"])
        .exits_with(1)
        .stdout_contains("✗ FAIL")
        .stdout_contains("answer 1 of 3 (replayed)");
    // Personal data was never stored.
    expect(
        &project,
        "scenarios/billing.yaml",
        "contains: [access]",
        "absent: [a.person]",
    );
    project.run(&["eval", "--rescore"]).exits_with(0);
    let list = runs(&project);
    assert_eq!(list.len(), 1, "nothing was added");
    let name = format!("--rescore={}", list[0]["id"].as_str().unwrap());
    project.run(&["eval", &name]).exits_with(0);
    project
        .run(&["eval", "--rescore=nothing"])
        .exits_with(2)
        .stderr_contains("there is no run `nothing`");
    project
        .run(&["eval", "--rescore", "--record"])
        .exits_with(2);
    project.write_file("templates/triage.xml", TASK.replace("Sort", "Order"));
    project
        .run(&["eval", "--rescore"])
        .exits_with(0)
        .stderr_contains("the context of 1 scenario changed since");
}

/// The earlier verdict was certain after two trials; today's expectation needs the others as well.
#[test]
fn the_rule_holds_as_it_is_written_for_the_trials_that_there_are() {
    let server = upstream(["billing", "billing access"].map(completion).to_vec());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--answers", "live"])
        .exits_with(0)
        .stdout_contains("answer 2 of 2");
    expect(
        &project,
        "scenarios/billing.yaml",
        "contains: [billing]",
        "contains: [access]",
    );
    project.run(&["eval", "--rescore"]).exits_with(7).stdout_contains("INCONCLUSIVE").stdout_contains(
        "has 2 of 3 trials of it, which decide nothing: `ctxc eval billing` asks again, with `--record` or `--answers live`",
    );
    expect(
        &project,
        "scenarios/billing.yaml",
        "contains: [access]",
        "absent: [billing]",
    );
    project
        .run(&["eval", "--rescore"])
        .exits_with(1)
        .stdout_contains("FAIL");
}

#[test]
fn scenarios_that_the_run_does_not_have_are_reported() {
    let project = sample();
    project
        .run(&["eval", "--rescore"])
        .exits_with(2)
        .stderr_contains("no run is kept yet");
    project.run(&["eval", "good"]).exits_with(0);
    // A script that was changed since answers nothing here.
    expect(
        &project,
        "scenarios/good.yaml",
        "reply: billing",
        "reply: access",
    );
    let run = project
        .run(&["eval", "--rescore"])
        .exits_with(7)
        .stdout_contains("answer 2 of 2 (scripted, 2 of 3 recorded)");
    run.stderr_contains("that run kept no answers of 2 scenarios");
    // An export takes them along.
    project
        .run(&["history", "export", "runs.jsonl"])
        .exits_with(0);
    let other = sample();
    other.write_file("runs.jsonl", project.read_file("runs.jsonl"));
    other
        .run(&["history", "import", "runs.jsonl"])
        .exits_with(0);
    other
        .run(&["eval", "good", "--rescore"])
        .exits_with(0)
        .stdout_contains("answer 2 of 2 (scripted, 2 of 3 recorded)");
}

#[test]
fn no_texts_are_recorded_if_the_project_forbids_it() {
    let server = upstream(["billing"; 2].map(completion).to_vec());
    let project = with_model(&server.address);
    project.write_file(
        "ctxc.toml",
        project.read_file("ctxc.toml") + "[record]\ncontent = \"shape\"\n",
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"])
        .exits_with(2)
        .stderr_contains("answers are not recorded in this project: `[record] content`");
    asked(&project, &["eval", "--answers", "live"]).exits_with(0);
    let run = project
        .run(&["eval", "--rescore"])
        .exits_with(2)
        .stdout_is_empty();
    run.stderr_contains("were not kept: there is nothing to judge again")
        .stderr_contains("`[record] content` in ctxc.toml is not \"shape\"");
    expect(&project, "ctxc.toml", "shape", "hash");
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("expected `redacted`, `full` or `shape`");
}

#[test]
fn what_the_run_was_not_answered_is_named_with_the_run() {
    let server = upstream(["billing"].map(completion).to_vec());
    let project = with_model(&server.address);
    project.write_file(
        "scenarios/other.yaml",
        project
            .read_file("scenarios/billing.yaml")
            .replace("name: billing", "name: other"),
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(
        &project,
        &[
            "eval",
            "--answers",
            "live",
            "--runs",
            "1",
            "--pass",
            "1",
            "--jobs",
            "1",
        ],
    )
    .exits_with(3);
    let run = project
        .run(&["eval", "--rescore", "--runs", "1", "--pass", "1"])
        .exits_with(7)
        .stderr_contains("that run kept no answers of 1 scenario");
    run.stdout_contains(
        " has no answer of it: `ctxc eval other` asks again, with `--record` or `--answers live`",
    )
    .output_lacks("script one under");
}
