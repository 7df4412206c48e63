//! Every difference from the base that decides a verdict is listed by the gate, with the change in
//! it.

use super::gate::{CONFIG, RECORDED, SCRIPTED, TASK, base, branch, commit, git, recorded, replace};
use super::project::Project;
use crate::project::reading::read;
use pretty_assertions::assert_eq;
use serde_json::Value;

const MORE: &str = "\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\ntokenizer = \"bytes\"\n\
    usd_per_million = { input = 1.0, output = 2.0 }\n\n[models.\"other-1.5\"]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n\n\
    [roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n\n[requests.blocks]\nRefunds = \"Refunds:.*\"\n\n[package]\nname = \"acme/p\"\nversion = \"1.0.0\"\nconsumers = [{ source = \"path:consumers/a\" }]\n";

/// The same with such files, which the base has, too.
fn with(files: &[(&str, &str)]) -> Project {
    let project = branch();
    for (path, text) in files {
        project.write_file(path, text);
    }
    for consumer in ["a", "b"] {
        project.write_file(&format!("consumers/{consumer}/README.md"), "A consumer.\n");
    }
    commit(&project);
    base(&project);
    project
}

/// The items that a decision lists, as `of: what`.
fn listed(decision: &Value) -> Vec<String> {
    let all = decision["weakened"].as_array().unwrap().iter();
    all.map(|one| {
        format!(
            "{}: {}",
            one["of"].as_str().unwrap(),
            one["what"].as_str().unwrap()
        )
    })
    .collect()
}

fn decision(project: &Project) -> Value {
    project.run(&["gate", "--json"]).json()
}

#[test]
fn every_key_of_the_project_file_that_decides_a_verdict_is_listed() {
    let config = format!("{CONFIG}{MORE}");
    let edits: [(&str, &str, &str); 8] = [
        (
            "tokenizer = \"bytes\"",
            "tokenizer = \"o200k\"",
            "[models.small] tokenizer: value",
        ),
        (
            "tokenizer = \"bytes\"\n",
            "",
            "[models.small] tokenizer: value",
        ),
        (
            "input = 1.0",
            "input = 0.5",
            "[models.small.usd_per_million] input: value",
        ),
        (
            "input = 1.0",
            "input = 1.0, cached_input = 0",
            "[models.small.usd_per_million] cached_input: value",
        ),
        (
            "usd_per_million = { input = 1.0, output = 2.0 }\n",
            "",
            "[models.small.usd_per_million] output: value",
        ),
        ("Refunds:.*", ".*", "[requests.blocks] Refunds: value"),
        (
            "[requests.blocks]\n",
            "[requests.blocks]\nAll = \".*\"\n",
            "[requests.blocks] All: value",
        ),
        (
            "[package]",
            "[limits]\nfile = 20000000\n\n[package]",
            "[limits] file: value",
        ),
    ];
    for (from, to, expected) in edits {
        let project = with(&[("ctxc.toml", &config)]);
        replace(&project, "ctxc.toml", from, to);
        let decision = decision(&project);
        assert!(
            listed(&decision).iter().any(|one| one == expected),
            "{to}: {decision:#}"
        );
        assert_eq!(decision["decision"], "fail", "{to}");
    }
    // Changes that are stricter, new, or judged by the expectations of both sides are not.
    let silent: [(&str, &str); 6] = [
        ("version = \"1.0.0\"", "version = \"1.1.0\""),
        ("path:consumers/a", "path:consumers/b"),
        (
            "{ input = 1.0, output = 2.0 }",
            "{ input = 1, output = 2.00 }",
        ),
        (
            "context_window = 8000\ntokenizer",
            "context_window = 9000\ntemperature = 0.5\ntokenizer",
        ),
        (
            "[package]",
            "[models.new]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\ntokenizer = \"bytes\"\n\n[package]",
        ),
        ("[package]", "[project]\nname = \"mine\"\n\n[package]"),
    ];
    for (from, to) in silent {
        let project = with(&[("ctxc.toml", &config)]);
        replace(&project, "ctxc.toml", from, to);
        assert_eq!(listed(&decision(&project)), [""; 0], "{to}");
    }
}

