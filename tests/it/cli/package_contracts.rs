//! Contracts of consumers: what they expect of a package, held to it before it is published.

use super::eval_record::{asked, completion, upstream};
use super::gate::{commit, git, recorded, replace};
use super::project::{ProgramRun, Project, command_in};
use ctxc::internals::package::contract::Contract;
use ctxc::internals::package::surface::Surface;
use ctxc::internals::package::surface_diff::{SurfaceChange, compare_surfaces};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

const CONFIG: &str = "edition = \"2026\"\n\n[lints]\nno-context = \"warning\"\n\n[package]\nname = \"acme/rules\"\nversion = \"1.0.0\"\nexports = [\"tasks/triage\"]\n\n\
    [[package.consumers]]\nsource = \"path:shop\"\n";
const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}</description>\n  \
    <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <output_format type=\"json\" schema=\"answer.json\"/>\n</task>\n";
const SCHEMA: &str = r#"{"type": "object", "required": ["team", "urgent"], "properties": {"team": {"enum": ["billing", "data"]}, "urgent": {"type": "boolean"}}}"#;
const SHAPE: &str = "name: shape\ntask: acme/rules/triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - tokens: {max: 400}\n\
    expectations:\n  - schema: {type: object, required: [team], properties: {team: {enum: [billing, data]}}}\n";
const BEHAVIOUR: &str = "name: behaviour\ntask: acme/rules/triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nruns: 1\npass_threshold: 1\n\
    expectations:\n  - field_matches: {path: $.team, pattern: ^billing$}\n";
const MODEL: &str = "[models.small]\nid = \"small\"\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 8000\n\
    usd_per_million = { input = 1.0, output = 10.0 }\n[providers.house]\nkind = \"openai\"\nbase_url = \"http://localhost:1\"\n";
const CONTRACT: &str = "shop/contracts/acme/rules/shape.yaml";

/// A package with a consumer in a folder below it.
pub(crate) fn package() -> Project {
    Project::new()
        .with_file("ctxc.toml", CONFIG)
        .with_file("templates/triage.xml", TASK)
        .with_file("templates/answer.json", SCHEMA)
        .with_file(CONTRACT, SHAPE)
}

fn can_publish(project: &Project) -> ProgramRun {
    project.run(&["package", "can-publish"])
}

fn verdicts(project: &Project) -> Vec<(String, String, Value)> {
    let text = project.read_file("contracts/MATRIX.jsonl");
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        (word("contract"), word("verdict"), row["passed"].clone())
    };
    text.lines().map(row).collect()
}

#[test]
fn a_kept_contract_is_a_row_and_a_broken_one_stops_the_release() {
    let project = package();
    git(&project, &["init", "-q"]);
    commit(&project);
    git(&project, &["tag", "v1.0.0"]);
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("acme/rules 1.0.0: 1 contract of consumers: 1 kept");
    let first = project.read_file("contracts/MATRIX.jsonl");
    can_publish(&project).exits_with(0);
    assert_eq!(project.read_file("contracts/MATRIX.jsonl"), first);
    replace(&project, "ctxc.toml", "1.0.0", "1.1.0");
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    let run = can_publish(&project).exits_with(4);
    assert_eq!(
        run.stdout,
        "acme/rules 1.1.0 breaks a contract of shop, which 1.0.0 kept\n  \
         contract: “shape” in contracts/acme/rules/shape.yaml\n  \
         why: contracts/acme/rules/shape.yaml:7: its answer may break the schema: $.team: it may be \"legal\"\n  \
         changed since v1.0.0: OUTPUT tasks/triage: `team`: it may be \"legal\"\n  \
         changed since v1.0.0: OUTPUT tasks/triage: `team`: it is never \"data\" any more\n\
         acme/rules 1.1.0: 1 contract of consumers: 0 kept, 1 broken\n"
    );
    // Each change is listed, that of the reason first.
    replace(
        &project,
        "templates/answer.json",
        "[\"team\", \"urgent\"]",
        "[\"team\"]",
    );
    can_publish(&project).exits_with(4).stdout_contains(
        "  changed since v1.0.0: OUTPUT tasks/triage: `team`: it may be \"legal\"\n  \
         changed since v1.0.0: OUTPUT tasks/triage: `team`: it is never \"data\" any more\n  \
         changed since v1.0.0: OUTPUT tasks/triage: `urgent`: it may be absent\n",
    );
    // A second run, or another version, does not forget that it was kept.
    replace(&project, "ctxc.toml", "1.1.0", "1.2.0");
    can_publish(&project).exits_with(4);
    let rows: Vec<_> = verdicts(&project).into_iter().map(|row| row.1).collect();
    assert_eq!(rows, ["pass", "broken", "broken"]);
    replace(&project, "templates/answer.json", "\"legal\"]", "\"data\"]");
    can_publish(&project).exits_with(0);
}

#[test]
fn an_edit_leaves_the_rows_of_the_released_version() {
    for tag in ["v1.0.0", "1.0.0", "rules/v1.0.0"] {
        let project = package();
        git(&project, &["init", "-q"]);
        commit(&project);
        git(&project, &["tag", tag]);
        can_publish(&project)
            .exits_with(0)
            .output_lacks("your changes");
        let released = project.read_file("contracts/MATRIX.jsonl");
        replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
        can_publish(&project)
            .exits_with(4)
            .stdout_contains(
                "acme/rules 1.0.0 breaks a contract of shop, which the released 1.0.0 kept\n",
            )
            .stdout_contains("your changes after v1.0.0: raise `version` in ctxc.toml");
        assert_eq!(project.read_file("contracts/MATRIX.jsonl"), released);
    }
}

#[test]
fn an_accepted_break_is_logged_until_the_contract_is_kept_again() {
    let project = package();
    git(&project, &["init", "-q"]);
    can_publish(&project).exits_with(0);
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    let accept = |consumer: &str, reason: &str| {
        let args = [
            "package",
            "can-publish",
            "--accept",
            consumer,
            "--reason",
            reason,
        ];
        let mut command = project.command(&args);
        command.env("GIT_AUTHOR_EMAIL", "lead@example.org");
        ProgramRun::from(command.output().unwrap())
    };
    accept("bank", "why").exits_with(2);
    accept("shop", " ").exits_with(2);
    accept("shop", "shop moves this week")
        .exits_with(0)
        .stdout_contains(
            "accepted by lead@example.org: “shape” of shop is broken: shop moves this week",
        )
        .stdout_contains("0 kept, 1 broken, accepted\n");
    let log = project.read_file("contracts/ACCEPTED.jsonl");
    assert!(log.contains("shop moves this week"), "{log}");
    let log: Value = serde_json::from_str(&log).unwrap();
    assert!(log["at"].as_str().unwrap().ends_with('Z'), "{log}");
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("  why: contracts/acme/rules/shape.yaml:");
    // Another fault of the same contract was accepted by no person.
    replace(
        &project,
        "templates/answer.json",
        "\"legal\"]",
        "\"press\"]",
    );
    can_publish(&project).exits_with(4);
    replace(&project, "templates/answer.json", "\"press\"]", "\"data\"]");
    replace(&project, "ctxc.toml", "1.0.0", "1.0.1");
    can_publish(&project).exits_with(0);
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    can_publish(&project).exits_with(4);
}

