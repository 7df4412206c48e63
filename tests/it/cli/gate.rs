//! The gate: every change that turns a red result green is refused or listed, and needs an
//! accepter.

use super::project::Project;
use crate::record::file::call;
use ctxc::internals::record::recording::Recording;
use ctxc::internals::record::{json_text, recording};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

pub(crate) const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket by the rules of the house: {{ticket}}</description>\n  \
    <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
pub(crate) const CONFIG: &str = "[lints]\nno-context = \"warning\"\n\n[[require]]\nmust = [\"has description\"]\n\n[eval]\nruns = 3\npass = 2\n\n\
    [eval.gate]\nmanifest_tokens = 0.10\npass_rate = 1.0\n\n\
    [eval.stability]\nreruns = 3\nvariance = 0.1\ncost_usd = 1.0\naccepters = [\"lead@example.org\"]\n";
pub(crate) const SCRIPTED: &str = "name: scripted\ntask: triage\nruns: 3\npass_threshold: 2\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  \
    - contains: [invoice]\n  - tokens: {of: total, max: 60}\n  - snapshot: true\nexpectations:\n  - contains: [billing]\n  \
    - absent: [sorry]\nanswers:\n  - reply: billing\n";
pub(crate) const RECORDED: &str = "name: recorded\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpectations:\n  - contains: [billing]\n";
const LOG: &str = "baselines/LOG.jsonl";

pub(crate) fn git(project: &Project, args: &[&str]) {
    git_in(&project.path(""), args);
}

pub(crate) fn git_in(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args);
    command
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .env_remove("GIT_DIR");
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
}

pub(crate) fn commit(project: &Project) {
    git(project, &["add", "-A"]);
    git(
        project,
        &["commit", "-q", "--allow-empty", "-m", "a change"],
    );
}

pub(crate) fn recorded(project: &Project, ticket: &str, text: &str) -> String {
    let ticket = format!("ticket={ticket}");
    let args = ["render", "triage", "--as", "openai-chat", "-i", &ticket];
    let body = json_text::compact_json(&project.run(&args).exits_with(0).stdout);
    let message = json!({"role": "assistant", "content": text});
    let response = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    Recording {
        request: json_text::to_raw_json(&body),
        response: Some(json_text::to_raw_json(&response.to_string())),
        key: recording::call_key("POST", "/chat/completions", &body).to_string(),
        ..call("1")
    }
    .to_line()
}

/// A project whose results were accepted on `main`, with a branch off it.
pub(crate) fn branch() -> Project {
    let project = Project::new()
        .with_file("ctxc.toml", CONFIG)
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/scripted.yaml", SCRIPTED)
        .with_file("scenarios/recorded.yaml", RECORDED);
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    on_branch(project)
}

/// Accepts the results of a project on `main`, and leaves it on a branch off it.
pub(crate) fn on_branch(project: Project) -> Project {
    project.run(&["eval", "--accept"]).exits_with(0);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "first",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    begin(&project);
    project
}

/// A first commit of a branch, which changes nothing.
pub(crate) fn begin(project: &Project) {
    git(project, &["commit", "-q", "--allow-empty", "-m", "begin"]);
}

/// Makes the commits of the branch the base of the following steps.
pub(crate) fn base(project: &Project) {
    git(project, &["branch", "-q", "-f", "main"]);
    begin(project);
}

pub(crate) fn replace(project: &Project, path: &str, from: &str, to: &str) {
    let text = project.read_file(path);
    assert!(text.contains(from), "{path} has no {from:?}: {text}");
    project.write_file(path, text.replace(from, to));
}

fn accept(project: &Project, by: &str) {
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "it is meant so",
            "--by",
            by,
        ])
        .exits_with(0);
}

/// A way to make a change green: its name, its edit, and the kind of relaxation or the violated
/// limit that reveals it.
type Way = (&'static str, fn(&Project), &'static str);