#[test]
fn a_role_that_goes_to_a_model_for_which_another_counts_is_listed() {
    let project = with(&[("ctxc.toml", &format!("{CONFIG}{MORE}"))]);
    replace(
        &project,
        "ctxc.toml",
        "model = \"small\"",
        "model = \"other-1.5\"",
    );
    let all = listed(&decision(&project));
    assert!(
        all.iter()
            .any(|one| one.ends_with(": who counts its tokens")),
        "{all:?}"
    );
}

#[test]
fn a_limit_on_costs_without_a_price_is_inconclusive() {
    let config = CONFIG.replace("pass_rate = 1.0\n", "pass_rate = 1.0\ncost_usd = 1.0\n");
    // A claim that a model answered requires the cost of the answer.
    let asked = recorded(&branch(), "my invoice", "billing")
        .replace("\"answered_by\":\"script\"", "\"answered_by\":\"upstream\"");
    let project = with(&[
        ("ctxc.toml", &config),
        ("scenarios/recordings/recorded.jsonl", &asked),
    ]);
    let run = project.run(&["gate"]).exits_with(7);
    run.stdout_contains("`[eval.gate] cost_usd` cannot be checked: `usd_per_million` of the model is not set for `recorded`");
}

#[test]
#[cfg(unix)]
fn whatever_a_python_check_is_made_of_is_listed() {
    let checked = RECORDED
        .replace("name: recorded", "name: checked")
        .replace("contains: [billing]", "python: checks.plan:good")
        + "answers:\n  - reply: billing\n";
    let plan = "import json\nfrom .words import (\n    said,\n)\n\ndef good(trial):\n    json.dumps(trial)\n    return said(trial)\n";
    let words =
        "def said(trial):\n    return {'pass': trial['answer'] == 'billing', 'reasons': ['x']}\n";
    let files = [
        ("scenarios/checked.yaml", &*checked),
        ("checks/plan.py", plan),
        ("checks/words.py", words),
    ];
    let lie = "def good(trial):\n    return True\ndef said(trial):\n    return True\n";
    let fake = "import sys, types\nsys.modules['checks.plan'] = types.SimpleNamespace(good=lambda trial: True)\n";
    let ways: [(&str, &str); 6] = [
        ("checks/plan/__init__.py", lie),
        ("checks/__init__.py", fake),
        ("checks.py", fake),
        ("checks/words.py", lie),
        ("checks/words/__init__.py", lie),
        ("checks/plan.so", "x"),
    ];
    for (path, text) in ways {
        let project = with(&files);
        project.run(&["trust", "--yes"]).exits_with(0);
        assert_eq!(listed(&decision(&project)), [""; 0]);
        project.write_file(path, text);
        let all = listed(&decision(&project));
        assert!(
            all.contains(&format!("checked: check {path}")),
            "{path}: {all:?}"
        );
    }
    // The standard library is fixed, for any project.
    let project = with(&files);
    project.run(&["trust", "--yes"]).exits_with(0);
    project.write_file(
        "json/__init__.py",
        "def load(_):\n    return {'answer': 'billing'}\ndef dump(_, out):\n    out.write('{\"pass\": true}')\n",
    );
    replace(
        &project,
        "scenarios/checked.yaml",
        "reply: billing",
        "reply: access",
    );
    project.run(&["eval", "checked"]).exits_with(1);
}

#[test]
fn a_file_that_is_there_and_no_longer_read_is_listed() {
    let other = TASK.replace("name=\"triage\"", "name=\"other\"");
    for (place, text) in [
        (".gitignore", "templates/other.xml\n"),
        ("templates/.ignore", "other.xml\n"),
    ] {
        let project = with(&[("templates/other.xml", &other)]);
        project.write_file(place, text);
        project.write_file(
            "templates/other.xml",
            "<task type=\"atomic\" name=\"other\">",
        );
        assert_eq!(listed(&decision(&project)), ["templates/other.xml: file"]);
        // A file that the base ignores, too, is not new.
        git(&project, &["add", "-f", "."]);
        git(&project, &["commit", "-q", "-m", "a change"]);
        base(&project);
        assert_eq!(listed(&decision(&project)), [""; 0]);
        std::fs::remove_file(project.path(place)).unwrap();
        project.write_file("templates/other.xml", &other);
        assert_eq!(listed(&decision(&project)), [""; 0]);
    }
}