#[test]
fn an_acceptance_leaves_those_of_others_and_counts_only_by_an_accepter() {
    let project = package();
    git(&project, &["init", "-q"]);
    can_publish(&project).exits_with(0);
    let accept = |by: &str| {
        let args = ["--accept", "shop", "--reason", "agreed"];
        let mut command = project.command(&[&["package", "can-publish"], &args[..]].concat());
        command.env("GIT_AUTHOR_EMAIL", by);
        ProgramRun::from(command.output().unwrap())
    };
    let log = || project.read_file("contracts/ACCEPTED.jsonl");
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    accept("lead@example.org").exits_with(0);
    let first = log();
    accept("dev@example.org")
        .exits_with(0)
        .stdout_contains("accepted by lead@example.org")
        .stderr_contains("each break was accepted before: no line is added");
    assert_eq!(log(), first);
    replace(
        &project,
        "templates/answer.json",
        "\"legal\"]",
        "\"press\"]",
    );
    accept("dev@example.org").exits_with(0);
    assert!(log().starts_with(&first) && log().lines().count() == 2);
    // With accepters, only their lines are in force.
    let rule = "\n[eval.gate]\naccepters = [\"lead@example.org\"]\n";
    project.write_file("ctxc.toml", format!("{CONFIG}{rule}"));
    can_publish(&project).exits_with(4);
    let message = "dev@example.org may accept no broken contract: the `accepters` of ctxc.toml are lead@example.org";
    accept("dev@example.org")
        .exits_with(2)
        .stderr_contains(message);
    accept("lead@example.org")
        .exits_with(0)
        .stdout_contains("accepted by lead@example.org");
    assert_eq!(log().lines().count(), 3);
    replace(
        &project,
        "templates/answer.json",
        "\"press\"]",
        "\"legal\"]",
    );
    can_publish(&project).exits_with(0);
}

#[test]
fn a_contract_that_was_never_kept_only_warns_and_so_does_an_edited_one() {
    let project = package();
    replace(&project, CONTRACT, "[billing, data]", "[billing]");
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("pending: “shape” of shop");
    replace(&project, CONTRACT, "[billing]", "[billing, data]");
    can_publish(&project).exits_with(0);
    replace(&project, CONTRACT, "max: 400", "max: 1");
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("pending: “shape” of shop");
}

#[test]
fn the_screen_has_each_fault_once_and_a_text_behind_it() {
    let project = package();
    let texts = "name: texts\ntask: acme/rules/triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  \
        - tokens: {max: 400}\n  - contains: [Sort the ticket]\n";
    project.write_file(CONTRACT, texts);
    git(&project, &["init", "-q"]);
    can_publish(&project).exits_with(0);
    commit(&project);
    replace(&project, "templates/triage.xml", "Sort", "Order");
    let accepts = || {
        let args = [
            "package",
            "can-publish",
            "--accept",
            "shop",
            "--reason",
            "agreed",
        ];
        let mut command = project.command(&args);
        command.env("GIT_AUTHOR_EMAIL", "lead@example.org");
        ProgramRun::from(command.output().unwrap()).exits_with(0);
    };
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("changed since HEAD: TEXT tasks/triage");
    accepts();
    // The same fault in a longer text.
    replace(&project, "templates/triage.xml", "Order", "Please order");
    can_publish(&project).exits_with(0);
    let long = "Order each ticket by its team. ".repeat(80);
    replace(&project, "templates/triage.xml", "Please order", &long);
    let both = can_publish(&project)
        .exits_with(4)
        .stdout_contains("shape.yaml:5: its context has at least")
        .stdout_contains("shape.yaml:6: expected the context to contain");
    assert_eq!(both.stdout.matches("shape.yaml:5:").count(), 1);
}

#[cfg(unix)]
#[test]
fn a_consumer_has_the_name_of_its_link() {
    let project = package();
    std::fs::rename(project.path("shop"), project.path("store")).unwrap();
    std::os::unix::fs::symlink("store", project.path("shop")).unwrap();
    can_publish(&project).exits_with(0);
    let matrix = project.read_file("contracts/MATRIX.jsonl");
    assert!(matrix.contains("\"consumer\":\"shop\""), "{matrix}");
}

#[test]
fn a_day_of_review_makes_no_new_contract() {
    let project = package();
    can_publish(&project).exits_with(0);
    replace(
        &project,
        CONTRACT,
        "name: shape\n",
        "name: shape\nreviewed: 2026-11-29\ntags: [shape]\n",
    );
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    can_publish(&project).exits_with(4);
}

#[test]
fn an_unreadable_line_stops_the_run_and_is_not_written_over() {
    let project = package();
    git(&project, &["init", "-q", "-b", "main"]);
    can_publish(&project).exits_with(0);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    let matrix = project.read_file("contracts/MATRIX.jsonl");
    for (file, text, message) in [
        (
            "contracts/MATRIX.jsonl",
            format!("<<<<<<< HEAD\n{matrix}"),
            "contracts/MATRIX.jsonl:1: found no JSON",
        ),
        (
            "contracts/MATRIX.jsonl",
            matrix.replace("contract-matrix/1", "contract-matrix/2"),
            "contracts/MATRIX.jsonl:1: found `schema` \"ctxc/contract-matrix/2\"",
        ),
        (
            "contracts/ACCEPTED.jsonl",
            "\n{\"by\": \"lead@example.org\"}\n".to_owned(),
            "contracts/ACCEPTED.jsonl:2: found no `schema`",
        ),
    ] {
        project.write_file(file, &text);
        commit(&project);
        can_publish(&project).exits_with(2).stderr_contains(message);
        assert_eq!(project.read_file(file), text);
        let gate = project.run(&["gate", "--allow-empty"]);
        gate.exits_with(2).stderr_contains(message);
        project.write_file("contracts/MATRIX.jsonl", &matrix);
    }
    std::fs::remove_file(project.path("contracts/ACCEPTED.jsonl")).unwrap();
    can_publish(&project).exits_with(4);
    // A committed matrix that is gone makes no break a new contract.
    std::fs::remove_file(project.path("contracts/MATRIX.jsonl")).unwrap();
    can_publish(&project)
        .exits_with(2)
        .stderr_contains("contracts/MATRIX.jsonl is missing, and HEAD has it");
    assert!(!project.path("contracts/MATRIX.jsonl").exists());
}

