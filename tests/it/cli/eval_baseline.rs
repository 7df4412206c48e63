//! Results compared with the baseline: differences are reported, and decide nothing.

use super::eval_record::{asked, completion, upstream, with_model};
use super::gate::{branch, replace};
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn what_differs_from_accepted_results_is_reported_for_each_scenario_and_for_all() {
    let project = branch();
    let run = project
        .run(&["eval", "--baseline", "baselines"])
        .exits_with(0);
    run.stdout_contains("compared with baselines: 0 better, 0 worse, 2 equal; ")
        .output_lacks("accepted with")
        .output_lacks("missing");

    replace(
        &project,
        "scenarios/scripted.yaml",
        "reply: billing",
        "reply: sorry",
    );
    replace(
        &project,
        "templates/triage.xml",
        "Sort the ticket",
        "Please sort this ticket",
    );
    let run = project
        .run(&["eval", "--baseline", "baselines/scripted.json"])
        .exits_with(1);
    let run = run
        .stdout_contains("accepted with pass, 3 of 3 trials, ")
        .stdout_contains("; now fail, 0 of 2 trials, ")
        .stdout_contains("0 better, 1 worse, 0 equal")
        // A script gives the same answer every time.
        .output_lacks("sign test");
    // The other suite is not of that baseline.
    run.output_lacks("; new: ");
    let compared = &project
        .run(&["eval", "--baseline", "baselines", "--json"])
        .json()["baseline"];
    assert_eq!(
        (&compared["worse"], &compared["equal"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(compared["not_compared"], json!(["`recorded` is stale"]));
    for format in ["markdown", "html"] {
        project
            .run(&["eval", "--baseline", "baselines", "--format", format])
            .stdout_contains("compared with baselines: 0 better, 1 worse");
    }

    // Failures are reported first.
    let junit = project
        .run(&["eval", "--baseline", "baselines", "--format", "junit"])
        .stdout;
    assert!(
        junit.contains("<failure message=\"scenarios/scripted.yaml:"),
        "{junit}"
    );

    // A result that is gone, and one that was never accepted.
    project.write_file(
        "scenarios/second.yaml",
        project
            .read_file("scenarios/scripted.yaml")
            .replace("name: scripted", "name: second"),
    );
    project.run(&["eval", "--out", "card.json"]);
    std::fs::remove_file(project.path("scenarios/scripted.yaml")).unwrap();
    let run = project.run(&["eval", "--baseline", "baselines"]);
    run.stdout_contains("missing: scripted")
        .stdout_contains("; new: second");
    project
        .run(&["eval", "second", "--baseline", "baselines"])
        .output_lacks("missing")
        .stdout_contains("; new: second");
    project
        .run(&["eval", "--baseline", "baselines/recorded.json"])
        .output_lacks("; new: ");
    project.write_file("scenarios/scripted.yaml", "name: scripted\ntask: [\n");
    project
        .run(&["eval", "--baseline", "baselines"])
        .output_lacks("missing");
    std::fs::remove_file(project.path("scenarios/scripted.yaml")).unwrap();
    project
        .run(&["eval", "--baseline", "card.json"])
        .stdout_contains("missing: scripted");
}

#[test]
fn a_context_that_fails_now_is_worse_although_its_answers_pass() {
    let project = branch();
    replace(&project, "scenarios/scripted.yaml", "max: 60", "max: 1");
    let compared = project
        .run(&["eval", "--baseline", "baselines", "--json"])
        .exits_with(1)
        .json()["baseline"]
        .clone();
    assert_eq!(
        (&compared["worse"], &compared["sign_test"]),
        (&json!(1), &json!(1.0))
    );
}

#[test]
fn accepted_results_of_another_model_are_not_compared() {
    let project = branch();
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    let mut card = project.run(&["eval", "--json"]).json();
    card["cases"][1]["model"] = json!("other-model");
    project.write_file("card.json", card.to_string());
    let run = project
        .run(&["eval", "--baseline", "card.json"])
        .exits_with(0);
    run.stdout_contains("0 better, 0 worse, 1 equal")
        .stdout_contains(
            "not compared: `scripted` was accepted with `other-model`, and has no model now",
        );
}

#[test]
fn what_is_no_accepted_result_is_refused_before_anything_is_run() {
    let project = branch();
    let edited = project
        .read_file("baselines/scripted.json")
        .replace("\"pass\"", "\"fail\"");
    project.write_file("edited.json", edited);
    for (named, why) in [
        (
            "nowhere.json",
            "nowhere.json cannot be compared with: it does not exist",
        ),
        (
            "ctxc.toml",
            "ctxc.toml cannot be compared with: it is not a baseline",
        ),
        ("edited.json", "it was changed by hand"),
        ("templates", "templates holds no baseline"),
    ] {
        project
            .run(&["eval", "--baseline", named])
            .exits_with(2)
            .stderr_contains(why);
    }
}

#[test]
fn a_scenario_that_fails_is_tried_in_a_second_stage_where_models_are_asked() {
    // Both trials of the first stage fail, and seven of the second pass; then both pass, and then
    // neither does.
    let answers = [vec!["access"; 2], vec!["billing"; 9], vec!["access"; 12]]
        .concat()
        .into_iter();
    let server = upstream(answers.map(completion).collect());
    let project = with_model(&server.address);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    project.run(&["eval", "--out", "card.json"]);
    let run = asked(
        &project,
        &[
            "eval",
            "--answers",
            "live",
            "--baseline",
            "card.json",
            "--jobs",
            "1",
        ],
    )
    .exits_with(0);
    run.stdout_contains("second stage");
    asked(
        &project,
        &[
            "eval",
            "--answers",
            "live",
            "--jobs",
            "1",
            "--out",
            "good.json",
        ],
    )
    .exits_with(0);
    let run = asked(
        &project,
        &[
            "eval",
            "--answers",
            "live",
            "--baseline",
            "good.json",
            "--jobs",
            "1",
        ],
    );
    run.stdout_contains("0 better, 1 worse")
        .stdout_contains("sign test p = 0.500 (fewer than 5 differences cannot be significant)");
}
