//! Scores of scenarios and suites, from their keys to reports, and their faults.

use super::eval_answers::TASK;
use super::eval_record::{asked, completion, upstream, with_model};
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const SUITE: &str = "id: desk
thresholds: {min_score: 0.7, pass_rate: 0.5}
defaults:
  task: triage
  min_score: 0.5
  runs: 1
  pass_threshold: 1
  answers:
    - reply: billing
cases:
  - id: good
    tags: [refunds, fast]
    context: {objective: sort, inputs: {ticket: my invoice}}
    expectations:
      - contains: billing
  - id: half
    tags: [refunds]
    context: {objective: sort, inputs: {ticket: my order}}
    expectations:
      - {contains: billing, weight: 3}
      - contains: access
      - {contains: thanks, gate: false}
";

/// A project with a scored suite.
pub(crate) fn scored() -> Project {
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/desk.yaml", SUITE)
}

/// Scorecards with every part of a score, and without some.
pub(crate) fn scorecards() -> Vec<Value> {
    let card = |suite: String, code: i32| {
        let project = scored().with_file("scenarios/desk.yaml", suite);
        project.run(&["eval", "--json"]).exits_with(code).json()
    };
    let unscored = SUITE
        .replace("  min_score: 0.5\n", "")
        .replace("{min_score: 0.7, ", "{");
    vec![
        card(SUITE.to_owned(), 0),
        card(SUITE.replace(", pass_rate: 0.5", ""), 0),
        card(unscored, 0),
        card(SUITE.replace("  answers:\n    - reply: billing\n", ""), 7),
        recorded("")
            .run(&["eval", "--full", "--json"])
            .exits_with(0)
            .json(),
        undecided("0.6")
            .run(&["eval", "--json"])
            .exits_with(7)
            .json(),
    ]
}

/// A project with a scored answer, half of which an untrusted judge is to score.
fn undecided(min: &str) -> Project {
    let project = super::eval_judge::scripted();
    let path = "scenarios/billing.yaml";
    let text = project.read_file(path);
    let text = text.replace("runs: 1\n", &format!("runs: 1\nmin_score: {min}\n"));
    project.write_file(path, text.replace("score: 0,", "score: 1,"));
    project
}

#[test]
fn scores_are_in_every_report() {
    let project = scored();
    project.run(&["check"]).exits_with(0);
    let text = project.run(&["eval"]).exits_with(0);
    let text = text
        .stdout_contains("answer 1 of 1 (scripted), score 0.75")
        .stdout_contains("found it nowhere in “billing” (scores 0 of 1)")
        .stdout_contains("mean score 0.875")
        .stdout_contains("tag refunds: 2 of 2 pass, pass rate of trials 1, mean score 0.875")
        .output_lacks("thresholds");
    assert_eq!(text.stdout, project.run(&["eval"]).exits_with(0).stdout);
    let card = project.run(&["eval", "--json"]).exits_with(0).json();
    assert_eq!(
        card["cases"][1]["score"],
        json!({"value": 0.75, "min": 0.5})
    );
    assert_eq!(card["cases"][1]["trials"][0]["score"], 0.75);
    assert_eq!(
        card["cases"][1]["trials"][0]["expectations"][1]["part"],
        json!({"score": 1.0, "weight": 3.0})
    );
    assert_eq!(
        card["summary"]["tags"],
        json!([
            {"tag": "fast", "planned": 1, "passed": 1, "pass_rate": 1.0, "score": 1.0},
            {"tag": "refunds", "planned": 2, "passed": 2, "pass_rate": 1.0, "score": 0.875},
        ])
    );
    assert_eq!(card["thresholds"][0]["verdict"], "pass");
    let markdown = project.run(&["eval", "--format", "markdown"]);
    markdown.stdout_contains("tag refunds: 2 of 2 pass");
    let html = project.run(&["eval", "--format", "html"]).exits_with(0);
    html.stdout_contains("<p>tag refunds: 2 of 2 pass")
        .stdout_contains(", score 0.75");
    let junit = project.run(&["eval", "--format", "junit"]).exits_with(0);
    junit
        .stdout_contains("tests=\"4\"")
        .stdout_contains("PASS, score 0.75")
        .stdout_contains("name=\"thresholds.min_score\"")
        .stdout_contains("`desk`: mean score 0.875, `thresholds.min_score` 0.7: reached")
        .output_lacks("context only");
}

