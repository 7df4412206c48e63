//! Interrupted runs resume at their last case, and verdicts of unchanged scenarios are reused.

use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use serde_json::Value;
use std::fmt::Write;
use std::time::{Duration, Instant};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n</task>\n";
const CASES: usize = 240;

/// A suite of many cases, of which some fail.
fn suite() -> Project {
    let mut suite = "id: many\ndefaults: {task: triage}\ncases:\n".to_owned();
    for number in 0..CASES {
        let reply = if number % 7 == 0 { "access" } else { "billing" };
        writeln!(
            suite,
            "  - {{id: c{number}, input: {{objective: sort {number}}}, expected: [{{contains: [billing]}}], answers: [{{reply: {reply}}}]}}"
        )
        .unwrap();
    }
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/many.yaml", suite)
}

/// The runs that are kept, and the cases of the last.
fn stored_runs(project: &Project) -> (Vec<Value>, Vec<Value>) {
    let list = project
        .run(&["history", "list", "--json"])
        .exits_with(0)
        .json()["runs"]
        .as_array()
        .unwrap()
        .clone();
    let cases = if list.is_empty() {
        Vec::new()
    } else {
        project
            .run(&["history", "show", "last", "--json"])
            .exits_with(0)
            .json()["cases"]
            .as_array()
            .unwrap()
            .clone()
    };
    (list, cases)
}

/// Kills runs at random moments and resumes them.
fn kills(rounds: u32) {
    let project = suite();
    project.run(&["eval"]).exits_with(1);
    let started = Instant::now();
    let whole = project
        .run(&["eval", "--no-history", "--json"])
        .exits_with(1)
        .stdout;
    let mut time = started.elapsed();
    let (mut seed, mut half, mut known) = (2026_u64, 0, 1);
    for round in 0..rounds {
        let mut child = project
            .command(&["eval", "--json"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(
            (seed >> 33) % (time.as_micros() as u64 * 5 / 4),
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        let (runs, done) = stored_runs(&project);
        let is_open = runs.last().is_some_and(|run| run["finished"] == false);
        let resumed = project.run(&["eval", "--resume", "--json"]).exits_with(1);
        assert_eq!(resumed.stdout, whole, "round {round}");
        if is_open {
            // Cases stored before the kill are not run again.
            resumed.stderr_contains(&format!(
                "{} scenario{} finished before",
                done.len(),
                if done.len() == 1 { "" } else { "s" }
            ));
            half += u32::from(!done.is_empty() && done.len() < CASES);
        } else {
            resumed.stderr_contains("no interrupted run of these scenarios: starting a new one");
            // The first run may have been slow: kills that come too late are of no use.
            if runs.len() > known {
                time = time * 3 / 4;
            }
        }
        let (after, cases) = stored_runs(&project);
        known = after.len();
        let last = after.last().unwrap();
        assert_eq!(
            (&last["finished"], &last["cases"], &last["planned"]),
            (&true.into(), &CASES.into(), &CASES.into()),
            "{round}"
        );
        assert_eq!(after.len(), runs.len() + usize::from(!is_open));
        let trials: usize = cases
            .iter()
            .map(|case| case["trials"].as_array().unwrap().len())
            .sum();
        assert_eq!((cases.len(), trials), (CASES, CASES * 2), "round {round}");
    }
    assert!(
        half >= rounds / 10,
        "only {half} kills of {rounds} hit a run between two cases"
    );
}

#[test]
fn a_killed_run_continues_and_runs_each_case_once() {
    kills(12);
}

#[test]
#[ignore = "needs kills: 300 of them take minutes"]
fn three_hundred_kills_lose_nothing() {
    kills(300);
}

/// An interrupted run: the last one of a project, with some of its cases.
fn broken_off(project: &Project) -> String {
    project.run(&["eval"]).exits_with(1);
    let lines = project
        .run(&["history", "export", "-"])
        .exits_with(0)
        .stdout;
    let mut line: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    project
        .run(&["history", "prune", "--keep", "0"])
        .exits_with(0);
    line["runs"][0]["finished"] = false.into();
    line["cases"].as_array_mut().unwrap().truncate(40);
    project.write_file("half.jsonl", line.to_string());
    project
        .run(&["history", "import", "half.jsonl"])
        .exits_with(0);
    line["runs"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn only_what_is_the_same_is_taken_from_a_run_that_was_broken_off() {
    let project = suite();
    let resume = |args: &[&str]| project.run(&[&["eval", "--resume"], args].concat());
    broken_off(&project);
    resume(&[])
        .exits_with(1)
        .stderr_contains("40 scenarios finished before, not run again")
        .stdout_contains("240 scenarios: 205 passed, 35 failed");
    // Cases edited since are run again, in the same run.
    let id = broken_off(&project);
    let text = project.read_file("scenarios/many.yaml");
    project.write_file(
        "scenarios/many.yaml",
        text.replace("sort 11}", "sort this}"),
    );
    resume(&[])
        .exits_with(1)
        .stderr_contains(": 39 scenarios finished before, not run again")
        .stdout_contains("240 scenarios");
    let named = format!("--resume={id}");
    project
        .run(&["eval", &named])
        .exits_with(2)
        .stderr_contains("is complete: nothing is left to run");
    project
        .run(&["eval", "--resume=x"])
        .exits_with(2)
        .stderr_contains("there is no run `x`");
    // Another selection or registry is another run.
    project.write_file("scenarios/many.yaml", text);
    let id = broken_off(&project);
    resume(&["many/c1"])
        .exits_with(0)
        .stderr_contains("no interrupted run of these scenarios")
        .stdout_contains("1 scenario: 1 passed");
    let named = format!("--resume={id}");
    project
        .run(&["eval", "many/c1", &named])
        .exits_with(2)
        .stderr_contains("had other scenarios, another registry or other options");
    project.write_file("templates/triage.xml", TASK.replace("Sort", "Order"));
    resume(&[])
        .exits_with(1)
        .stderr_contains("no interrupted run of these scenarios")
        .stdout_contains("240 scenarios");
    project
        .run(&["eval", "--resume", "--no-history"])
        .exits_with(2);
    // Without a usable history no run can be resumed.
    let mut command = project.command(&["eval", "--resume"]);
    command.env("XDG_STATE_HOME", project.path("half.jsonl"));
    ProgramRun::from(command.output().unwrap())
        .exits_with(3)
        .stderr_contains("no folder outside the project to keep runs in");
}

#[test]
fn verdicts_of_unchanged_cases_come_from_the_history() {
    let project = suite();
    super::eval::commit(&project);
    let affected = || project.run(&["eval", "--affected", "--json"]);
    // Their end is unknown.
    assert_eq!(
        affected().exits_with(0).json()["cases"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let whole = project.run(&["eval", "--json"]).exits_with(1).json();
    let text = project.read_file("scenarios/many.yaml");
    project.write_file("scenarios/many.yaml", text.replace("sort 1}", "sort this}"));
    let card = affected().exits_with(1).json();
    let summary = &card["summary"];
    // The one that changed was run, and so were those that failed.
    assert_eq!(
        (&summary["planned"], &summary["passed"], &summary["carried"]),
        (&240.into(), &205.into(), &204.into())
    );
    for case in card["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| !case["carried_from"].is_null())
    {
        assert_eq!(
            (&case["verdict"], &case["carried_from"]),
            (&"pass".into(), &whole["registry_hash"])
        );
    }
    let (runs, cases) = stored_runs(&project);
    assert_eq!((runs.len(), cases.len()), (2, 36));
}