const WAYS: [Way; 28] = [
    (
        "a sequential test takes the place of two of three",
        |p| {
            let rule = format!(
                "{RECORDED}rule: {{sequential: {{p0: 0.01, p1: 0.02, alpha: 0.4, beta: 0.4, max: 50}}}}\n"
            );
            p.write_file("scenarios/recorded.yaml", rule);
        },
        "expectation",
    ),
    (
        "an expectation on the context goes",
        |p| {
            replace(
                p,
                "scenarios/scripted.yaml",
                "  - contains: [invoice]\n",
                "",
            );
        },
        "expectation",
    ),
    (
        "a ceiling is raised",
        |p| replace(p, "scenarios/scripted.yaml", "max: 60", "max: 600"),
        "expectation",
    ),
    (
        "an expectation on the answer goes",
        |p| replace(p, "scenarios/scripted.yaml", "  - absent: [sorry]\n", ""),
        "expectation",
    ),
    (
        "a pattern takes more",
        |p| {
            replace(
                p,
                "scenarios/scripted.yaml",
                "- contains: [billing]",
                "- contains: [.*]",
            );
        },
        "expectation",
    ),
    (
        "an expectation no longer gates",
        |p| {
            replace(
                p,
                "scenarios/scripted.yaml",
                "- contains: [billing]",
                "- {contains: [billing], gate: false}",
            );
        },
        "expectation",
    ),
    (
        "an expectation is one of two",
        |p| {
            replace(
                p,
                "scenarios/scripted.yaml",
                "- contains: [billing]",
                "- any_of: [{contains: [billing]}, {max_tokens: 9000}]",
            );
        },
        "expectation",
    ),
    (
        "fewer trials have to pass",
        |p| {
            replace(
                p,
                "scenarios/scripted.yaml",
                "pass_threshold: 2",
                "pass_threshold: 1",
            );
        },
        "expectation",
    ),
    (
        "the frozen input is another",
        |p| replace(p, "scenarios/recorded.yaml", "my invoice", "an invoice"),
        "expectation",
    ),
    (
        "the script says what is wanted",
        |p| {
            replace(
                p,
                "scenarios/scripted.yaml",
                "reply: billing",
                "reply: billing it is",
            );
        },
        "expectation",
    ),
    (
        "a scenario is removed",
        |p| std::fs::remove_file(p.path("scenarios/recorded.yaml")).unwrap(),
        "missing_case",
    ),
    (
        "a scenario gets another name",
        |p| {
            replace(
                p,
                "scenarios/recorded.yaml",
                "name: recorded",
                "name: other",
            );
        },
        "recording",
    ),
    (
        "scenarios are looked for elsewhere",
        |p| {
            replace(
                p,
                "ctxc.toml",
                "[eval]\n",
                "[eval]\nscenarios = [\"scenarios/recorded.yaml\"]\n",
            );
        },
        "missing_case",
    ),
    (
        "a changed context is stored as the right one",
        |p| {
            replace(
                p,
                "templates/triage.xml",
                "by the rules of the house",
                "by these rules",
            );
            p.run(&["eval", "--accept"]);
        },
        "snapshot",
    ),
    (
        "a stored request is removed",
        |p| {
            replace(p, "scenarios/scripted.yaml", "  - snapshot: true\n", "");
            std::fs::remove_file(p.path("scenarios/snapshots/scripted.json")).unwrap();
        },
        "snapshot",
    ),
    (
        "a recorded answer is written by hand",
        |p| {
            replace(
                p,
                "scenarios/recordings/recorded.jsonl",
                "\"content\":\"billing\"",
                "\"content\":\"billing!\"",
            );
        },
        "recording",
    ),
    (
        "a finding is suppressed",
        |p| {
            replace(
                p,
                "templates/triage.xml",
                "</parameters>",
                "<parameter name=\"unused\" required=\"false\"/>\n  </parameters>",
            );
            p.run(&["check", "--suppress-existing"]);
        },
        "suppression",
    ),
    (
        "a rule is silenced in a template",
        |p| {
            replace(
                p,
                "templates/triage.xml",
                "<description>",
                "<?ctxc allow no-context reason=\"none\"?>\n  <description>",
            );
        },
        "allow",
    ),
    (
        "a lint is lowered",
        |p| {
            replace(
                p,
                "ctxc.toml",
                "no-context = \"warning\"",
                "no-context = \"hint\"",
            );
        },
        "lint",
    ),
    (
        "a lint is turned off",
        |p| {
            replace(
                p,
                "ctxc.toml",
                "[lints]\n",
                "[lints]\nunused-parameter = \"off\"\n",
            );
        },
        "lint",
    ),
    (
        "a requirement goes",
        |p| {
            replace(
                p,
                "ctxc.toml",
                "[[require]]\nmust = [\"has description\"]\n",
                "",
            );
        },
        "lint",
    ),
    (
        "a context may grow more",
        |p| {
            replace(
                p,
                "ctxc.toml",
                "manifest_tokens = 0.10",
                "manifest_tokens = 9.0",
            );
        },
        "threshold",
    ),
    (
        "fewer scenarios have to pass",
        |p| replace(p, "ctxc.toml", "pass_rate = 1.0", "pass_rate = 0.1"),
        "threshold",
    ),
    (
        "stale answers only warn",
        |p| replace(p, "ctxc.toml", "[eval]\n", "[eval]\nstale = \"warn\"\n"),
        "threshold",
    ),
    (
        "whoever changes it may accept",
        |p| {
            replace(
                p,
                "ctxc.toml",
                "\"lead@example.org\"",
                "\"lead@example.org\", \"me@example.org\"",
            );
            accept(p, "me@example.org");
        },
        "threshold",
    ),
    (
        "accepted results are removed",
        |p| std::fs::remove_file(p.path("baselines/recorded.json")).unwrap(),
        "baseline",
    ),
    (
        "the log of the base is rewritten",
        |p| replace(p, LOG, "\"first\"", "\"second\""),
        "baseline",
    ),
    (
        "a context grows",
        |p| {
            replace(
                p,
                "templates/triage.xml",
                "rules of the house",
                "rules of the house, all of them, one after the other, as they are written down",
            );
            replace(p, "scenarios/scripted.yaml", "  - snapshot: true\n", "");
        },
        "manifest_tokens",
    ),
];