#[test]
fn a_run_leaves_the_rows_of_other_consumers() {
    let project = package().with_file("other/bank/contracts/acme/rules/shape.yaml", SHAPE);
    let bank = ["package", "can-publish", "--consumer", "other/bank"];
    project.run(&bank).exits_with(0);
    can_publish(&project).exits_with(0);
    let matrix = project.read_file("contracts/MATRIX.jsonl");
    assert_eq!(matrix.lines().count(), 2, "{matrix}");
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    project
        .run(&bank)
        .exits_with(4)
        .stdout_contains("a contract of bank, which 1.0.0 kept");
}

#[test]
fn a_contract_that_is_away_for_a_run_keeps_its_row() {
    let project = package();
    can_publish(&project).exits_with(0).output_lacks("gone");
    let gone = "gone: “shape” of shop in contracts/acme/rules/shape.yaml, which 1.0.0 kept; contracts/MATRIX.jsonl keeps its row\n";
    std::fs::remove_file(project.path(CONTRACT)).unwrap();
    project.write_file(
        "shop/contracts/acme/rules/other.yaml",
        SHAPE.replace("name: shape\n", "name: other\n"),
    );
    can_publish(&project).exits_with(0).stdout_contains(gone);
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    project.write_file(CONTRACT, SHAPE);
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("contract: “shape” in")
        .output_lacks("gone: ");
    // Another version does not know it any more.
    std::fs::remove_file(project.path(CONTRACT)).unwrap();
    replace(&project, "ctxc.toml", "1.0.0", "1.1.0");
    can_publish(&project).stdout_contains(gone);
    can_publish(&project).stdout_contains(gone);
    // In another file it is the same contract.
    project.write_file("shop/contracts/acme/rules/moved.yaml", SHAPE);
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("contract: “shape” in contracts/acme/rules/moved.yaml")
        .output_lacks("gone: ");
}

#[test]
fn a_consumer_that_is_not_listed_any_more_leaves_the_matrix() {
    let project = package().with_file("other/bank/contracts/acme/rules/shape.yaml", SHAPE);
    let bank = "[[package.consumers]]\nsource = \"path:other/bank\"\n";
    project.write_file("ctxc.toml", format!("{CONFIG}{bank}"));
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("2 kept");
    project.write_file("ctxc.toml", CONFIG);
    let message = "no consumer any more, and removed from contracts/MATRIX.jsonl: ";
    can_publish(&project)
        .exits_with(0)
        .stdout_contains(&format!("{message}bank\n"));
    assert_eq!(verdicts(&project).len(), 1);
    can_publish(&project).exits_with(0).output_lacks(message);
    // One with a misspelt source keeps its rows.
    let kept = project.read_file("contracts/MATRIX.jsonl");
    project.write_file("ctxc.toml", CONFIG.replace("path:shop", "path:shops"));
    can_publish(&project).exits_with(2);
    assert_eq!(project.read_file("contracts/MATRIX.jsonl"), kept);
    // The last one, too.
    let none = CONFIG.replace("[[package.consumers]]\nsource = \"path:shop\"\n", "");
    project.write_file("ctxc.toml", none);
    can_publish(&project)
        .exits_with(5)
        .stdout_contains(&format!("{message}shop\n"));
    assert_eq!(project.read_file("contracts/MATRIX.jsonl"), "");
}

#[test]
fn a_contract_that_cannot_be_read_any_more_is_broken() {
    let project = package();
    can_publish(&project).exits_with(0);
    project.write_file(CONTRACT, format!("{SHAPE}  - {{\n"));
    for version in ["1.0.0", "1.1.0"] {
        let config = CONFIG.replace("1.0.0", version);
        project.write_file("ctxc.toml", config);
        can_publish(&project)
            .exits_with(4)
            .stdout_contains("a file of shop cannot be read, whose contracts 1.0.0 kept\n")
            .stdout_contains("  file: contracts/acme/rules/shape.yaml\n")
            .stdout_contains("  why: nothing of this file is run: ")
            .stdout_contains("  its authors mend it, not those of acme/rules\n")
            .stderr_contains("ask the authors of the file to mend it; `--accept")
            .output_lacks("restore what the contract expects");
    }
    // The mended file is held to what it kept.
    project.write_file("ctxc.toml", CONFIG);
    project.write_file(CONTRACT, SHAPE);
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("contract: “shape” in contracts/acme/rules/shape.yaml");
    // A file that never held a contract only warns.
    let project = package().with_file(CONTRACT, "name: [\n");
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("pending: a file of shop in contracts/acme/rules/shape.yaml")
        .stdout_contains("0 kept, 1 pending (never passed)\n");
}

#[test]
fn a_consumer_without_contracts_is_named() {
    let project = package().with_file("bank/README.md", "We pay.\n");
    project
        .run(&["package", "can-publish", "--consumer", "bank"])
        .exits_with(0)
        .stdout_contains(
            "warning: bank has no contract: expected a scenario in contracts/acme/rules/ there\n",
        );
}

#[test]
fn two_consumers_of_one_name_are_refused() {
    let project = package().with_file("other/shop/contracts/acme/rules/shape.yaml", SHAPE);
    let twice = |folder: &str| project.run(&["package", "can-publish", "--consumer", folder]);
    twice("other/shop")
        .exits_with(2)
        .stderr_contains("found two consumers of the name `shop`")
        .stderr_contains("give one of them a `name` in `[[package.consumers]]`");
    assert!(!project.path("contracts/MATRIX.jsonl").exists());
    // The same folder is one consumer.
    twice("shop")
        .exits_with(0)
        .stdout_contains("1 contract of consumers: 1 kept");
    let listed = |name: &str| {
        let table = "\n[[package.consumers]]\nsource = \"path:other/shop\"\n";
        project.write_file("ctxc.toml", format!("{CONFIG}{table}{name}"));
        can_publish(&project)
    };
    for name in ["", "name = \"shop\"\n"] {
        listed(name)
            .exits_with(2)
            .stderr_contains("found two consumers of the name `shop`")
            .stderr_contains("/other/shop, expected a name for each");
    }
    listed("name = \"shop-eu\"\n")
        .exits_with(0)
        .stdout_contains("2 contracts of consumers: 2 kept");
    let rows = project.read_file("contracts/MATRIX.jsonl");
    assert!(rows.contains("\"consumer\":\"shop-eu\""), "{rows}");
}