#[test]
fn a_threshold_that_is_not_reached_fails_the_run() {
    let project = scored();
    let low = "`desk`: mean score 0.875, `thresholds.min_score` 0.9: too low";
    project.write_file(
        "scenarios/desk.yaml",
        SUITE.replace("min_score: 0.7", "min_score: 0.9"),
    );
    project.run(&["eval"]).exits_with(1).stdout_contains(low);
    project
        .run(&["eval", "-q"])
        .exits_with(1)
        .stdout_contains(low);
    for format in ["markdown", "html", "junit"] {
        let run = project.run(&["eval", "--format", format]).exits_with(1);
        run.stdout_contains("too low");
    }
    // A part of the suite decides nothing about the whole.
    project
        .run(&["eval", "desk/half"])
        .exits_with(0)
        .output_lacks("thresholds");
    for part in ["1/2", "2/2"] {
        let out = format!("{}.json", &part[..1]);
        project.run(&["eval", "--shard", part, "--out", &out]);
    }
    let whole = project
        .run(&["scorecard", "merge", "1.json", "2.json", "--json"])
        .exits_with(0);
    assert_eq!(
        whole.stdout,
        project.run(&["eval", "--json"]).exits_with(1).stdout
    );
    // A scenario without an answer could still reach it.
    let without = SUITE.replace("  answers:\n    - reply: billing\n", "").replace(
        "    tags: [refunds, fast]\n",
        "    expect_context: [{nothing_cut: true}]\n    answers: [{reply: billing}]\n    tags: [refunds, fast]\n",
    ).replace("    tags: [refunds]\n", "    expect_context: [{nothing_cut: true}]\n    tags: [refunds]\n");
    project.write_file("scenarios/desk.yaml", without);
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("mean score 0.5, `thresholds.min_score` 0.7: undecided");
}

#[test]
fn a_case_below_its_minimum_score_fails() {
    let project = scored();
    project.write_file(
        "scenarios/desk.yaml",
        SUITE.replace("  min_score: 0.5", "  min_score: 0.8"),
    );
    let expected = "expected a score of 0.8 or more, found 0.75";
    let allowed = "share of scenarios that pass 0.5, `thresholds.pass_rate` 0.5: reached";
    let run = project.run(&["eval"]).exits_with(0);
    run.stdout_contains(expected).stdout_contains(allowed);
    project
        .run(&["eval", "--format", "junit"])
        .exits_with(0)
        .stdout_contains("failures=\"0\" errors=\"0\" skipped=\"1\"")
        .stdout_contains(expected);
    project
        .run(&["eval", "--format", "html"])
        .exits_with(0)
        .stdout_contains("<p class=\"pass\"><strong>✓</strong>");
    // A part of the suite allows nothing, and neither does a context that does not hold.
    project.run(&["eval", "desk/half"]).exits_with(1);
    let suite = project.read_file("scenarios/desk.yaml");
    let half = "  - id: half\n";
    let context = format!("{half}    expect_context: [{{contains: [nowhere]}}]\n");
    project.write_file("scenarios/desk.yaml", suite.replace(half, &context));
    project.run(&["eval"]).exits_with(1);
    project.write_file(
        "scenarios/desk.yaml",
        suite.replace("pass_rate: 0.5", "pass_rate: 0.6"),
    );
    let html = project.run(&["eval", "--format", "html"]).exits_with(1);
    html.stdout_contains("<p class=\"fail\"><strong>✗</strong>");
}

#[test]
fn what_is_not_judged_leaves_a_threshold_and_a_rate_open() {
    let project = super::eval_judge::scripted();
    let text = project.read_file("scenarios/billing.yaml");
    let (_, case) = text.split_once("name: billing\n").unwrap();
    let case = format!("id: one\ntags: [money]\n{case}");
    let of = |case: &str, min: &str| {
        let case = case.trim_end().replace('\n', "\n    ");
        let head = format!("id: desk\nthresholds: {{min_score: {min}}}\ncases:\n  - ");
        project.write_file("scenarios/billing.yaml", head + &case + "\n");
        project.run(&["eval"])
    };
    of(&case, "0.5").exits_with(0);
    of(&case, "0.6")
        .exits_with(7)
        .stdout_contains("mean score 0.5, `thresholds.min_score` 0.6: undecided, since what is not judged counts as 0");
    // With a minimum of its own the case is undecided, so that its trial is in no rate.
    of(&format!("{case}min_score: 0.6\n"), "0.6")
        .exits_with(7)
        .stdout_contains("tag money: 0 of 1 pass, mean score 0.5\n");
    let wrong = case.replace("contains: [billing]", "{contains: [access], weight: 99}");
    of(&wrong, "0.02")
        .exits_with(1)
        .stdout_contains("mean score 0, `thresholds.min_score` 0.02: too low");
}