/// The kinds and names of a decision's reasons.
fn told(decision: &Value) -> Vec<String> {
    let open = decision["weakened"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["approved_by"].is_null());
    let kinds = open.map(|one| one["kind"].as_str().unwrap().to_owned());
    let names = decision["violated_thresholds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned());
    kinds.chain(names).collect()
}

#[test]
fn a_change_that_weakens_its_own_checks_is_refused_and_reported() {
    for (what, change, kind) in WAYS {
        let project = branch();
        change(&project);
        let decision = project.run(&["gate", "--json"]).exits_with(4).json();
        assert_eq!(decision["decision"], "fail", "{what}");
        assert!(
            told(&decision).iter().any(|one| one == kind),
            "{what}: {:?}: {decision:#}",
            told(&decision)
        );
    }
}

#[test]
fn a_new_name_excuses_no_growth() {
    let grow = |project: &Project| {
        replace(
            project,
            "templates/triage.xml",
            "of the house",
            "of the house, all of them, one after the other, as they are written",
        );
        replace(
            project,
            "scenarios/scripted.yaml",
            "  - snapshot: true\n",
            "",
        );
    };
    let rename = |project: &Project, file: &str| {
        let text = project
            .read_file("templates/triage.xml")
            .replace("name=\"triage\"", "name=\"sorting\"");
        std::fs::remove_file(project.path("templates/triage.xml")).unwrap();
        project.write_file(file, text);
        for scenario in ["scripted", "recorded"] {
            replace(
                project,
                &format!("scenarios/{scenario}.yaml"),
                "task: triage",
                "task: sorting",
            );
        }
    };
    let grown = |project: &Project| {
        let decision = project.run(&["gate", "--json"]).json();
        let all = decision["violated_thresholds"].as_array().unwrap().clone();
        all.into_iter()
            .find(|one| one["name"] == "manifest_tokens")
            .map(|one| one["case"].as_str().unwrap().to_owned())
    };
    for file in ["templates/triage.xml", "templates/sorting.xml"] {
        let project = branch();
        rename(&project, file);
        assert_eq!(grown(&project), None);
        let project = branch();
        grow(&project);
        rename(&project, file);
        assert_eq!(grown(&project).as_deref(), Some("sorting"));
    }
    // A task with other words is another one, with any other change in the same commit.
    let project = branch();
    std::fs::remove_file(project.path("templates/triage.xml")).unwrap();
    let words = "Write to the customer what was found in the archive, and never promise a date that nobody confirmed";
    project.write_file(
        "templates/letter.xml",
        format!(
            "<task type=\"atomic\" name=\"letter\"><description>{words}</description></task>\n"
        ),
    );
    std::fs::remove_file(project.path("scenarios/recorded.yaml")).unwrap();
    project.write_file(
        "scenarios/scripted.yaml",
        SCRIPTED
            .replace("task: triage", "task: letter")
            .replace(", inputs: {ticket: my invoice}", ""),
    );
    assert_eq!(grown(&project), None);
}

/// Relaxations that cannot be accepted: they have to be reverted. And a new name, which needs no
/// accepter.
const NEVER: [&str; 4] = [
    "the log of the base is rewritten",
    "whoever changes it may accept",
    "accepted results are removed",
    "a scenario gets another name",
];

#[test]
fn what_somebody_accepts_who_may_is_green_and_shown() {
    for (what, change, kind) in WAYS.into_iter().filter(|(what, ..)| !NEVER.contains(what)) {
        let project = branch();
        change(&project);
        // Another request needs another answer first.
        let ticket = if what == "the frozen input is another" {
            "an invoice"
        } else {
            "my invoice"
        };
        if project.path("scenarios/recorded.yaml").exists()
            && what != "a recorded answer is written by hand"
        {
            project.write_file(
                "scenarios/recordings/recorded.jsonl",
                recorded(&project, ticket, "billing"),
            );
        }
        accept(&project, "me@example.org");
        project.run(&["gate"]).exits_with(4);
        accept(&project, "lead@example.org");
        let decision = project.run(&["gate", "--json"]).json();
        assert_eq!(
            (&decision["decision"], told(&decision)),
            (&json!("pass"), Vec::new()),
            "{what} ({kind}): {decision:#}"
        );
        let run = project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains("accepted by lead@example.org (unverified): it is meant so");
        run.stdout_contains("new in the log: me@example.org (unverified) accepted");
    }
}

#[test]
#[cfg(unix)]
fn a_check_of_the_projects_own_is_run_by_the_gate_and_is_not_loosened_unseen() {
    let project = branch();
    git(&project, &["switch", "-q", "main"]);
    let checked = RECORDED
        .replace("name: recorded", "name: checked")
        .replace("contains: [billing]", "command: [sh, checks/own.sh]");
    project.write_file(
        "scenarios/checked.yaml",
        checked + "answers:\n  - reply: billing\n",
    );
    project.write_file(
        "checks/own.sh",
        "grep -q '\"answer\":\"billing\"' && echo '{\"pass\": true}' || echo '{\"pass\": false}'",
    );
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    begin(&project);
    let run = project.run(&["gate"]).exits_with(7).stderr_contains(
        "1 scenario is not decided: running a check of the project's own is not permitted",
    );
    run.stdout_contains(
        "`checked` is undecided: expected `sh checks/own.sh` to accept the trial, found no run",
    );
    let hash = project.run(&["trust", "--show", "--json"]).json()["hash"]
        .as_str()
        .unwrap()
        .to_owned();
    project
        .run(&["gate", "--trust-hash", &hash])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    project
        .run(&["gate", "--trust-hash", &format!("b3:{}", "0".repeat(64))])
        .exits_with(7);
    project.run(&["trust", "--yes"]).exits_with(0);
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    // The recorded answer of another scenario is irrelevant; its own is not.
    replace(
        &project,
        "scenarios/checked.yaml",
        "reply: billing",
        "reply: access",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("a verdict without a reason");
    replace(
        &project,
        "scenarios/checked.yaml",
        "reply: access",
        "reply: billing",
    );
    project.write_file("checks/own.sh", "echo '{\"pass\": true}'");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("check checks/own.sh");
    git(&project, &["checkout", "-q", "checks/own.sh"]);
    // A removed check is listed, and a check that is not permitted any more is not run.
    replace(
        &project,
        "scenarios/checked.yaml",
        "command: [sh, checks/own.sh]",
        "contains: [billing]",
    );
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("`sh checks/own.sh` accepts it");
}

#[test]
fn a_change_that_loosens_nothing_passes_and_one_that_breaks_something_fails() {
    let project = branch();
    project.run(&["gate"]).exits_with(0).stdout_contains(
        "gate against main: PASS  2 scenarios, 2 with answers; nothing is loosened",
    );
    // One more scenario, one more expectation, a stricter limit, a comment.
    let more = SCRIPTED
        .replace("name: scripted", "name: more")
        .replace("  - snapshot: true\n", "");
    project.write_file("scenarios/more.yaml", more);
    replace(
        &project,
        "scenarios/scripted.yaml",
        "  - absent: [sorry]\n",
        "  - absent: [sorry]\n  - max_tokens: 9000\n",
    );
    replace(
        &project,
        "ctxc.toml",
        "manifest_tokens = 0.10",
        "manifest_tokens = 0.05",
    );
    replace(
        &project,
        "templates/triage.xml",
        "<parameters>",
        "<!-- why -->\n  <parameters>",
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
    replace(
        &project,
        "templates/triage.xml",
        ": {{ticket}}",
        ", whatever it is",
    );
    let decision = project.run(&["gate", "--json"]).exits_with(4).json();
    let failing: Vec<&str> = decision["failing_cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["id"].as_str().unwrap())
        .collect();
    assert_eq!(failing, ["more", "scripted"], "{decision:#}");
    assert!(
        told(&decision).contains(&"stale".to_owned()),
        "{decision:#}"
    );
    let page = project
        .run(&["gate", "--format", "markdown"])
        .exits_with(4)
        .stdout;
    assert!(
        page.starts_with("<!-- ctxc/gate/1 -->\n### gate against main: FAIL\n"),
        "{page}"
    );
}

#[test]
fn results_that_were_edited_or_are_of_another_model_are_refused() {
    let project = branch();
    let kept = project.read_file("baselines/recorded.json");
    replace(
        &project,
        "baselines/recorded.json",
        "\"verdict\": \"pass\"",
        "\"verdict\": \"fail\"",
    );
    project
        .run(&["gate"])
        .exits_with(3)
        .stderr_contains("baselines/recorded.json cannot be compared with: it was changed by hand");
    project.write_file("baselines/recorded.json", kept);
    let models = "[models.small]\nid = \"other\"\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n";
    project.write_file("ctxc.toml", format!("{CONFIG}{models}"));
    replace(
        &project,
        "templates/triage.xml",
        "<description>",
        "<model>small</model>\n  <description>",
    );
    project
        .run(&["gate"])
        .exits_with(3)
        .stderr_contains("was accepted with no model");
    project.run(&["gate", "--allow-key-change"]).exits_with(4);
    project.write_file("baselines/LOG.jsonl", "{}\n");
    project
        .run(&["gate"])
        .exits_with(3)
        .stderr_contains("baselines/LOG.jsonl: line 1 is not a valid log entry");
}

#[test]
fn another_model_of_the_same_name_is_another_one() {
    let project = branch();
    let by = |id: &str| {
        let model = format!(
            "[models.small]\nid = \"{id}\"\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n"
        );
        project.write_file("ctxc.toml", format!("{CONFIG}{model}"));
        project.write_file(
            "scenarios/recordings/recorded.jsonl",
            recorded(&project, "my invoice", "billing"),
        );
        project.run(&["eval", "--accept"]).exits_with(0);
    };
    replace(
        &project,
        "templates/triage.xml",
        "<description>",
        "<model>small</model>\n  <description>",
    );
    by("one");
    project
        .run(&[
            "baseline",
            "migrate",
            "--reason",
            "a model",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    commit(&project);
    base(&project);
    by("two");
    project
        .run(&["gate"])
        .exits_with(3)
        .stderr_contains("`recorded` was accepted with `openai/one`, and has `openai/two` now");
}

#[test]
fn files_that_a_scenario_names_are_part_of_it() {
    let json = r#"{"schema":"ctxc/scenario/1","name":"json","task":"triage","context":{"objective":"x","inputs":{"ticket":"hi"}},"expect_context":[{"nothing_cut":true}]}"#;
    let suite = "id: tools\nfixtures: {tools: {lookup: found}}\ncases:\n  - id: one\n    task: triage\n    runs: 3\n    pass_threshold: 3\n    \
        context: {objective: sort, inputs: {ticket: !file t.txt}}\n    expectations: [{schema: files/s.json}]\n    answers: [{reply: {team: billing}}]\n";
    let edits: [(&str, &str, &str); 7] = [
        ("scenarios/json.json", "\"hi\"", "\"ho\""),
        (
            "scenarios/files/s.json",
            "\"object\"",
            "[\"object\", \"string\"]",
        ),
        ("scenarios/t.txt", "my", "your"),
        ("scenarios/tools.yaml", "lookup: found", "lookup: lost"),
        (
            "scenarios/tools.yaml",
            "runs: 3\n    pass_threshold: 3",
            "runs: 1\n    pass_threshold: 1",
        ),
        ("scenarios/tools.yaml", "runs: 3", "runs: 5"),
        (
            "ctxc.toml",
            "[eval]\n",
            "[templates]\nexclude = [\"other.xml\"]\n\n[eval]\n",
        ),
    ];
    for (path, from, to) in edits {
        let project = branch();
        project.write_file("scenarios/json.json", json);
        project.write_file("scenarios/tools.yaml", suite);
        project.write_file("scenarios/t.txt", "my invoice\n");
        project.write_file("scenarios/files/s.json", "{\"type\": \"object\"}");
        commit(&project);
        base(&project);
        project
            .run(&["gate"])
            .exits_with(0)
            .stdout_contains("nothing is loosened");
        replace(&project, path, from, to);
        let decision = project.run(&["gate", "--json"]).exits_with(4).json();
        assert!(!told(&decision).is_empty(), "{path}: {decision:#}");
    }
}

#[test]
fn results_that_no_one_accepted_excuse_nothing() {
    let project = branch();
    git(&project, &["rm", "-q", "-r", "baselines"]);
    commit(&project);
    base(&project);
    replace(
        &project,
        "scenarios/scripted.yaml",
        "- contains: [invoice]",
        "- contains: [invoice]\n  - contains: [refund]",
    );
    project.run(&["gate"]).exits_with(4);
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "x",
            "--by",
            "me@example.org",
        ])
        .exits_with(0);
    let decision = project.run(&["gate", "--json"]).exits_with(4).json();
    assert!(
        told(&decision).contains(&"baseline".to_owned())
            && told(&decision).contains(&"context".to_owned()),
        "{decision:#}"
    );
    // An older scorecard, or one of some scenarios, is none of this state.
    let project = branch();
    project
        .run(&["eval", "recorded", "--out", "some.json"])
        .exits_with(0);
    project
        .run(&["gate", "--candidate", "some.json"])
        .exits_with(2)
        .stderr_contains("it lacks the current `scripted`");
    project.run(&["eval", "--out", "all.json"]).exits_with(0);
    project
        .run(&["gate", "--candidate", "all.json"])
        .exits_with(0);
    // A checkout with other line ends is no edit.
    for path in ["baselines/recorded.json", LOG] {
        project.write_file(path, project.read_file(path).replace('\n', "\r\n"));
    }
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("nothing is loosened");
}

#[test]
fn a_missing_base_or_answer_or_repository_is_reported() {
    let project = branch();
    project
        .run(&["gate", "--base", "mian"])
        .exits_with(2)
        .stderr_contains("there is no revision `mian`");
    let file = project
        .run(&["gate", "--base", "HEAD:ctxc.toml"])
        .exits_with(2);
    file.stderr_contains("`HEAD:ctxc.toml` is a file of a commit, not a commit")
        .stderr_contains("name a branch, or the id of a commit");
    project
        .run(&["gate", "--base", "HEAD:scenarios"])
        .exits_with(2)
        .stderr_contains("`HEAD:scenarios` is a folder of a commit");
    // Messages hold the first digits of an id.
    let id = project.read_file(".git/refs/heads/main");
    project
        .run(&["gate", "--base", id.trim()])
        .exits_with(0)
        .stdout_contains(&format!("gate against {:.12}: ", id.trim()));
    project
        .run(&["baseline", "accept", "--reason", " "])
        .exits_with(2)
        .stderr_contains("--reason is empty");
    // Without its recording, one of two scenarios has no answer.
    std::fs::remove_file(project.path("scenarios/recordings/recorded.jsonl")).unwrap();
    project
        .run(&["gate", "--min-answered", "0.9"])
        .exits_with(4);
    // A project outside of any repository, then in one in which nothing was recorded or accepted.
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/recorded.yaml", RECORDED);
    project
        .run(&["gate"])
        .exits_with(2)
        .stderr_contains("lies in no git repository");
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project
        .run(&["gate"])
        .exits_with(7)
        .stdout_contains("gate against main: INCONCLUSIVE");
    project
        .run(&["baseline", "accept", "--reason", "x", "--by", "x"])
        .exits_with(1)
        .stderr_contains("`recorded` is inconclusive");
    project
        .run(&["baseline", "show"])
        .exits_with(5)
        .stderr_contains("no results were accepted yet");
    project
        .run(&["baseline", "log"])
        .exits_with(5)
        .stderr_contains("nothing was accepted yet");
}

#[test]
fn a_green_that_rests_on_too_few_answers_is_inconclusive() {
    let project = branch();
    let context = "name: bare\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: [invoice]\n";
    project.write_file("scenarios/bare.yaml", context);
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("3 scenarios, 2 with answers");
    project
        .run(&["gate", "--min-answered", "0.6"])
        .exits_with(0);
    project
        .run(&["gate", "--min-answered", "0.7"])
        .exits_with(7)
        .stdout_contains("INCONCLUSIVE");
    project
        .run(&["gate", "--min-answered", "1.5"])
        .exits_with(2);
}

#[test]
fn what_was_accepted_is_shown() {
    let project = branch();
    let shown = project.run(&["baseline", "show"]).exits_with(0).stdout;
    assert_eq!(
        shown,
        "recorded  pass  1 of 1  no model\nscripted  pass  3 of 3  no model\n"
    );
    let all = project
        .run(&["baseline", "show", "--format", "json"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&all[0]["schema"], &all[1]["cases"][0]["id"]),
        (&json!("ctxc/baseline/1"), &json!("scripted"))
    );
    let log = project.run(&["baseline", "log"]).exits_with(0).stdout;
    assert!(
        log.contains("  lead@example.org  first\n  baseline of `recorded`: accepted results\n"),
        "{log}"
    );
    replace(
        &project,
        "scenarios/scripted.yaml",
        "  - absent: [sorry]\n",
        "",
    );
    accept(&project, "lead@example.org");
    project
        .run(&["gate", "--format", "markdown"])
        .exits_with(0)
        .stdout_contains("lead@example.org")
        .stdout_contains("it is meant so");
}

#[test]
fn results_move_to_another_model_only_where_none_is_worse() {
    let project = branch();
    let migrate = |project: &Project| {
        project.run(&[
            "baseline",
            "migrate",
            "--reason",
            "cheaper",
            "--by",
            "lead@example.org",
        ])
    };
    migrate(&project)
        .exits_with(2)
        .stderr_contains("no scenario has another provider or model than was accepted");
    let models = "[models.small]\nid = \"other\"\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n";
    project.write_file("ctxc.toml", format!("{CONFIG}{models}"));
    replace(
        &project,
        "templates/triage.xml",
        "<description>",
        "<model>small</model>\n  <description>",
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "spam"),
    );
    project.run(&["eval", "--accept"]);
    migrate(&project).exits_with(1).stderr_contains(
        "1 scenario that passed fails with the other model, 0 the other way round: recorded",
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    migrate(&project).exits_with(0);
    assert!(
        project
            .run(&["baseline", "show"])
            .exits_with(0)
            .stdout
            .contains("other")
    );
    project
        .run(&["gate"])
        .exits_with(0)
        .stdout_contains("accepted by lead@example.org (unverified): cheaper");
}

#[test]
fn a_project_without_scenarios_decides_nothing() {
    let project = Project::new().with_file("templates/triage.xml", TASK);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project.run(&["gate"]).exits_with(7);
}

#[test]
fn what_is_recorded_anew_for_another_request_is_listed_and_nothing_is_gone() {
    let project = branch();
    replace(
        &project,
        "templates/triage.xml",
        "by the rules of the house",
        "as the house does",
    );
    let run = project.run(&["gate"]).exits_with(4);
    run.stdout_contains(
        "stale of `recorded`: allowed answers to this request, found answers to an earlier one: `ctxc eval --record --stale`",
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "my invoice", "billing"),
    );
    let decision = project.run(&["gate", "--json"]).exits_with(4).json();
    assert_eq!(
        told(&decision)
            .iter()
            .filter(|kind| *kind == "recording")
            .count(),
        1,
        "{decision:#}"
    );
    // One of two answers to the same request is gone.
    let project = branch();
    let line = recorded(&project, "my invoice", "billing");
    let two = line.clone()
        + &line
            .replace("\"id\":\"1\"", "\"id\":\"2\"")
            .replace("\"billing\"", "\"spam\"");
    project.write_file("scenarios/recordings/recorded.jsonl", &two);
    commit(&project);
    base(&project);
    project.write_file("scenarios/recordings/recorded.jsonl", line);
    let decision = project.run(&["gate", "--json"]).exits_with(4).json();
    assert!(
        told(&decision).contains(&"recording".to_owned()),
        "{decision:#}"
    );
}

#[test]
fn an_expectation_with_other_words_is_shown_with_what_became_of_it() {
    let project = branch();
    replace(&project, "scenarios/scripted.yaml", "max: 60", "max: 600");
    replace(
        &project,
        "scenarios/scripted.yaml",
        "- contains: [billing]",
        "- {contains: [billing], gate: false}",
    );
    let run = project.run(&["gate"]).exits_with(4);
    run.stdout_contains(
        "at most 60: now context: tokens in all at most 600 (scenarios/scripted.yaml)",
    )
    .stdout_contains(", only informs (scenarios/scripted.yaml)")
    .output_lacks("it is gone");
}

#[test]
fn a_result_that_fails_is_accepted_with_a_warning() {
    let project = branch();
    project.write_file(
        "scenarios/scripted.yaml",
        SCRIPTED.replace("reply: billing", "reply: sales"),
    );
    let run = project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "known",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    let run =
        run.stderr_contains("warning: `scripted` fails (0 of 3 trials pass), and is accepted like that: the gate allows it from now on");
    assert!(!run.stderr.contains("`recorded` fails"), "{}", run.stderr);
}