#[test]
fn a_consumer_in_git_is_read_at_a_branch() {
    let shop = Project::new().with_file("contracts/acme/rules/shape.yaml", SHAPE);
    git(&shop, &["init", "-q", "-b", "main"]);
    commit(&shop);
    let place = shop.path("").display().to_string();
    let address = format!("git+file://{}", place.trim_end_matches('/'));
    let project = package();
    let list = |source: &str| {
        let config = CONFIG.replace("path:shop", source);
        project.write_file("ctxc.toml", format!("{config}name = \"shop\"\n"));
        can_publish(&project)
    };
    list(&format!("{address}@main"))
        .exits_with(0)
        .stdout_contains("1 contract of consumers: 1 kept");
    list(&format!("{address}@production"))
        .exits_with(3)
        .stderr_contains("no tag or branch `production`; its branches are main");
    for (source, expected) in [
        (address.as_str(), "a branch at the end, such as `@main`"),
        ("shop", "`path:FOLDER` or `git+https://…@BRANCH`"),
    ] {
        list(source).exits_with(2);
        project
            .run(&["check"])
            .exits_with(2)
            .stdout_contains(expected)
            .output_lacks("tag");
    }
}

#[test]
fn only_the_files_that_a_contract_names_belong_to_it() {
    let expected = "{\"type\": \"object\", \"required\": [\"team\"]}";
    let contract = SHAPE.replace(
        "schema: {type: object, required: [team], properties: {team: {enum: [billing, data]}}}",
        "schema: expected.json",
    );
    assert_ne!(contract, SHAPE);
    let schema = "shop/contracts/acme/rules/expected.json";
    let project = package()
        .with_file(CONTRACT, contract)
        .with_file(schema, expected);
    can_publish(&project).exits_with(0);
    replace(&project, "templates/answer.json", "[\"team\", ", "[");
    project.write_file("shop/contracts/acme/rules/README.md", "Ask the shop.\n");
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("$.team: it may be absent");
    // Another schema is another contract.
    replace(&project, schema, "[\"team\"]", "[\"team\", \"urgent\"]");
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("pending: “shape” of shop");
}

#[test]
fn recorded_answers_decide_and_stale_ones_cost() {
    let project = package().with_file("shop/contracts/acme/rules/behaviour.yaml", BEHAVIOUR);
    project.write_file("ctxc.toml", format!("{CONFIG}\n{MODEL}"));
    replace(
        &project,
        "templates/triage.xml",
        "  <output_format",
        "  <model>small</model>\n  <output_format",
    );
    can_publish(&project)
        .exits_with(6)
        .stdout_contains("undecided: “behaviour” of shop")
        .stdout_contains("no answer is recorded for what it expects of one: shop records one with `ctxc eval contracts/acme/rules/behaviour.yaml --record`");
    let recording = "shop/contracts/acme/rules/recordings/behaviour.jsonl";
    let answer = |team: &str| {
        let answer = json!({"team": team, "urgent": true}).to_string();
        let line = recorded(&project, "my invoice", &answer);
        // A call that a script answered is no answer of a model.
        let line = line.replace("\"answered_by\":\"script\"", "\"answered_by\":\"upstream\"");
        project.write_file(recording, line);
    };
    answer("billing");
    can_publish(&project).exits_with(0);
    answer("data");
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("why: contracts/acme/rules/behaviour.yaml:");
    answer("billing");
    replace(
        &project,
        "templates/triage.xml",
        "Sort the ticket",
        "Sort it well",
    );
    can_publish(&project)
        .exits_with(6)
        .stdout_contains("its recorded answers are for another request; shop records one with")
        .stdout_contains("from the package as it is now; new ones: 1 call");
    let accept = ["--accept", "shop", "--reason", "why"];
    project
        .run(&[&["package", "can-publish"], &accept[..]].concat())
        .exits_with(2)
        .stderr_contains("no contract of `shop` is broken: nothing to accept")
        .stderr_contains("“behaviour” is undecided, which only an answer decides: its recorded");
}

#[test]
fn a_line_of_the_screen_has_no_stray_spaces_and_quotes_what_it_names() {
    let project = package();
    let file = "shop/contracts/acme/rules/two words.yaml";
    std::fs::rename(project.path(CONTRACT), project.path(file)).unwrap();
    project.write_file(file, SHAPE.replace("my invoice", &"invoice ".repeat(400)));
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("; the largest: ")
        .output_lacks(";  ");
    project.write_file(file, BEHAVIOUR);
    can_publish(&project)
        .exits_with(6)
        .stdout_contains("`ctxc eval 'contracts/acme/rules/two words.yaml' --record`");
}

#[test]
fn a_script_of_the_consumer_proves_nothing_and_a_program_is_refused() {
    let scripted = format!("{BEHAVIOUR}answers:\n  - reply: {{team: billing}}\n");
    let program = BEHAVIOUR.replace(
        "field_matches: {path: $.team, pattern: ^billing$}",
        "command: [sh, -c, 'touch ran']",
    );
    let request = "name: sent\nrequest: {command: [sh, -c, 'touch ran']}\nexpect_context:\n  - contains: [a]\n";
    let project = package()
        .with_file("shop/contracts/acme/rules/behaviour.yaml", &scripted)
        .with_file(
            "shop/contracts/acme/rules/program.yaml",
            program.replace("behaviour", "program"),
        )
        .with_file("shop/contracts/acme/rules/sent.yaml", request)
        .with_file(
            "shop/contracts/acme/rules/run.yaml",
            scripted
                .replace("behaviour", "run")
                .replace("task:", "run: true\ntask:"),
        );
    can_publish(&project)
        .exits_with(6)
        .stdout_contains("its answer is a script of the consumer")
        .stdout_contains("program.yaml:7: a contract is data: found")
        .stdout_contains("sent.yaml:2: a contract is about an export of `acme/rules`");
    assert!(!project.files().iter().any(|file| file.ends_with("ran")));
    let is_run_kept =
        |(name, verdict, _): &(String, String, Value)| name == "run" && verdict == "pass";
    assert!(!verdicts(&project).iter().any(is_run_kept));
}

