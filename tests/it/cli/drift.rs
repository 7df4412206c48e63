//! `ctxc drift`: decay in the history, in words and as JSON.

use super::project::Project;
use serde_json::{Value, json};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n</task>\n";
const NAMES: [&str; 6] = ["changed", "failing", "planning", "quiet", "slow", "wordy"];

/// A case of a run: 15 of them, of which the last five differ.
fn case(name: &str, run: u64) -> Value {
    let is_late = run >= 10;
    let is = |what: &str| is_late && name == what;
    let noise = run % 3;
    let tokens = if is("wordy") { 160 } else { 100 } + noise + if is("changed") { 90 } else { 0 };
    let latency = if is("slow") { 900 } else { 500 } + 10 * noise;
    let verdict = if is("failing") { "fail" } else { "pass" };
    let model = if is("changed") { "large" } else { "small" };
    let trials: Vec<Value> = (1..=2)
        .map(|index| {
            json!({"index": index, "verdict": verdict, "tokens_in": tokens, "tokens_out": 10, "cost_usd": null,
                "latency_ms": latency, "decomposes": name == "planning" && run >= 13})
        })
        .collect();
    json!({"id": name, "key": "k", "context_hash": "b3:c", "provider": "acme", "model": model, "live": true, "verdict": verdict,
        "trials": trials, "result": null})
}

/// A project with a history that contains decay.
pub(crate) fn planted() -> Project {
    let mut project = Project::new().with_file("templates/triage.xml", TASK);
    for name in NAMES {
        let text = format!(
            "name: {name}\ntask: triage\ncontext: {{objective: sort}}\nexpect_context: [{{nothing_cut: true}}]\n"
        );
        project = project.with_file(&format!("scenarios/{name}.yaml"), text);
    }
    let line = |run: u64| {
        // A removed scenario has no drift.
        let gone = case("wordy", run);
        let gone = json!({"id": "gone", "key": "k", "context_hash": "b3:c", "provider": "acme", "model": "small", "live": true,
            "verdict": "pass", "trials": gone["trials"], "result": null});
        let cases: Vec<Value> = NAMES
            .iter()
            .map(|name| case(name, run))
            .chain([gone])
            .collect();
        let head = json!({"id": format!("r{run}"), "order": run, "at": "2026-11-23T17:00:00Z", "tool": "0.1.0", "mode": "real",
            "registry_hash": "b3:r", "selection": "b3:s", "planned": 6, "finished": true, "calls": 12, "tokens": 1, "cost_usd": 0.0,
            "cases": 6, "passed": 6});
        json!({"schema": "ctxc/history/1", "runs": [head], "cases": cases}).to_string() + "\n"
    };
    project.write_file("runs.jsonl", (0..15).map(line).collect::<String>());
    project
        .run(&["history", "import", "runs.jsonl"])
        .exits_with(0)
        .stderr_contains("15 runs imported");
    project
}

#[test]
fn each_signal_is_found_and_reported_with_its_figures() {
    let project = planted();
    let run = project.run(&["drift"]).exits_with(1);
    run.stdout_contains("wordy: token inflation: 171 tokens in the last 5 runs, 111 in the 10 runs before (+54 %")
        .stdout_contains("slow: latency regression: 910 ms in the last 5 runs, 510 ms in the 10 runs before (+78 %")
        .stdout_contains("planning: decomposition shift: the answers of the last 2 runs split their work, and none of the 10 runs before did; acme, small\n")
        .stdout_contains("failing: pass-rate degradation: it failed in the last 5 runs, and passed in 100 % of the 10 runs before; acme, small\n")
        .stdout_contains("changed: token inflation: 201 tokens in the last 5 runs")
        .stdout_contains("; acme, large; since then the model or the context is another\n")
        .stdout_contains("6 scenarios with answers in the history, 6 with enough runs to compare: 4 signals, 1 with a change of model or context\n")
        .output_lacks("quiet: ")
        .output_lacks("gone");
    let found = project.run(&["drift", "--json"]).exits_with(1).json();
    assert!(
        found["findings"]
            .as_array()
            .unwrap()
            .iter()
            .all(|finding| finding["pattern"] == "ContextDrift")
    );
    // A change that came with another model ends no run.
    project
        .run(&["drift", "changed", "quiet"])
        .exits_with(0)
        .stdout_contains(
            "2 scenarios with answers in the history, 2 with enough runs to compare: 0 signals, 1",
        );
    project
        .run(&["drift", "qiet"])
        .exits_with(2)
        .stderr_contains("there is no scenario `qiet`")
        .stderr_contains("did you mean `quiet`?");
    project.write_file(
        "ctxc.toml",
        "[eval.drift]\ntoken_inflation = 0.6\nlatency_regression = 2.0\nbatches = 6\n",
    );
    project
        .run(&["drift"])
        .exits_with(1)
        .output_lacks("wordy")
        .output_lacks("slow")
        .output_lacks("failing")
        .stdout_contains("planning");
    project.write_file("ctxc.toml", "[eval.drift]\nwindow = 12\n");
    project
        .run(&["drift"])
        .exits_with(1)
        .stdout_contains("0 with enough runs to compare")
        .stderr_contains("needs at least 5 runs before the last ones");
}

#[test]
fn without_a_history_nothing_drifts() {
    let project = Project::new().with_file("templates/triage.xml", TASK);
    project
        .run(&["drift"])
        .exits_with(0)
        .stdout_contains("0 scenarios with answers in the history");
    let project = project
        .with_file("ctxc.toml", "[history]\npath = \"a.db\"\n")
        .with_file("a.db", "no database, but a text");
    project
        .run(&["drift"])
        .exits_with(3)
        .stderr_contains("it is not a history of ctxc");
}
