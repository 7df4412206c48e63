//! Scenarios in parts, and their scorecards put together again.

use super::project::Project;
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;
use std::fmt::Write;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n</task>\n";

fn sample() -> Project {
    let mut suite = "id: many\ndefaults: {task: triage}\ncases:\n".to_owned();
    for number in 0..25 {
        let reply = if number % 7 == 0 { "access" } else { "billing" };
        writeln!(suite, "  - {{id: c{number}, input: {{objective: sort}}, expected: [{{contains: [billing]}}], answers: [{{reply: {reply}}}]}}")
            .unwrap();
    }
    let table = "id: rows\ndefaults: {task: triage, context: {objective: sort}, expect_context: [{nothing_cut: true}]}\ncases_from: rows.csv\n";
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/many.yaml", suite)
        .with_file("scenarios/rows.yaml", table)
        .with_file("scenarios/rows.csv", "id,objective\nb,x\na,y\nc,z\n")
        .with_file("scenarios/unread.yaml", "name: [\n")
}

/// Runs all parts and merges them.
fn merged(project: &Project, parts: usize) -> String {
    let names: Vec<String> = (1..=parts)
        .map(|part| format!("part-{parts}-{part}.json"))
        .collect();
    for (part, name) in names.iter().enumerate() {
        let run = project.run(&[
            "eval",
            "--shard",
            &format!("{}/{parts}", part + 1),
            "--out",
            name,
        ]);
        assert!(matches!(run.code, Some(0 | 1 | 3)), "{run:#?}");
    }
    let files = names.iter().map(String::as_str).rev();
    project
        .run(
            &["scorecard", "merge", "--format", "json"]
                .into_iter()
                .chain(files)
                .collect::<Vec<_>>(),
        )
        .exits_with(0)
        .stdout
}

#[test]
fn the_scorecards_of_all_parts_are_that_of_one_run() {
    let project = sample();
    let whole = project.run(&["eval", "--json"]).stdout;
    for parts in [1, 2, 7, 60] {
        assert_eq!(merged(&project, parts), whole, "{parts}");
    }
    let text = project.run(&["eval"]).stdout;
    assert_eq!(
        project
            .run(&["scorecard", "merge", "part-2-1.json", "part-2-2.json"])
            .exits_with(0)
            .stdout,
        text
    );
    // One that is added moves no other.
    let names = |project: &Project| -> BTreeSet<String> {
        let card = project.run(&["eval", "--shard", "2/3", "--json"]).json();
        card["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| case["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = names(&project);
    project.write_file("scenarios/rows.csv", "id,objective\nnew,w\nb,x\na,y\nc,z\n");
    let after = names(&project);
    assert!(
        before.is_subset(&after) && after.len() <= before.len() + 1,
        "{before:?} {after:?}"
    );
}

#[test]
fn what_is_of_different_runs_is_not_merged() {
    let project = sample();
    project.run(&["eval", "many", "--shard", "1/2", "--out", "one.json"]);
    project.run(&["eval", "many", "--shard", "2/2", "--out", "two.json"]);
    let merge = |files: &[&str]| project.run(&[&["scorecard", "merge"], files].concat());
    merge(&["one.json", "two.json", "one.json"]).exits_with(0);
    merge(&["one.json"])
        .exits_with(2)
        .stderr_contains("part 2 of 2 is missing")
        .stderr_contains("run every shard");
    merge(&["two.json", "two.json"])
        .exits_with(2)
        .stderr_contains("part 1 of 2 is missing");
    project.run(&["eval", "many", "--shard", "3/3", "--out", "three.json"]);
    merge(&["one.json", "two.json", "three.json"])
        .exits_with(2)
        .stderr_contains("one.json is one of 2 parts, and three.json one of 3");
    project.write_file(
        "edited.json",
        project
            .read_file("one.json")
            .replace("\"pass\"", "\"fail\""),
    );
    merge(&["one.json", "two.json", "edited.json"])
        .exits_with(2)
        .stderr_contains("one.json and edited.json both have `many/")
        .stderr_contains("with different results");
    merge(&["one.json", "scenarios/rows.csv"])
        .exits_with(2)
        .stderr_contains("scenarios/rows.csv is not a scorecard: expected a file with the schema");
    merge(&["one.json", "nowhere.json"])
        .exits_with(2)
        .stderr_contains("nowhere.json cannot be read: it does not exist");
    merge(&[]).exits_with(2);
    project.write_file("templates/triage.xml", TASK.replace("Sort", "Order"));
    project.run(&["eval", "many", "--shard", "2/2", "--out", "two.json"]);
    merge(&["one.json", "two.json"])
        .exits_with(2)
        .stderr_contains("one.json and two.json are of different runs: the registry is b3:");
    for wrong in ["0/2", "3/2", "1", "a/b", "1/0"] {
        project
            .run(&["eval", "--shard", wrong])
            .exits_with(2)
            .stderr_contains("expected I/N, such as 1/4 for the first of four");
    }
}