#[test]
fn the_gate_of_a_package_keeps_its_contracts() {
    let project = package();
    git(&project, &["init", "-q", "-b", "main"]);
    can_publish(&project).exits_with(0);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    // Removed rows and consumers count as they were at the base.
    std::fs::remove_file(project.path("contracts/MATRIX.jsonl")).unwrap();
    replace(
        &project,
        "ctxc.toml",
        "[[package.consumers]]\nsource = \"path:shop\"\n",
        "",
    );
    commit(&project);
    let gate = ["gate", "--allow-empty"];
    project.run(&gate).exits_with(4).stdout_contains(
        "`contract “shape” of shop` fails: acme/rules 1.0.0 breaks a contract of shop, which 1.0.0 kept\n",
    );
    replace(&project, "templates/answer.json", "\"legal\"]", "\"data\"]");
    commit(&project);
    project.run(&gate).output_lacks("shape");
    std::fs::remove_dir_all(project.path("shop")).unwrap();
    commit(&project);
    project
        .run(&gate)
        .exits_with(7)
        .stdout_contains("a consumer that only the base lists cannot be read: the consumer");
}

#[cfg(unix)]
#[test]
fn the_gate_reads_a_consumer_of_the_base_once() {
    use std::os::unix::fs::PermissionsExt;
    let shop = Project::new().with_file("contracts/acme/rules/shape.yaml", SHAPE);
    git(&shop, &["init", "-q", "-b", "main"]);
    commit(&shop);
    let source = format!("git+file://{}@main", shop.path("").display()).replace("/@", "@");
    let project = package();
    replace(&project, "ctxc.toml", "path:shop", &source);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    let none = CONFIG.replace("[[package.consumers]]\nsource = \"path:shop\"\n", "");
    project.write_file("ctxc.toml", none);
    commit(&project);
    let (programs, log) = (Project::new(), Project::new());
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" fetch \"*) echo fetch >> '{}';; esac\nPATH='{path}'; export PATH\nexec git \"$@\"\n",
        log.path("fetches").display()
    );
    programs.write_file("git", script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(programs.path("git"), executable).unwrap();
    let mut command = project.command(&["gate", "--allow-empty"]);
    command.env("PATH", format!("{}:{path}", programs.path("").display()));
    command.output().unwrap();
    assert_eq!(log.read_file("fetches"), "fetch\n");
}

#[test]
fn check_holds_contracts_to_the_locked_package() {
    let consumer = "[[package.consumers]]\nsource = \"path:shop\"\n";
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "edition = \"2026\"\n\n[dependencies]\n\"acme/rules\" = \"path:rules\"\n",
        )
        .with_file("rules/ctxc.toml", CONFIG.replace(consumer, ""))
        .with_file("rules/templates/triage.xml", TASK)
        .with_file("rules/templates/answer.json", SCHEMA);
    project.run(&["package", "update"]).exits_with(0);
    let file = "contracts/acme/rules/shape.yaml";
    project.write_file(file, SHAPE);
    let check = ["check", "--format", "concise"];
    project
        .run(&check)
        .exits_with(0)
        .output_lacks("broken-contract");
    for (from, to, message) in [
        ("rules/triage", "rules/other", "does not export tasks/other"),
        ("{ticket: my", "{letter: my", "it takes no input `letter`"),
        (
            "{ticket: my",
            "{letter: my",
            "it requires the input `ticket`",
        ),
        (
            "{ticket: my invoice",
            "{ticket: [mine]",
            "its input `ticket` is of type `string`, and is given an array",
        ),
        ("max: 400", "max: 1", "its context has at least "),
        ("[team]", "[owner]", "$.owner: the schema has no such field"),
        (
            "schema: {type",
            "field_matches: {path: $.owner, pattern: a}\n  - schema: {type",
            "its answer has no field $.owner",
        ),
        (
            "schema: {type",
            "command: [sh, run.sh]\n  - schema: {type",
            "a contract is data",
        ),
        (
            "tokens: {max: 400}",
            "tools: {has: [search]}",
            "it has no tool `search`",
        ),
    ] {
        let wrong = SHAPE.replace(from, to);
        assert_ne!(wrong, SHAPE);
        project.write_file(file, wrong);
        let run = project.run(&check).exits_with(1);
        let line = run.stdout.lines().find(|line| line.contains(message));
        let line = line.unwrap_or_else(|| panic!("{message}: {}", run.stdout));
        assert!(
            line.contains(file) && line.contains("broken-contract"),
            "{line}"
        );
    }
    // Other expectations can make up for one that fails.
    let scored = "min_score: 0.5\nexpectations:\n  - {field_matches: {path: $.team, pattern: ^none$}, weight: 1}\n";
    project.write_file(file, SHAPE.replace("expectations:\n", scored));
    project
        .run(&check)
        .exits_with(0)
        .output_lacks("broken-contract");
    // A contract without `node` is about the only agent.
    let steps = "<task type=\"sequential\" name=\"triage\">\n  <description>Answer: {{ticket}}</description>\n  <parameters>\n    \
        <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <steps>\n    <task type=\"atomic\"><description>Sort {{ticket}}.</description></task>\n    \
        <task type=\"atomic\"><description>Rank {{ticket}}.</description></task>\n  </steps>\n</task>\n";
    project.write_file(file, SHAPE);
    project.write_file("rules/templates/triage.xml", steps);
    project
        .run(&check)
        .exits_with(1)
        .stdout_contains("it has several agents, as `/steps/0` and `/steps/1`");
    project.write_file("rules/templates/triage.xml", TASK);
    // The screen names the version, the one before it, and the next step; no run passes it.
    replace(&project, "rules/ctxc.toml", "1.0.0", "1.1.0");
    git(&project, &["init", "-q"]);
    commit(&project);
    project.run(&["package", "update"]).exits_with(0);
    replace(
        &project,
        "rules/templates/answer.json",
        "\"data\"]",
        "\"legal\"]",
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("`tasks/triage` of acme/rules 1.1.0 breaks this contract: its answer may")
        .stdout_contains("or stay at 1.0.0, which ctxc.lock has in HEAD");
    project.write_file("templates/mail.xml", TASK.replace("triage", "mail"));
    project.write_file("templates/answer.json", SCHEMA);
    project
        .run(&["eval", "contracts"])
        .exits_with(1)
        .output_lacks("PASS")
        .stdout_contains("breaks this contract");
    replace(
        &project,
        "rules/templates/answer.json",
        "\"legal\"]",
        "\"data\"]",
    );
    // A package that cannot be compiled leaves no contract unchecked in silence.
    project.write_file("rules/templates/triage.xml", TASK.replace("</task>", ""));
    let run = project.run(&check).exits_with(2);
    let message = "the surface of `acme/rules` cannot be read";
    let line = run.stdout.lines().find(|line| line.contains(message));
    let line = line.unwrap_or_else(|| panic!("{}", run.stdout));
    assert!(
        line.contains(file) && line.contains("broken-contract"),
        "{line}"
    );
    project.write_file("rules/templates/triage.xml", TASK);
    project.write_file(
        "contracts/acme/mail/shape.yaml",
        SHAPE.replace("acme/rules", "acme/mail"),
    );
    project
        .run(&check)
        .exits_with(1)
        .stdout_contains("`acme/mail` is not among the [dependencies]");
    project.write_file("contracts/acme/rulez/shape.yaml", SHAPE);
    for (misplaced, message) in [
        (
            "contracts/shape.yaml",
            "expected `contracts/ORG/NAME/*.yaml`",
        ),
        (
            "contracts/rules/shape.yaml",
            "expected `contracts/ORG/NAME/*.yaml`",
        ),
        (
            "contracts/acme/rulez",
            "did you mean `contracts/acme/rules/`?",
        ),
    ] {
        if misplaced.contains(".yaml") {
            project.write_file(misplaced, SHAPE);
        }
        project
            .run(&["check", "--format", "concise", misplaced])
            .exits_with(1)
            .stdout_contains(message)
            .output_lacks("expected `task: acme/rulez/NAME`");
    }
}