#[test]
fn equal_answers_to_different_expectations_are_not_one_cause() {
    let suite = SUITE
        .replace("thresholds: {min_score: 0.7, pass_rate: 0.5}\n", "")
        .replace("  min_score: 0.5\n", "")
        .replace(
            "      - contains: billing\n  - id: half",
            "      - contains: refund\n  - id: half",
        )
        .replace("      - {contains: billing, weight: 3}\n", "");
    let more = "  - id: same\n    context: {objective: sort, inputs: {ticket: my key}}\n    expectations: [{contains: refund}]\n";
    let project = scored().with_file("scenarios/desk.yaml", suite + more);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("expected /refund/, found it nowhere in “billing”")
        .stdout_contains("expected /access/, found it nowhere in “billing”")
        .stdout_contains("for the same cause as `desk/good`");
}

#[test]
fn nonsense_is_refused() {
    let project = scored();
    for (from, to, why) in [
        (
            "  min_score: 0.5",
            "  min_score: 5",
            "`defaults.min_score` is `5`; expected a number from 0.01 to 1",
        ),
        (
            "weight: 3",
            "weight: 0",
            "`cases.expectations.weight` is `0`; expected a number from 0.001 to 1000",
        ),
        (
            "weight: 3",
            "weight: -1",
            "expected a number from 0.001 to 1000",
        ),
        (
            "weight: 3",
            "weight: .nan",
            "`cases.expectations.weight` is a text; expected a number",
        ),
        (
            "gate: false",
            "gate: false, weight: 2",
            "has `weight` beside `gate`; they exclude each other",
        ),
        (
            "thresholds: {min_score: 0.7, pass_rate: 0.5}",
            "thresholds: {min_scores: 0.7}",
            "did you mean `min_score`?",
        ),
        (
            "thresholds: {min_score: 0.7, pass_rate: 0.5}",
            "thresholds: {}",
            "`min_score`: the minimum mean of the scores of its cases",
        ),
        (
            "    expectations:\n      - contains: billing\n  - id",
            "    min_score: 0.3\n    expect_context: [{nothing_cut: true}]\n  - id",
            "`min_score` is `0.3`; expected no such line, or an entry of `expectations`",
        ),
    ] {
        assert!(SUITE.contains(from));
        project.write_file("scenarios/desk.yaml", SUITE.replace(from, to));
        project.run(&["check"]).exits_with(1).stdout_contains(why);
    }
}

#[test]
fn a_column_of_a_table_is_the_minimum_score() {
    let project = scored();
    let suite = "id: desk\ncases_from: rows.csv\ndefaults: {task: triage, context: {objective: sort}, answers: [{reply: billing}]}\n";
    project.write_file("scenarios/desk.yaml", suite);
    project.write_file(
        "scenarios/rows.csv",
        "id,ticket,contains,min_score\na,x,billing,0.5\nb,y,billing,\n",
    );
    let card = project.run(&["eval", "--json"]).exits_with(0).json();
    assert_eq!(card["cases"][0]["score"]["min"], 0.5);
    assert_eq!(card["cases"][1]["score"], Value::Null);
}