#[test]
fn what_is_reported_by_its_hash_is_shown_with_what_changed() {
    let project = branch();
    replace(
        &project,
        "scenarios/recorded.yaml",
        "my invoice",
        "an invoice of sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD",
    );
    let run = project
        .run(&["gate"])
        .exits_with(4)
        .output_lacks("abcdefghijklmnop");
    assert!(
        run.stdout
            .lines()
            .any(|line| line.starts_with("      -") && line.contains("my invoice")),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .lines()
            .any(|line| line.starts_with("      +") && line.contains("an invoice of ⟦")),
        "{}",
        run.stdout
    );
    let page = project
        .run(&["gate", "--format", "markdown"])
        .exits_with(4)
        .stdout_contains("<br><code>-")
        .stdout_contains("| **no** |");
    page.output_lacks("abcdefghijklmnop");
    let project = branch();
    replace(
        &project,
        "scenarios/recordings/recorded.jsonl",
        "\"content\":\"billing\"",
        "\"content\":\"billing!\"",
    );
    let all = decision(&project);
    let diff = all["weakened"][0]["diff"].as_str().unwrap();
    assert!(
        diff.contains("\n-") && diff.contains("\n+") && diff.contains("billing!"),
        "{diff}"
    );
    // It is part of no acceptance.
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    project.run(&["gate"]).exits_with(0);
}

#[test]
fn answers_that_a_change_brings_for_a_request_that_it_changed_are_listed() {
    let new = "recorded: answers to a changed request".to_owned();
    let project = branch();
    let old = project.read_file("scenarios/recordings/recorded.jsonl");
    replace(
        &project,
        "templates/triage.xml",
        "by the rules of the house",
        "as the house does",
    );
    let anew = recorded(&project, "my invoice", "billing");
    // The old lines beside them or not.
    for recording in [anew.clone(), format!("{old}{anew}"), format!("{anew}{old}")] {
        project.write_file("scenarios/recordings/recorded.jsonl", recording);
        let run = project.run(&["gate"]).exits_with(4);
        run.stdout_contains("recording of `recorded`: answers to a changed request: new: b3:")
            .stdout_contains(", 1 answer (scenarios/recordings/");
        assert!(listed(&decision(&project)).contains(&new));
    }
    project.run(&["eval", "--accept"]);
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    project.run(&["gate"]).exits_with(0);
    // Other answers are others.
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "billing, of course"),
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("answers to a changed request");
    // The first answers of a scenario, and further ones to the same request, remove nothing.
    let project = branch();
    project.write_file(
        "scenarios/first.yaml",
        RECORDED.replace("name: recorded", "name: first"),
    );
    project.write_file(
        "scenarios/recordings/first.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        format!("{old}{}", old.replace("\"id\":\"1\"", "\"id\":\"2\"")),
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
}

#[test]
fn a_scenario_that_was_recorded_more_often_than_it_is_tried_is_named() {
    let project = branch();
    let old = project.read_file("scenarios/recordings/recorded.jsonl");
    let all: String = (1..=5)
        .map(|id| old.replace("\"id\":\"1\"", &format!("\"id\":\"{id}\"")))
        .collect();
    project.write_file("scenarios/recordings/recorded.jsonl", all);
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("(scripted, 5 recorded)");
    project
        .run(&["gate"])
        .stdout_contains("`recorded` was recorded 5 times, and 3 are tried: the first 3 decide");
}