#[test]
fn a_contract_is_checked_with_the_packages_of_the_consumer() {
    let consumer = "[[package.consumers]]\nsource = \"path:shop\"\n";
    let rules = CONFIG.replace(
        consumer,
        "[dependencies]\n\"acme/base\" = \"path:../base\"\n",
    );
    let house = "<description><use fragment=\"acme/base/house\"/> ";
    let project = Project::new()
        .with_file("ctxc.toml", "[dependencies]\n\"acme/rules\" = \"path:rules\"\n")
        .with_file("base/ctxc.toml", "[package]\nname = \"acme/base\"\nversion = \"1.0.0\"\nexports = [\"fragments/house\"]\n")
        .with_file("base/templates/house.xml", "<library><fragment name=\"house\">Be brief.</fragment></library>\n")
        .with_file("rules/ctxc.toml", rules)
        .with_file("rules/templates/triage.xml", TASK.replace("<description>", house))
        .with_file("rules/templates/answer.json", SCHEMA);
    project.run(&["package", "update"]).exits_with(0);
    // Only the consumer has a lock, as where a package was vendored.
    assert!(!project.path("rules/ctxc.lock").exists());
    project.write_file("contracts/acme/rules/shape.yaml", SHAPE);
    let check = ["check", "--format", "concise"];
    project.run(&check).exits_with(0);
    let long = "Be brief. ".repeat(200);
    replace(&project, "base/templates/house.xml", "Be brief.", &long);
    project
        .run(&check)
        .exits_with(1)
        .stdout_contains("its context has at least ");
}

/// A shop with a contract on the role of a package beside it, whose task is private.
fn shop_of_a_role(address: &str) -> Project {
    let model = MODEL.replace("http://localhost:1", address) + "api_key_env = \"HOUSE_KEY\"\n";
    let rules = CONFIG
        .replace("path:shop", "path:..")
        .replace("tasks/triage", "roles/clerk");
    let role = "[roles.clerk]\ntemplate = \"triage\"\nmodel = \"small\"\n";
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            format!("edition = \"2026\"\n[eval]\nscenarios = [\"scenarios\", \"contracts\"]\n[dependencies]\n\"acme/rules\" = \"path:rules\"\n{model}"),
        )
        .with_file("templates/mail.xml", TASK.replace("triage", "mail"))
        .with_file("templates/answer.json", SCHEMA)
        .with_file("rules/ctxc.toml", format!("{rules}{role}{model}"))
        .with_file("rules/templates/triage.xml", TASK)
        .with_file("rules/templates/answer.json", SCHEMA)
        .with_file(
            "contracts/acme/rules/clerk.yaml",
            BEHAVIOUR
                .replace("behaviour", "clerk bills")
                .replace("task: acme/rules/triage", "role: acme/rules/clerk"),
        );
    project.run(&["package", "update"]).exits_with(0);
    project
}

#[test]
fn a_contract_on_a_role_is_checked_recorded_and_gated() {
    let answer = json!({"team": "billing", "urgent": true}).to_string();
    let server = upstream(vec![completion(&answer)]);
    let project = shop_of_a_role(&server.address);
    let contract = "contracts/acme/rules/clerk.yaml";
    let publish = || {
        let mut command = command_in(&project.path("rules"), &["package", "can-publish"]);
        ProgramRun::from(command.output().unwrap())
    };
    for args in [
        &["check"][..],
        &["check", "contracts"],
        &["check", contract],
    ] {
        project.run(args).exits_with(0);
    }
    publish().exits_with(6);
    asked(&project, &["trust", "--yes"]).exits_with(0);
    asked(&project, &["eval", "contracts/acme/rules", "--record"]).exits_with(0);
    publish().exits_with(0).stdout_contains("1 kept");
    for args in [&["eval", contract][..], &["eval"]] {
        project.run(args).exits_with(0).stdout_contains("PASS");
    }
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    replace(&project, contract, "objective: sort", "objective: mind");
    project
        .run(&["eval", contract])
        .exits_with(6)
        .stdout_contains("`ctxc eval 'clerk bills' --record --stale");
    commit(&project);
    project
        .run(&["gate", "--allow-empty"])
        .output_lacks("no agent role")
        .output_lacks("unknown-receiver");
    replace(&project, contract, "rules/clerk", "rules/cook");
    project
        .run(&["check", "contracts"])
        .exits_with(1)
        .stdout_contains("does not export roles/cook; did you mean `roles/clerk`?");
}