#[test]
fn a_check_of_the_project_gives_a_score() {
    let of = |output: &str| {
        let suite = SUITE.replace("- contains: access", "- command: [sh, checks/own.sh]");
        let project = scored()
            .with_file("scenarios/desk.yaml", suite)
            .with_file("checks/own.sh", format!("echo '{output}'\n"));
        project.run(&["trust", "--yes"]).exits_with(0);
        project.run(&["eval"])
    };
    of(r#"{"pass": false, "score": 0.6, "reason": "so so"}"#)
        .exits_with(0)
        .stdout_contains(", score 0.9")
        .stdout_contains("(scores 0.6 of 1)");
    of(r#"[{"pass": true, "score": 0.2}, {"pass": true}]"#)
        .exits_with(0)
        .stdout_contains(", score 0.9");
    of(r#"{"pass": true, "score": 6}"#)
        .exits_with(3)
        .stdout_contains("its score is 6; expected a number from 0 to 1");
}

#[test]
fn an_untrusted_judge_raises_no_score() {
    let of = |min: &str| undecided(min).run(&["eval"]);
    of("0.5").exits_with(0).stdout_contains(", score 0.5");
    of("0.6")
        .exits_with(7)
        .stdout_contains("found 0.5, and 1 if the expectations that were not judged held")
        .stdout_contains("(skipped: scores 0 of 1)");
}

/// A project with three recorded answers of a model, of which two are right.
fn recorded(more: &str) -> Project {
    let answers = ["billing", "access", "billing"];
    let server = upstream(answers.map(completion).to_vec());
    let project = with_model(&server.address);
    let scenario = format!(
        "name: billing\nrole: clerk\ncontext: {{objective: sort, inputs: {{ticket: my invoice}}}}\nexpectations:\n  - contains: billing\n{more}"
    );
    project.write_file("scenarios/billing.yaml", scenario);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"]).exits_with(0);
    project
}

#[test]
fn chances_of_k_trials_are_shown_for_full_rows_alone() {
    let project = recorded("");
    let card = |args: &[&str]| {
        project
            .run(&[&["eval", "--json"], args].concat())
            .exits_with(0)
            .json()
    };
    assert_eq!(card(&[])["cases"][0]["k_trials"], Value::Null);
    let full = card(&["--full"]);
    let third = 1.0 / 3.0;
    assert_eq!(
        full["cases"][0]["k_trials"],
        json!({"k": 2, "pass_at_k": 1.0, "pass_hat_k": third})
    );
    assert_eq!(full["summary"]["pass_hat_k"], third);
    assert_eq!(full["summary"]["pass_at_k"], 1.0);
    project
        .run(&["eval", "--full"])
        .exits_with(0)
        .stdout_contains("pass@k 1, pass^k 0.333");
}

#[test]
fn a_lost_trial_counts_as_nothing() {
    let project = recorded("min_score: 0.5\n");
    let score = |code: i32| {
        project.run(&["eval", "--json"]).exits_with(code).json()["cases"][0]["score"]["value"]
            .as_f64()
            .unwrap()
    };
    let two_of_three = score(0);
    assert!((two_of_three - 2.0 / 3.0).abs() < 1e-9);
    // Without the wrong answer, the mean of the others would be 1.
    let path = "scenarios/recordings/billing.jsonl";
    let lines = project.read_file(path);
    let kept: Vec<&str> = lines
        .lines()
        .filter(|line| !line.contains("access"))
        .collect();
    assert_eq!(kept.len(), 2);
    project.write_file(path, kept.join("\n") + "\n");
    assert!((score(0) - two_of_three).abs() < 1e-9);
}

/// The relaxations of a change of the scored suite, and the exit code of the gate.
fn gated(from: &str, to: &str) -> (Vec<String>, Value) {
    let project = super::gate::on_branch(
        scored().with_file("ctxc.toml", "[eval.stability]\nreruns = 1\nvariance = 0.1\ncost_usd = 1.0\naccepters = [\"lead@example.org\"]\n"),
    );
    super::gate::replace(&project, "scenarios/desk.yaml", from, to);
    let decision: Value = serde_json::from_str(&project.run(&["gate", "--json"]).stdout).unwrap();
    let weakened = decision["weakened"].as_array().unwrap().iter();
    let what = |one: &Value| {
        format!(
            "{} {}",
            one["of"].as_str().unwrap(),
            one["what"].as_str().unwrap()
        )
    };
    (weakened.map(what).collect(), decision)
}

#[test]
fn a_laxer_score_is_a_weakening() {
    let rule = |case: &str| format!("desk/{case} how trials decide");
    let weight = "desk/half answer: the answer contains /billing/".to_owned();
    let share = || {
        ["good", "half"]
            .map(|case| format!("desk/{case} share that passes"))
            .to_vec()
    };
    for (from, to, expected) in [
        (
            "  min_score: 0.5",
            "  min_score: 0.4",
            vec![rule("good"), rule("half")],
        ),
        ("  min_score: 0.5\n", "", vec![rule("good"), rule("half")]),
        ("weight: 3", "weight: 2", vec![weight]),
        ("weight: 3", "weight: 4", vec![rule("half")]),
        (
            "- contains: access",
            "- contains: access\n      - contains: b",
            vec![rule("half")],
        ),
        (
            "{min_score: 0.7, ",
            "{min_score: 0.6, ",
            vec!["desk thresholds.min_score".to_owned()],
        ),
        ("pass_rate: 0.5", "pass_rate: 0.4", share()),
    ] {
        let (weakened, decision) = gated(from, to);
        assert_eq!(weakened, expected, "{from} {to}");
        assert_eq!(decision["decision"], "fail", "{from} {to}");
    }
    for (from, to) in [
        ("  min_score: 0.5", "  min_score: 0.6"),
        ("{min_score: 0.7, ", "{min_score: 0.8, "),
        (", pass_rate: 0.5", ""),
        // As much may be lost as before.
        (
            "      - contains: access\n      - {contains: thanks, gate: false}\n",
            "      - contains: access\n      - contains: bill\n      - {contains: thanks, gate: false}\n    min_score: 0.6\n",
        ),
    ] {
        let (weakened, decision) = gated(from, to);
        assert_eq!(
            (weakened, &decision["decision"]),
            (vec![], &json!("pass")),
            "{from} {to}"
        );
    }
}

#[test]
fn the_gate_fails_by_scores_and_thresholds() {
    let (weakened, decision) = gated("min_score: 0.7, ", "min_score: 0.95, ");
    assert_eq!(weakened, Vec::<String>::new());
    assert_eq!(
        decision["violated_thresholds"][0],
        json!({"name": "suite_min_score", "limit": "0.95", "value": "0.875", "case": "desk"})
    );
    let (_, decision) = gated("  min_score: 0.5", "  min_score: 0.8");
    assert_eq!(decision["decision"], "pass");
    assert_eq!(
        decision["warnings"][0],
        "`desk/half` fails, which `desk` allows by the share of scenarios that pass"
    );
    let suite = |share: &str, min: &str| {
        format!("pass_rate: {share}}}\ndefaults:\n  task: triage\n  min_score: {min}\n")
    };
    let (_, decision) = gated(&suite("0.5", "0.5"), &suite("0.6", "0.8"));
    assert_eq!(
        decision["failing_cases"],
        json!([{"id": "desk/half", "reason": "expected a score of 0.8 or more, found 0.75"}])
    );
}

#[test]
fn easy_scenarios_do_not_make_up_for_those_of_the_base() {
    let suite = SUITE
        .replace(", pass_rate: 0.5", "")
        .replace("  min_score: 0.5\n", "  min_score: 0.2\n")
        .replace(
            "  - id: half\n",
            "  - id: half\n    answers:\n      - {when: {has: [Sort]}, reply: billing}\n      - reply: access\n",
        );
    let changed = |easy: &str| {
        let project = scored().with_file("scenarios/desk.yaml", &suite);
        let project = super::gate::on_branch(project);
        super::gate::replace(&project, "templates/triage.xml", "Sort", "Rank");
        let text = project.read_file("scenarios/desk.yaml");
        project.write_file("scenarios/desk.yaml", text + easy);
        project
    };
    let change = |easy: &str| changed(easy).run(&["gate", "--json"]);
    let violation = |value: &str| json!([{"name": "suite_min_score", "limit": "0.7", "value": value, "case": "desk"}]);
    let run = change("").exits_with(4);
    assert_eq!(run.json()["violated_thresholds"][0], violation("0.625")[0]);
    let easy = ["a", "b", "c"].map(|id| {
        format!("  - id: {id}\n    context: {{objective: sort, inputs: {{ticket: {id}}}}}\n    expectations: [{{contains: billing}}]\n")
    });
    let run = change(&easy.concat()).exits_with(4);
    let by_base = violation("0.625, by the scenarios of main");
    assert_eq!(run.json()["violated_thresholds"], by_base);
    // One scenario whose relaxation was accepted excuses no other one.
    let project = changed(&easy.concat());
    let good = "      - contains: billing\n  - id: half";
    super::gate::replace(
        &project,
        "scenarios/desk.yaml",
        good,
        &good.replace("billing", "bill"),
    );
    let accept = [
        "baseline",
        "accept",
        "--reason",
        "so",
        "--by",
        "lead@example.org",
    ];
    project.run(&accept).exits_with(0);
    let decision = project.run(&["gate", "--json"]).exits_with(4).json();
    assert_eq!(decision["weakened"][0]["approved_by"], "lead@example.org");
    assert_eq!(decision["violated_thresholds"], by_base);
}

#[test]
fn an_answer_that_is_cut_fails_whatever_its_score_is() {
    let cut = completion("bill").replace("\"stop\"", "\"length\"");
    assert!(cut.contains("length"));
    let server = upstream(vec![cut]);
    let project = with_model(&server.address);
    project.write_file(
        "scenarios/billing.yaml",
        "name: billing\nrole: clerk\nruns: 1\npass_threshold: 1\nmin_score: 0.5\n\
         context: {objective: sort, inputs: {ticket: my invoice}}\n\
         expectations: [{contains: billing}, {max_tokens: 2000, weight: 9}]\n",
    );
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "--record"])
        .exits_with(1)
        .stdout_contains(", score 0.9")
        .stdout_contains("expected a whole answer");
}