/// A change with answers of its own for a request that it changed is decided by the answers that a
/// trusted job records.
#[test]
fn a_job_with_a_key_records_what_a_change_brings() {
    use crate::cli::eval_record::{asked, completion, upstream};
    let gate = |answers: &[&str], args: &[&str]| {
        let server = upstream(answers.iter().map(|text| completion(text)).collect());
        let config = format!(
            "{CONFIG}[models.small]\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 8000\n\
             usd_per_million = {{ input = 1.0, output = 2.0 }}\n[providers.house]\nkind = \"openai\"\nbase_url = \"{}\"\napi_key_env = \"HOUSE_KEY\"\n\
             [roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n",
            server.address
        );
        let project = Project::new()
            .with_file("ctxc.toml", config)
            .with_file("templates/triage.xml", TASK);
        project.write_file(
            "scenarios/recorded.yaml",
            RECORDED.replace("task: triage", "role: clerk"),
        );
        project.run(&["trust", "--yes"]).exits_with(0);
        asked(&project, &["eval", "--record"]).exits_with(0);
        git(&project, &["init", "-q", "-b", "main"]);
        commit(&project);
        git(&project, &["switch", "-q", "-c", "change"]);
        replace(
            &project,
            "templates/triage.xml",
            "by the rules of the house",
            "as the house does",
        );
        asked(&project, &["eval", "--record", "--stale"]).exits_with(0);
        commit(&project);
        project
            .run(&["gate"])
            .exits_with(4)
            .stdout_contains("recording of `recorded`: answers to a changed request: new: ")
            .stdout_contains(", 3 answers");
        let forged = project.read_file("scenarios/recordings/recorded.jsonl");
        let run = asked(&project, &[&["gate"], args].concat());
        (
            run,
            project.read_file("scenarios/recordings/recorded.jsonl") != forged,
            project,
        )
    };
    let record = ["--record", "--budget-usd", "1"];
    let (run, is_anew, project) = gate(&["billing"; 9], &record);
    let run = run
        .exits_with(0)
        .stderr_contains("asked models anew: 3 calls")
        .stdout_contains("answers of `recorded` were recorded anew by this run");
    assert!(
        is_anew && run.stdout.contains("nothing is loosened"),
        "{}",
        run.stdout
    );
    project.run(&["gate", "--record"]).exits_with(2);
    // The answer of the change passes, and the model's answer does not.
    let answers = [
        "billing", "billing", "billing", "billing", "billing", "billing", "access", "access",
        "access",
    ];
    let (run, is_anew, _) = gate(&answers, &record);
    run.exits_with(4)
        .stdout_contains("`recorded` fails: expected /billing/, found it nowhere in “access”");
    assert!(is_anew);
    // Without the budget nothing is cleared.
    let (run, is_anew, project) = gate(&["billing"; 6], &["--record", "--budget-usd", "0"]);
    run.exits_with(4)
        .stderr_contains("`recorded` was not recorded: ")
        .stdout_contains("answers to a changed request");
    assert!(!is_anew);
    // Nor is a model called without a permission.
    project.run(&["trust", "--revoke"]).exits_with(0);
    asked(&project, &["gate", "--record", "--budget-usd", "1"])
        .exits_with(2)
        .stderr_contains("asking a model is not permitted");
}

/// A candidate whose scenario `recorded` a live model answered with these verdicts, at a price in
/// US$ a trial.
fn live(project: &Project, passes: &[bool], usd: Option<f64>) {
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    let mut card: Value = serde_json::from_str(&project.read_file("card.json")).unwrap();
    card["mode"] = "real".into();
    let row = card["cases"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|row| row["id"] == "recorded")
        .unwrap();
    let trial = |(at, passes): (usize, &bool)| {
        let mut trial = row["trials"][0].clone();
        trial["index"] = (at + 1).into();
        trial["verdict"] = if *passes { "pass" } else { "fail" }.into();
        trial["provider"] = "house".into();
        trial["cost_usd"] = usd.into();
        trial
    };
    let trials: Vec<Value> = passes.iter().enumerate().map(trial).collect();
    let rate = passes
        .iter()
        .map(|passes| f64::from(u8::from(*passes)))
        .sum::<f64>()
        / passes.iter().map(|_| 1.0).sum::<f64>();
    (row["answer"], row["trials"], row["rate"]["value"]) =
        ("asked".into(), trials.into(), rate.into());
    project.write_file("card.json", card.to_string());
}