/// The two organisations of `examples/`: on call expects the shape of a pull request.
#[test]
fn the_example_organisations_depend_on_each_other_by_a_contract() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let project = Project::new();
    for file in [
        "eng_org/ctxc.toml",
        "eng_org/templates/pull-request.xml",
        "eng_org/templates/pull-request.schema.json",
        "eng_org/contracts/MATRIX.jsonl",
        "ops_org/ctxc.toml",
        "ops_org/contracts/example/engineering/pull-request.yaml",
    ] {
        project.write_file(file, std::fs::read(examples.join(file)).unwrap());
    }
    let matrix = project.read_file("eng_org/contracts/MATRIX.jsonl");
    let run = || {
        let mut command = command_in(&project.path("eng_org"), &["package", "can-publish"]);
        ProgramRun::from(command.output().unwrap())
    };
    run().exits_with(0).stdout_contains("1 kept");
    assert_eq!(project.read_file("eng_org/contracts/MATRIX.jsonl"), matrix);
    let schema = "eng_org/templates/pull-request.schema.json";
    replace(&project, schema, "\"risk\", \"rollback\"]", "\"risk\"]");
    run()
        .exits_with(4)
        .stdout_contains("breaks a contract of ops_org, which 1.0.0 kept")
        .stdout_contains("$.rollback: it may be absent");
}

/// A surface of one task, of few words, so that random contracts often hold.
fn surface() -> impl Strategy<Value = Surface> {
    let output = prop_oneof![
        Just(Value::Null),
        (
            prop::collection::btree_map("[ab]", kind(), 0..3),
            prop::collection::vec("[ab]", 0..2),
            any::<bool>()
        )
            .prop_map(|(properties, required, closed)| {
                let mut schema = json!({"type": "object", "properties": properties});
                if !required.is_empty() {
                    schema["required"] = json!(required);
                }
                if closed {
                    schema["additionalProperties"] = json!(false);
                }
                schema
            })
    ];
    let inputs = prop::collection::btree_map("[xy]", any::<bool>(), 0..3);
    let tools = prop::collection::btree_set("[cd]", 0..3);
    let segments = prop::collection::btree_map(
        prop_oneof![Just("system"), Just("instructions")],
        any::<bool>(),
        0..3,
    );
    (output, inputs, tools, segments, 90..115_usize, any::<bool>()).prop_map(
        |(output, inputs, tools, segments, tokens, is_exported)| {
            let inputs: serde_json::Map<String, Value> = inputs
                .into_iter()
                .map(|(name, required)| (name, json!({"type": "string", "required": required})))
                .collect();
            let segments: serde_json::Map<String, Value> = segments
                .into_iter()
                .map(|(id, trusted)| {
                    let trust = if trusted { "trusted" } else { "untrusted" };
                    (id.to_owned(), json!({"trust": trust, "hash": "b3:1"}))
                })
                .collect();
            let agent = json!({"node": "/", "name": null, "output": output, "segments": segments,
                "tools": {"allowed": tools, "blocked": []}, "least_tokens": tokens, "most_tokens": null, "prefix": "b3:2"});
            let name = if is_exported { "tasks/triage" } else { "tasks/other" };
            serde_json::from_value(json!({name: {"inputs": inputs, "agents": [agent]}})).unwrap()
        },
    )
}

/// A surface with some parts of another.
fn mixed_surface(old: &Surface, other: &Surface, picks: &[u8]) -> Surface {
    let mut new = old.clone();
    let is_picked = |part: usize| picks[part] == 0;
    let export = new.values_mut().next().unwrap();
    let from = other.values().next().unwrap().clone();
    if is_picked(0) {
        export.inputs = from.inputs;
    }
    let (agent, from) = (&mut export.agents[0], from.agents[0].clone());
    if is_picked(1) {
        agent.output = from.output;
    }
    if is_picked(2) {
        agent.segments = from.segments;
    }
    if is_picked(3) {
        agent.tools = from.tools;
    }
    if is_picked(4) {
        agent.least_tokens = from.least_tokens;
    }
    if let Some(Value::Object(schema)) = agent.output.as_mut().filter(|_| is_picked(5)) {
        schema["properties"]["c"] = json!({"type": "string"});
    }
    if is_picked(6) {
        "b3:3".clone_into(&mut agent.prefix);
    }
    new
}

fn kind() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "number", "minimum": 1})),
        Just(json!({"enum": ["a", "b"]})),
        Just(json!({"enum": ["a"]})),
        Just(json!({"type": "array", "items": {"type": "string"}})),
    ]
}

/// The expectations of a contract, each by its text.
const EXPECTATIONS: [&str; 6] = [
    "  - schema: {type: object, required: [a]}\n",
    "  - schema: {properties: {a: {type: string}}}\n",
    "  - field_matches: {path: $.a, pattern: ^a$}\n",
    "  - field_matches: {path: '$.b[0]', pattern: x}\n",
    "  - field_matches: {path: $.b, pattern: ^b$}\n",
    "  - schema: {additionalProperties: {type: string}}\n",
];
const CONTEXT_EXPECTATIONS: [&str; 7] = [
    "  - tools: {has: [c]}\n",
    "  - tools: {lacks: [d]}\n",
    "  - tools: [c, d]\n",
    "  - tokens: {max: 100}\n",
    "  - segment: {id: system, state: kept}\n",
    "  - trust: {segment: instructions, is: trusted}\n",
    "  - trust: {segment: system, is: untrusted}\n",
];

/// The number of reasons why a contract cannot hold on a surface.
fn count_faults(contract: &str, surface: &Surface) -> usize {
    let (suite, faults) = ctxc::internals::scenario::read_suite("contract.yaml", contract);
    assert!(faults.is_empty(), "{contract}: {faults:?}");
    let suite = suite.unwrap();
    let contract = Contract {
        case: suite.cases.first().unwrap(),
        package: "acme/rules",
        beside: &NoFiles,
    };
    contract.judge(surface).faults.len()
}

#[derive(Debug)]
struct NoFiles;

