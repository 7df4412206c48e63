//! Runs of `eval` kept in the history, and `ctxc history`.

use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::json;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n</task>\n";

fn scenario(name: &str, reply: &str) -> String {
    format!(
        "name: {name}\ntask: triage\ncontext: {{objective: sort}}\nexpectations: [{{contains: [billing]}}]\nanswers: [{{reply: {reply}}}]\n"
    )
}

pub(crate) fn sample() -> Project {
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/good.yaml", scenario("good", "billing"))
        .with_file("scenarios/bad.yaml", scenario("bad", "access"))
        .with_file(
            "scenarios/context.yaml",
            "name: context\ntask: triage\ncontext: {objective: sort}\nexpect_context: [{nothing_cut: true}]\n",
        )
}

#[test]
fn each_run_is_kept_with_its_cases_and_trials() {
    let project = sample();
    project
        .run(&["history", "list"])
        .exits_with(0)
        .stdout_contains("no run is kept yet");
    project
        .run(&["history", "show", "last"])
        .exits_with(2)
        .stderr_contains("no run is kept yet");
    project.run(&["eval"]).exits_with(1);
    project.run(&["eval", "good"]).exits_with(0);
    project.run(&["eval", "--no-history"]).exits_with(1);
    let runs = project
        .run(&["history", "list", "--json"])
        .exits_with(0)
        .json();
    let of = |run: &serde_json::Value| {
        (
            run["planned"].clone(),
            run["cases"].clone(),
            run["passed"].clone(),
            run["finished"].clone(),
        )
    };
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!(
        runs.iter().map(of).collect::<Vec<_>>(),
        [
            (json!(3), json!(3), json!(2), json!(true)),
            (json!(1), json!(1), json!(1), json!(true))
        ]
    );
    assert_eq!(runs[0]["mode"], "deterministic");
    let id = runs[0]["id"].as_str().unwrap();
    let show = project
        .run(&["history", "show", id])
        .exits_with(0)
        .stdout_contains("2 of 3 passed, 3 planned");
    show.stdout_contains("  bad  fail, 0 of 2 trials by script")
        .stdout_contains("  context  pass\n")
        .stdout_contains("  good  pass, 2 of 2 trials by script");
    let cases = project
        .run(&["history", "show", "last", "--json"])
        .exits_with(0)
        .json()["cases"]
        .clone();
    let card = project
        .run(&["eval", "good", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(cases[0]["result"], card["cases"][0]);
    assert_eq!(cases[0]["trials"].as_array().unwrap().len(), 2);
    project
        .run(&["history", "show", "nosuch"])
        .exits_with(2)
        .stderr_contains("there is no run `nosuch`")
        .stderr_contains("`ctxc history list` lists the runs");
    project
        .run(&["history", "show", "2"])
        .exits_with(2)
        .stderr_contains("several runs begin with `2`");
}

#[test]
fn scripted_answers_are_kept_masked_and_judged_again() {
    let reply = "\"billing, DB_PASSWORD=hunter2plain of a.person@example.org\"";
    let project = sample().with_file(
        "ctxc.toml",
        "edition = \"2026\"\n[history]\npath = \"runs.db\"\n",
    );
    project.write_file("scenarios/good.yaml", scenario("good", reply));
    project.run(&["eval", "good"]).exits_with(0);
    let kept =
        String::from_utf8_lossy(&std::fs::read(project.path("runs.db")).unwrap()).into_owned();
    assert!(
        kept.contains("billing, DB_PASSWORD=⟦secret⟧ of ⟦email⟧"),
        "{kept}"
    );
    assert!(
        !kept.contains("hunter2plain") && !kept.contains("a.person"),
        "{kept}"
    );
    project
        .run(&["history", "show", "last", "--json"])
        .exits_with(0)
        .output_lacks("hunter2plain");
    project.run(&["eval", "good", "--rescore"]).exits_with(0);
}

#[test]
fn a_history_is_pruned_and_moves_as_lines() {
    let project = sample();
    for _ in 0..3 {
        project.run(&["eval"]).exits_with(1);
    }
    let lines = project
        .run(&["history", "export", "-"])
        .exits_with(0)
        .stdout;
    assert_eq!(lines.lines().count(), 3);
    project
        .run(&["history", "export", "runs.jsonl"])
        .exits_with(0);
    assert_eq!(project.read_file("runs.jsonl"), lines);
    let count = || {
        project
            .run(&["history", "list"])
            .exits_with(0)
            .stdout
            .lines()
            .count()
    };
    project
        .run(&["history", "prune", "--older-than", "1"])
        .exits_with(0)
        .stderr_contains("0 runs forgotten, 3 kept");
    project
        .run(&["history", "prune"])
        .exits_with(2)
        .stderr_contains("--keep");
    project
        .run(&["history", "prune", "--keep", "1"])
        .exits_with(0)
        .stderr_contains("2 runs forgotten, 1 kept");
    assert_eq!(count(), 1);
    project
        .run(&["history", "import", "runs.jsonl"])
        .exits_with(0)
        .stderr_contains("2 runs imported, 1 kept already");
    project
        .run(&["history", "import", "runs.jsonl"])
        .exits_with(0)
        .stderr_contains("0 runs imported, 3 kept already");
    assert_eq!(
        project
            .run(&["history", "export", "-"])
            .exits_with(0)
            .stdout,
        lines
    );
    project.write_file(
        "runs.jsonl",
        format!("{}\n{{}}\n", lines.lines().next().unwrap()),
    );
    project
        .run(&["history", "import", "runs.jsonl"])
        .exits_with(3)
        .stderr_contains("runs.jsonl, line 2: it is not a run: missing field `schema`");
    project
        .run(&["history", "import", "nowhere.jsonl"])
        .exits_with(2)
        .stderr_contains("nowhere.jsonl cannot be read");
    assert_eq!(count(), 3);
}

#[test]
fn a_project_may_keep_its_history_in_a_file_of_its_own() {
    let project = sample().with_file("ctxc.toml", "[history]\npath = \"kept/runs.db\"\n");
    project.run(&["eval", "good"]).exits_with(0);
    assert!(project.files().contains(&"kept/runs.db".to_owned()));
    project
        .run(&["history", "list"])
        .exits_with(0)
        .stdout_contains("1 of 1 passed");
    project.write_file("ctxc.toml", "[history]\npath = \"../runs.db\"\n");
    project.run(&["eval", "good"]).exits_with(2);
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("expected a file of the project, relative to its root");
}

#[test]
fn a_history_that_cannot_be_written_stops_a_run_only_where_the_project_wants_it() {
    let project = sample()
        .with_file("ctxc.toml", "[history]\npath = \"runs.db\"\n")
        .with_file("runs.db", "no database, but a text of some length");
    let run = project
        .run(&["eval", "good"])
        .exits_with(3)
        .stdout_contains("PASS")
        .stderr_contains("the history in ");
    run.stderr_contains("it is not a history of ctxc: file is not a database")
        .stderr_contains("move the file away, and the next `ctxc eval` begins");
    project.run(&["eval", "good", "--no-history"]).exits_with(0);
    project
        .run(&["history", "list"])
        .exits_with(3)
        .stderr_contains("it is not a history of ctxc");
    assert_eq!(
        project.read_file("runs.db"),
        "no database, but a text of some length"
    );
    project.write_file("ctxc.toml", "");
    let mut command = project.command(&["eval", "good"]);
    command.env("XDG_STATE_HOME", project.path("runs.db"));
    super::project::ProgramRun::from(command.output().unwrap())
        .exits_with(0)
        .stdout_contains("PASS")
        .stderr_contains("this run is not stored in the history");
    #[cfg(unix)]
    {
        project.write_file("ctxc.toml", "[history]\npath = \"linked.db\"\n");
        std::os::unix::fs::symlink("/nowhere", project.path("linked.db")).unwrap();
        project
            .run(&["eval", "good"])
            .exits_with(2)
            .stdout_contains("PASS")
            .stderr_contains("linked.db is a link");
    }
}

#[test]
fn a_history_that_another_program_holds_is_waited_for_and_then_refused() {
    let project = sample().with_file("ctxc.toml", "[history]\npath = \"runs.db\"\n");
    project.run(&["eval"]).exits_with(1);
    let held = rusqlite::Connection::open(project.path("runs.db")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Its results are shown all the same.
    let run = project
        .run(&["eval", "good"])
        .exits_with(3)
        .stdout_contains("1 scenario: 1 passed");
    let busy = "runs.db cannot be used: another program is writing to it and did not finish within 5 seconds";
    run.stderr_contains(busy)
        .stderr_contains("try again once that program has finished");
    project
        .run(&["eval", "good", "--resume"])
        .exits_with(3)
        .stdout_is_empty()
        .stderr_contains(busy);
    // A reader need not wait.
    project.run(&["history", "list"]).exits_with(0);
    held.execute_batch("ROLLBACK").unwrap();
    project.run(&["eval", "good"]).exits_with(0);
    assert_eq!(
        project
            .run(&["history", "list", "--json"])
            .exits_with(0)
            .json()["runs"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn verdicts_that_cannot_be_read_make_nothing_green() {
    let project = sample();
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(project.path(""))
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(args);
        git.envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .env_remove("GIT_DIR");
        assert!(git.output().unwrap().status.success());
    };
    project.write_file("ctxc.toml", "[history]\npath = \"history.db\"\n");
    project.run(&["eval"]).exits_with(1);
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "all"]);
    project.run(&["eval", "--affected"]).exits_with(1);
    let whole = std::fs::read(project.path("history.db")).unwrap();
    for damage in ["header", "middle"] {
        let mut bytes = whole.clone();
        let from = if damage == "header" {
            0
        } else {
            bytes.len() / 2
        };
        let until = bytes.len().min(from + 4_096);
        bytes[from..until].fill(0xff);
        std::fs::write(project.path("history.db"), bytes).unwrap();
        project
            .run(&["eval", "--affected"])
            .exits_with(3)
            .stderr_contains("history.db cannot be used");
    }
    // Without a named file no file is known: everything is run.
    project.write_file("ctxc.toml", "");
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "no history"]);
    let mut command = project.command(&["eval", "--affected"]);
    let run = command
        .env("XDG_STATE_HOME", project.path("state"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&run.stderr);
    assert!(
        printed.contains("running every scenario, as no earlier verdicts are known"),
        "{printed}"
    );
    assert_eq!(run.status.code(), Some(1));
}