#[test]
fn a_candidate_of_live_models_is_held_to_the_policy_for_them() {
    let project = branch();
    let gate = |passes: &[bool], usd: Option<f64>| {
        live(&project, passes, usd);
        project.run(&["gate", "--candidate", "card.json"])
    };
    // `[eval.stability]` of the base: 3 trials, a variance of 0.1, US$ 1.
    gate(&[true; 3], Some(0.3))
        .exits_with(0)
        .stdout_contains("PASS");
    gate(&[true; 2], Some(0.3))
        .exits_with(7)
        .stdout_contains("`recorded` was tried 2 times, and `[eval.stability] reruns` is 3");
    let run = gate(&[true, true, false], Some(0.3)).exits_with(4);
    run.stdout_contains("stability_variance of `recorded`: allowed a variance of 0.1, found 0.222: 0.667 of 3 trials pass");
    let mostly = [&[true; 9][..], &[false]].concat();
    gate(&mostly, Some(0.1)).output_lacks("stability_variance");
    gate(&[true; 3], Some(0.4))
        .exits_with(4)
        .stdout_contains("stability_cost: allowed US$ 1, found US$ 1.2");
    gate(&[true; 3], None)
        .exits_with(7)
        .stdout_contains("`[eval.stability] cost_usd` cannot be checked");
    // A looser policy of the change is listed, and does not count.
    replace(&project, "ctxc.toml", "variance = 0.1", "variance = 0.25");
    let run = gate(&[true, true, false], Some(0.3)).exits_with(4);
    run.stdout_contains("[eval.stability] variance")
        .stdout_contains("stability_variance of `recorded`: allowed a variance of 0.1");
    // A stricter one counts.
    replace(&project, "ctxc.toml", "variance = 0.25", "variance = 0.0");
    replace(&project, "ctxc.toml", "reruns = 3", "reruns = 50");
    gate(&[true; 5], Some(0.1))
        .exits_with(7)
        .stdout_contains("`[eval.stability] reruns` is 50");
}

/// Every default that may be written into the project file without effect.
const DEFAULTS: &str = "[eval]\nscenarios = [\"scenarios\"]\nplan_path = \"$.subtasks\"\nstale_after_days = 90\nstale = \"error\"\n\
    [eval.gate]\nmanifest_tokens = 0.1\nuncovered = \"warn\"\naccepters = []\n\
    [eval.drift]\ntoken_inflation = 0.3\nwindow = 5\nlatency_regression = 0.5\nbatches = 3\n\
    [limits]\ndepth = 256\nattributes = 256\nnamespaces = 128\nfile = 10_485_760\ntext = 10_000_000\nname = 1000\nnodes = 1_000_000\ndiagnostics = 10_000\n";

#[test]
fn a_default_that_is_written_out_is_not_listed() {
    let (written, left_out) = (read(DEFAULTS), read(""));
    assert_eq!(
        written.eval.scenario_roots(),
        left_out.eval.scenario_roots()
    );
    assert_eq!(
        (&written.limits, &written.eval.gate),
        (&left_out.limits, &left_out.eval.gate)
    );
    assert_eq!(written.eval.drift, left_out.eval.drift);
    assert_eq!(
        written.eval.stale_after_days,
        left_out.eval.stale_after_days
    );
    let bare = CONFIG.split("[eval]").next().unwrap();
    let project = with(&[("ctxc.toml", bare)]);
    project.write_file("ctxc.toml", format!("{bare}{DEFAULTS}"));
    assert_eq!(listed(&decision(&project)), [""; 0]);
    // And the other way round.
    let project = with(&[("ctxc.toml", &format!("{bare}{DEFAULTS}"))]);
    project.write_file("ctxc.toml", bare);
    assert_eq!(listed(&decision(&project)), [""; 0]);
}