impl ctxc::internals::context::request::Files for NoFiles {
    fn text(&self, path: &str) -> Result<String, String> {
        Err(format!("there is no {path}"))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// A change that the comparison of surfaces calls harmless fails no contract that held.
    #[test]
    fn no_harmless_change_of_a_surface_fails_a_contract(
        old in surface(),
        other in surface(),
        picks in prop::collection::vec(0..4_u8, 7),
        inputs in prop::collection::btree_set("[xy]", 0..3),
        answer in prop::sample::subsequence(&EXPECTATIONS, 0..3),
        context in prop::sample::subsequence(&CONTEXT_EXPECTATIONS, 1..3),
    ) {
        let inputs: Vec<String> = inputs.into_iter().map(|name| format!("{name}: t")).collect();
        let mut contract = format!("name: c\ntask: acme/rules/triage\ncontext: {{objective: sort, inputs: {{{}}}}}\nexpect_context:\n{}", inputs.join(", "), context.concat());
        if !answer.is_empty() {
            contract += "expectations:\n";
            contract += &answer.concat();
        }
        let new = mixed_surface(&old, &other, &picks);
        if compare_surfaces(&old, &new).iter().all(SurfaceChange::is_harmless) {
            prop_assert!(count_faults(&contract, &old) > 0 || count_faults(&contract, &new) == 0, "{contract}\n{old:?}\n{new:?}");
        }
    }
}

/// A project that uses the package in a folder, with a contract and a scenario of its own.
fn consumer() -> Project {
    let listed = "[[package.consumers]]\nsource = \"path:shop\"\n";
    let scenario = "name: mail\ntask: mail\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - tokens: {max: 500}\n";
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "edition = \"2026\"\n\n[dependencies]\n\"acme/rules\" = \"path:rules\"\n",
        )
        .with_file("rules/ctxc.toml", CONFIG.replace(listed, ""))
        .with_file("rules/templates/triage.xml", TASK)
        .with_file("rules/templates/answer.json", SCHEMA)
        .with_file(
            "templates/mail.xml",
            TASK.replace("triage", "mail")
                .replace("  <output_format type=\"json\" schema=\"answer.json\"/>\n", ""),
        )
        .with_file("scenarios/mail.yaml", scenario)
        .with_file("contracts/acme/rules/shape.yaml", SHAPE)
        .with_file(
            "contracts/acme/rules/text.yaml",
            "name: text\ntask: acme/rules/triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: {in: description, patterns: [Sort the ticket]}\n",
        );
    project.run(&["package", "update"]).exits_with(0);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project
}

#[test]
fn the_gate_of_a_project_holds_its_contracts_with_packages() {
    let project = consumer();
    // What a schema settles needs no answer.
    project
        .run(&["eval", "contracts"])
        .exits_with(0)
        .stdout_contains("2 passed");
    let gate = ["gate", "--base", "HEAD~1"];
    project.write_file("notes.md", "nothing");
    commit(&project);
    project.run(&gate).exits_with(0);
    // A text, which `check` does not see.
    replace(
        &project,
        "rules/templates/triage.xml",
        "Sort the ticket",
        "Rank the ticket",
    );
    project.run(&["package", "update"]).exits_with(0);
    commit(&project);
    project.run(&["check"]).exits_with(0);
    project
        .run(&gate)
        .exits_with(4)
        .stdout_contains("contract “text” with acme/rules 1.0.0");
    replace(
        &project,
        "rules/templates/triage.xml",
        "Rank the ticket",
        "Sort the ticket",
    );
    project.run(&["package", "update"]).exits_with(0);
    replace(
        &project,
        "contracts/acme/rules/shape.yaml",
        "max: 400",
        "max: 40000",
    );
    std::fs::remove_file(project.path("contracts/acme/rules/text.yaml")).unwrap();
    commit(&project);
    project
        .run(&["gate", "--base", "HEAD~2"])
        .exits_with(4)
        .stdout_contains("shape of acme/rules")
        .stdout_contains("text of acme/rules")
        .output_lacks("“text”");
}

#[test]
fn changes_without_a_contract_are_named_before_a_release() {
    let project = package();
    can_publish(&project).exits_with(0);
    git(&project, &["init", "-q"]);
    commit(&project);
    git(&project, &["tag", "v1.0.0"]);
    let settings = project.read_file("ctxc.toml");
    project.write_file(
        "ctxc.toml",
        settings
            .replace("1.0.0", "1.1.0")
            .replace("\"tasks/triage\"]", "\"tasks/triage\", \"rules\"]"),
    );
    can_publish(&project)
        .exits_with(0)
        .output_lacks("may break users");
    git(&project, &["tag", "-d", "v1.0.0"]);
    project.write_file(
        "ctxc.toml",
        settings.replace("\"tasks/triage\"]", "\"tasks/triage\", \"rules\"]"),
    );
    commit(&project);
    git(&project, &["tag", "v1.0.0"]);
    let stricter = settings
        .replace("= \"warning\"", "= \"error\"")
        .replace("1.0.0", "1.1.0");
    project.write_file(
        "ctxc.toml",
        stricter.replace("\"tasks/triage\"]", "\"tasks/triage\", \"rules\"]"),
    );
    can_publish(&project)
        .exits_with(0)
        .stdout_contains("1 change since v1.0.0 may break users, with or without a contract, first rules: the lint `no-context` is error, was warning");
}

#[test]
fn another_fault_of_a_schema_is_not_accepted_along() {
    let project = package();
    can_publish(&project).exits_with(0);
    git(&project, &["init", "-q"]);
    git(&project, &["config", "user.email", "lead@example.org"]);
    commit(&project);
    replace(&project, "ctxc.toml", "1.0.0", "1.1.0");
    let schema = |change: [&str; 2]| {
        project.write_file(
            "templates/answer.json",
            SCHEMA.replace(change[0], change[1]),
        );
    };
    schema(["\"team\", \"urgent\"]", "\"urgent\"]"]);
    let accept = [
        "package",
        "can-publish",
        "--accept",
        "shop",
        "--reason",
        "so",
    ];
    project.run(&accept).exits_with(0);
    can_publish(&project).exits_with(0);
    schema([
        "\"required\": [\"team\", \"urgent\"], \"properties\": {\"team\": {\"enum\": [\"billing\", \"data\"]}",
        "\"properties\": {\"team\": {\"type\": \"string\"}",
    ]);
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("$.team: it may be absent")
        .stdout_contains("it may be other than");
}

#[test]
fn a_consumer_that_cannot_be_read_hides_no_verdict() {
    let project = package();
    can_publish(&project).exits_with(0);
    let settings = project.read_file("ctxc.toml").replace("1.0.0", "1.1.0");
    let lost = "\n[[package.consumers]]\nsource = \"git+file:///nowhere/lost.git@main\"\n";
    project.write_file("ctxc.toml", settings + lost);
    can_publish(&project)
        .exits_with(3)
        .stdout_contains("1 contract of consumers: 1 kept");
    replace(&project, "templates/answer.json", "\"data\"]", "\"legal\"]");
    can_publish(&project)
        .exits_with(4)
        .stdout_contains("breaks a contract of shop, which 1.1.0 kept")
        .stdout_contains("not read: ");
}
