//! The schema of scenarios: fresh, and equal to the reader on sound files.

use super::scenario_page;
use crate::cli::project::Project;
use crate::support::fresh::assert_fresh;
use ctxc::internals::scenario::read_suite;
use ctxc::internals::schema::scenario::scenario_schema;
use ctxc::internals::syntax::yaml;

const WHOLE: &str = include_str!("../scenario/whole.yaml");

#[test]
fn the_file_is_fresh() {
    assert_fresh("schema/scenario.schema.json", &scenario_schema());
}

/// Changes of a sound scenario; true if it stays sound.
const CHANGES: &[(&str, &str, bool)] = &[
    ("name: triage of a refund", "name: 5", false),
    ("name: triage of a refund\n", "", false),
    ("task: triage", "role: triage", true),
    ("task: triage", "task: triage\nrole: triage", false),
    ("task: triage\n", "", false),
    ("context:\n", "input:\n", true),
    ("task_id: 1.10", "task_id: a", true),
    ("  objective: |", "  objectiv: |", false),
    ("risk_level: medium", "risk_level: mid", false),
    ("state: kept", "state: keep", false),
    (
        "segment: {id: input:ticket, state: kept}",
        "segment: {id: input:ticket, kind: file, state: kept}",
        false,
    ),
    ("absent: secret", "absent: []", false),
    (
        "order: [description, input:ticket]",
        "order: [description]",
        false,
    ),
    ("max: 4000, min: 1", "of: all", false),
    ("nothing_cut: true", "nothing_cut: yes", false),
    ("snapshot: true", "snapshot: false", false),
    (
        "name: accumulate_data, value: true",
        "name: accumulate_data, value: 'true'",
        true,
    ),
    (
        "name: accumulate_data, value: true",
        "name: accumulate_data, value: full",
        false,
    ),
    ("max_risk: high", "max_risk: 3", false),
    ("max_tokens: 2000", "max_tokens: 0", false),
    ("schema: schema.json", "schema: 4", false),
    (
        "judge: {criteria: [polite, brief], min_score: 4}",
        "judge: {criteria: [], min_score: 4}",
        false,
    ),
    (
        "command: [python3, check.py]",
        "command: python3 check.py",
        false,
    ),
    ("gate: false", "gate: maybe", false),
    ("rule: {runs: 5", "runs: 5\nrule: {runs: 5", false),
    ("rule: {runs: 5", "rule: {runs: 0", false),
    ("confirm: {runs: 10, pass: 7}", "confirm: {runs: 10}", false),
    (
        "usage: {input: 900, output: 40}",
        "usage: {input: 900}",
        false,
    ),
    ("  - reply: no", "  - when: {has: x}", false),
    ("reviewed: 2026-02-28", "reviewed: someday", false),
    ("tags: [refunds, smoke]", "tags: []", true),
    ("tags: [refunds, smoke]", "tags: [5]", false),
    (
        "memory:\n    - {id: refunds, text: Refunds take two days.}",
        "memory: {refunds: Refunds take two days.}",
        true,
    ),
    (
        "memory:\n    - {id: refunds, text: Refunds take two days.}",
        "memory: [{id: refunds}]",
        false,
    ),
];

/// Texts of suites; true for a sound one.
const SUITES: &[(&str, bool)] = &[
    (
        "id: s\ncases: [{id: 1, task: t, input: {objective: x}, expected: [{contains: x}]}]\n",
        true,
    ),
    (
        "id: s\ndefaults: {task: t, context: {objective: x}, expectations: [{contains: x}]}\ncases: [{id: a}]\n",
        true,
    ),
    (
        "id: s\nversion: 1.10\nfixtures: {memory: {a: b}, tools: {t: 1}}\ncases_from: a.csv\n",
        true,
    ),
    ("id: s\ncases: []\n", false),
    ("id: s\ndefaults: {task: t}\n", false),
    ("id: s\ndefaults: {id: t}\ncases: []\n", false),
    (
        "id: s\ncases: [{task: t, input: {objective: x}, expected: [{contains: x}]}]\n",
        false,
    ),
    ("cases: []\n", false),
    ("id: s\ntask: t\ncases: []\n", false),
];

#[test]
fn reader_and_schema_agree() {
    let schema: serde_json::Value = serde_json::from_str(&scenario_schema()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let hold = |text: &str, is_sound: bool| {
        let (_, faults) = read_suite("a.yaml", text);
        assert_eq!(
            faults.is_empty(),
            is_sound,
            "the reader: {faults:?} in\n{text}"
        );
        let errors: Vec<String> = schema
            .iter_errors(&yaml::parse_tree(text).0.to_json())
            .map(|error| error.to_string())
            .collect();
        assert_eq!(
            errors.is_empty(),
            is_sound,
            "the schema: {errors:?} in\n{text}"
        );
    };
    hold(WHOLE, true);
    for (from, to, is_sound) in CHANGES {
        assert!(WHOLE.contains(from), "{from}");
        hold(&WHOLE.replacen(from, to, 1), *is_sound);
    }
    for (text, is_sound) in SUITES {
        hold(text, *is_sound);
    }
}

#[test]
fn the_page_is_fresh_and_its_example_sound() {
    assert_fresh("docs/SCENARIOS.md", &scenario_page::markdown());
    let task = "<task type=\"atomic\" name=\"triage\">\n  <description>sort it</description>\n  <inputs><input name=\"ticket\" from=\"ticket\"/></inputs>\n</task>\n";
    let project = Project::new()
        .with_file("triage.xml", task)
        .with_file("scenarios/refund.yaml", scenario_page::EXAMPLE);
    let output = project
        .command(&["check"])
        .env("SOURCE_DATE_EPOCH", "1795219200")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(
        printed.starts_with("checked 2 files") && !printed.contains("warning"),
        "{printed}"
    );
}