#[test]
fn a_limit_is_listed_where_it_is_looser_and_not_where_it_is_stricter() {
    let config = format!(
        "{CONFIG}[eval.drift]\ntoken_inflation = 0.4\nlatency_regression = 0.4\nbatches = 4\n[limits]\ndepth = 100\n"
    );
    let limits: [(&str, &str, &str, &str); 9] = [
        ("pass_rate = ", "1.0", "0.9", "[eval.gate] pass_rate"),
        (
            "manifest_tokens = ",
            "0.05",
            "0.10",
            "[eval.gate] manifest_tokens",
        ),
        (
            "token_inflation = ",
            "0.3",
            "0.4",
            "[eval.drift] token_inflation",
        ),
        (
            "latency_regression = ",
            "0.3",
            "0.4",
            "[eval.drift] latency_regression",
        ),
        ("batches = ", "3", "4", "[eval.drift] batches"),
        ("depth = ", "50", "100", "[limits] depth"),
        ("reruns = ", "5", "3", "[eval.stability] reruns"),
        ("variance = ", "0.05", "0.1", "[eval.stability] variance"),
        (
            "accepters = ",
            "[\"lead@example.org\"]",
            "[\"lead@example.org\", \"a\"]",
            "[eval.gate] accepters",
        ),
    ];
    for (key, strict, loose, what) in limits {
        let line = config.lines().find(|line| line.starts_with(key)).unwrap();
        let [strict, loose] =
            [strict, loose].map(|value| config.replace(line, &format!("{key}{value}")));
        let project = with(&[("ctxc.toml", &loose)]);
        project.write_file("ctxc.toml", &strict);
        assert_eq!(listed(&decision(&project)), [""; 0], "{strict}");
        let project = with(&[("ctxc.toml", &strict)]);
        project.write_file("ctxc.toml", &loose);
        assert_eq!(
            listed(&decision(&project)),
            [format!("{what}: value")],
            "{loose}"
        );
    }
    // Without named accepters, any user may accept; the first name in the list has no more rights.
    let anybody = config.replace("accepters = [\"lead@example.org\"]", "accepters = []");
    let project = with(&[("ctxc.toml", &anybody)]);
    project.write_file("ctxc.toml", &config);
    assert_eq!(listed(&decision(&project)), [""; 0]);
    let project = with(&[("ctxc.toml", &config)]);
    project.write_file("ctxc.toml", anybody);
    assert_eq!(
        listed(&decision(&project)),
        ["[eval.gate] accepters: value"]
    );
}

#[test]
fn an_expectation_is_listed_where_it_asks_for_less_and_not_where_it_asks_for_more() {
    const ASKED: &str = "name: asked\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  \
        - contains: [invoice, house]\n  - tokens: {of: total, min: 2, max: 50}\nexpectations:\n  - absent: [sorry, sad]\n  \
        - max_tokens: 400\n  - max_risk: low\n  - {contains: [bill], gate: true}\nanswers:\n  - reply: '{\"risk\": \"low\", \"to\": \"bill\"}'\n";
    let looser: [(&str, &str, &str); 8] = [
        (
            "[invoice, house]",
            "[invoice]",
            "context: the context contains /invoice/, /house/",
        ),
        (
            "max: 50",
            "max: 60",
            "context: tokens in all at least 2 and at most 50",
        ),
        (
            "min: 2",
            "min: 1",
            "context: tokens in all at least 2 and at most 50",
        ),
        (
            "min: 2, ",
            "",
            "context: tokens in all at least 2 and at most 50",
        ),
        (
            "[sorry, sad]",
            "[sorry]",
            "answer: the answer does not contain /sorry/, /sad/",
        ),
        (
            "max_tokens: 400",
            "max_tokens: 500",
            "answer: at most 400 tokens in and out",
        ),
        (
            "gate: true",
            "gate: false",
            "answer: the answer contains /bill/",
        ),
        (
            "of: total",
            "of: prefix",
            "context: tokens in all at least 2 and at most 50",
        ),
    ];
    // Of an agent of a whole run, too.
    let run = ASKED
        .replace("task: triage", "task: triage\nrun: true")
        .replace("- max_tokens: 400", "- {node: /, max_tokens: 400}");
    let run = run.replace(
        "- contains: [invoice, house]",
        "- {node: /, contains: [invoice, house]}",
    );
    for (strict, loose) in [
        ("max_tokens: 400", "max_tokens: 500"),
        ("[invoice, house]", "[invoice]"),
    ] {
        let other = run.replace(strict, loose);
        for (before, after, count) in [(&other, &run, 0), (&run, &other, 1)] {
            let project = with(&[("scenarios/asked.yaml", before)]);
            project.write_file("scenarios/asked.yaml", after);
            assert_eq!(listed(&decision(&project)).len(), count, "{strict}");
        }
    }
    for (strict, loose, what) in looser {
        let other = ASKED.replace(strict, loose);
        let project = with(&[("scenarios/asked.yaml", &other)]);
        project.write_file("scenarios/asked.yaml", ASKED);
        let all = listed(&decision(&project));
        let expected: &[&str] = if strict.starts_with("of") {
            &["asked: context: tokens of the reusable prefix at least 2 and at most 50"]
        } else {
            &[]
        };
        assert_eq!(all, expected, "{loose} to {strict}");
        let project = with(&[("scenarios/asked.yaml", ASKED)]);
        project.write_file("scenarios/asked.yaml", other);
        assert_eq!(
            listed(&decision(&project)),
            [format!("asked: {what}")],
            "{strict} to {loose}"
        );
    }
    // An expectation with the same limit is paired first; a remaining one of its kind replaces a
    // removed one.
    let two = ASKED.replace("  - tokens", "  - contains: [data]\n  - tokens");
    let project = with(&[("scenarios/asked.yaml", &two)]);
    project.write_file(
        "scenarios/asked.yaml",
        ASKED.replace("[invoice, house]", "[invoice, house, sort]"),
    );
    assert_eq!(
        listed(&decision(&project)),
        ["asked: context: the context contains /data/"]
    );
    // An expectation whose limit is reversed under `not` is compared as a whole.
    let negated = ASKED.replace("- max_tokens: 400", "- not: {max_tokens: 4}");
    let project = with(&[("scenarios/asked.yaml", &negated)]);
    project.write_file(
        "scenarios/asked.yaml",
        negated.replace("max_tokens: 4}", "max_tokens: 3}"),
    );
    assert_eq!(
        listed(&decision(&project)),
        ["asked: answer: not (at most 4 tokens in and out)"]
    );
}

/// Renames the task, as the editor does.
fn rename(project: &Project) {
    replace(
        project,
        "templates/triage.xml",
        "name=\"triage\"",
        "name=\"sorting\"",
    );
    for scenario in ["scripted", "recorded"] {
        replace(
            project,
            &format!("scenarios/{scenario}.yaml"),
            "task: triage",
            "task: sorting",
        );
    }
}

#[test]
fn a_task_with_another_name_is_the_same_task_and_held_to_the_same() {
    let project = branch();
    rename(&project);
    let run = project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    run.stdout_contains("note: the task `triage` is called `sorting` now");
    // In a file of another name, too.
    std::fs::rename(
        project.path("templates/triage.xml"),
        project.path("templates/sorting.xml"),
    )
    .unwrap();
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    // The base's expectations still count.
    replace(
        &project,
        "scenarios/scripted.yaml",
        "  - contains: [invoice]\n",
        "",
    );
    assert_eq!(
        listed(&decision(&project)),
        ["scripted: context: the context contains /invoice/"]
    );
    // With other words it is another task, and so is a new task beside it that keeps the old name.
    let project = branch();
    rename(&project);
    replace(
        &project,
        "templates/triage.xml",
        "of the house",
        "of this house",
    );
    assert!(listed(&decision(&project)).contains(&"scripted: frozen situation".to_owned()));
    let project = branch();
    project.write_file(
        "templates/other.xml",
        TASK.replace("\"triage\"", "\"sorting\"")
            .replace("of the house", "of this house"),
    );
    replace(
        &project,
        "scenarios/recorded.yaml",
        "task: triage",
        "task: sorting",
    );
    assert_eq!(listed(&decision(&project)), ["recorded: frozen situation"]);
}

#[test]
fn the_name_of_another_scenario_is_no_place_for_one() {
    let project = branch();
    std::fs::remove_file(project.path("scenarios/recorded.yaml")).unwrap();
    replace(
        &project,
        "scenarios/scripted.yaml",
        "name: scripted",
        "name: recorded",
    );
    let run = project.run(&["gate"]).exits_with(4).stdout_contains(
        "expectation of `scripted`: the scenario: it is gone (scenarios/scripted.yaml)",
    );
    assert_eq!(
        run.stdout
            .lines()
            .filter(|line| line.contains("`scripted`"))
            .count(),
        1,
        "{}",
        run.stdout
    );
    let violated = decision(&project)["violated_thresholds"]
        .as_array()
        .unwrap()
        .clone();
    assert!(
        violated
            .iter()
            .any(|one| one["name"] == "missing_case" && one["case"] == "scripted"),
        "{violated:?}"
    );
}

#[test]
fn a_context_that_grew_is_placed_in_the_file_whose_text_grew() {
    const ROLE: &str = "\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n\n[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n";
    let config = format!("{CONFIG}{ROLE}");
    let filed = format!("{config}system = {{ file = \"sys.md\" }}\n");
    let inline = format!("{config}system = \"Be kind.\"\n");
    let long =
        "Be kind, and quick, and precise, and brief, and never tired of all of it, whatever comes.";
    for (config, path) in [
        (&filed, "sys.md"),
        (&inline, "ctxc.toml"),
        (&filed, "templates/triage.xml"),
    ] {
        let project = with(&[("ctxc.toml", config), ("sys.md", "Be kind.")]);
        match path {
            "templates/triage.xml" => replace(&project, path, "of the house", long),
            path => replace(&project, path, "Be kind.", long),
        }
        project
            .run(&["gate"])
            .exits_with(4)
            .stdout_contains("tokens known before a run: ")
            .stdout_contains(&format!(" ({path})"));
    }
}

#[test]
fn a_file_that_is_no_longer_read_is_listed_with_the_reason() {
    let json = "{\"schema\": \"ctxc/scenario/1\", \"name\": \"j\", \"task\": \"triage\", \"context\": {\"objective\": \"sort\", \"inputs\": {\"ticket\": \"q\"}}, \"expect_context\": [{\"contains\": [\"q\"]}]}";
    let start = || with(&[("scenarios/j.json", json)]);
    let unread = "threshold of `scenarios/j.json`: file: read → there, and not read: ";
    let project = start();
    replace(
        &project,
        "scenarios/j.json",
        "\"schema\": \"ctxc/scenario/1\", ",
        "",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains(&format!("{unread}it is no longer a scenario"));
    let project = with(&[(
        "templates/other.xml",
        &TASK.replace("name=\"triage\"", "name=\"other\""),
    )]);
    project.write_file("templates/.ignore", "other.xml\n");
    project.run(&["gate"]).stdout_contains(
        "`templates/other.xml`: file: read → there, and not read: an ignore file names it",
    );
    let project = start();
    replace(
        &project,
        "ctxc.toml",
        "[eval]\n",
        "[eval]\nscenarios = [\"scenarios/*.yaml\"]\n",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains(&format!("{unread}ctxc.toml no longer names its place"));
}

#[test]
fn of_two_long_lines_the_part_is_shown_that_differs() {
    let project = with(&[]);
    git(&project, &["switch", "-q", "main"]);
    project.write_file(
        "scenarios/requests/sent.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    project.write_file(
        "scenarios/sent.yaml",
        "name: sent\nrequest: {file: 'requests/sent.jsonl#1'}\nexpect_context:\n  - contains: [invoice]\n",
    );
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "begin"]);
    replace(
        &project,
        "scenarios/requests/sent.jsonl",
        "\"content\":\"billing\"",
        "\"content\":\"access\"",
    );
    let run = project.run(&["gate"]);
    let shown: Vec<&str> = run
        .stdout
        .lines()
        .filter(|line| line.trim_start().starts_with(['-', '+']))
        .collect();
    assert!(
        matches!(shown.as_slice(), [old, new] if old.contains("billing") && new.contains("access")),
        "{}",
        run.stdout
    );
}

#[test]
fn a_role_that_has_another_name_and_nothing_else_is_the_same_role() {
    let project = branch();
    let config = project.read_file("ctxc.toml");
    let role = "\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n\n[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\nsystem = \"Be kind.\"\n";
    project.write_file("ctxc.toml", format!("{config}{role}"));
    project.write_file(
        "scenarios/clerk.yaml",
        SCRIPTED
            .replace("name: scripted", "name: clerk")
            .replace("task: triage", "role: clerk")
            .replace("  - snapshot: true\n", ""),
    );
    commit(&project);
    base(&project);
    replace(&project, "ctxc.toml", "[roles.clerk]", "[roles.agent]");
    replace(
        &project,
        "scenarios/clerk.yaml",
        "role: clerk",
        "role: agent",
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("the role `clerk` is called `agent` now")
        .stdout_contains("nothing is loosened");
    replace(&project, "ctxc.toml", "Be kind.", "Be quick.");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("frozen situation");
}
