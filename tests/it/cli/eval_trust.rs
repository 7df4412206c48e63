//! `ctxc eval` never passes without a judgement, and never writes to a place that a repository
//! chooses.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\"><description>Do {{x}}.</description>\
    <parameters><parameter name=\"x\" type=\"string\" required=\"true\"/></parameters></task>\n";

fn sample(rest: &str) -> Project {
    let text =
        format!("name: t-1\ntask: t\ncontext:\n  objective: Do it.\n  inputs: {{x: one}}\n{rest}");
    Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/t.xml", TASK)
        .with_file("scenarios/t-1.yaml", &text)
}

#[test]
fn a_stored_request_that_moved_is_examined_again() {
    let project = sample("expect_context:\n  - snapshot: true\n");
    project.run(&["eval", "--accept"]).exits_with(0);
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    let again = |code: i32| {
        project
            .run(&["eval", "--since", "card.json"])
            .exits_with(code)
    };
    again(0).stdout_contains("CARRIED PASS");
    project.write_file("scenarios/snapshots/t-1.json", "something else");
    again(1).stdout_contains("FAIL");
    std::fs::remove_file(project.path("scenarios/snapshots/t-1.json")).unwrap();
    again(1).stdout_contains("FAIL");
    // The document alone stands on standard output, with any stored files beside it.
    project
        .run(&["eval", "--accept", "--json"])
        .exits_with(0)
        .json();
}

#[test]
fn another_path_of_plans_is_another_case() {
    let project = sample(
        "answers: [{reply: '{\"subtasks\": [1, 2]}'}]\nexpectations: [{decomposes: true}]\n",
    );
    project.run(&["eval", "--out", "card.json"]).exits_with(0);
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[eval]\nplan_path = \"$.plan\"\n",
    );
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(1)
        .stdout_contains("FAIL");
}

#[test]
fn unexamined_files_have_not_passed() {
    let project = sample("expectations: [{contains: [hi]}]\n");
    let run = project.run(&["eval"]).exits_with(7);
    run.stdout_contains("? INCONCLUSIVE")
        .stdout_contains("answer not recorded")
        .stdout_contains("0 passed");
}

#[test]
fn the_opposite_of_what_cannot_be_looked_at_does_not_hold() {
    for expectation in [
        "not: {contains: {in: \"input:tipo\", patterns: [hello]}}",
        "not: {tokens: {of: {id: \"input:tipo\"}, max: 1}}",
        "not: {order: [description, \"input:tipo\"]}",
    ] {
        sample(&format!("expect_context:\n  - {expectation}\n"))
            .run(&["eval"])
            .exits_with(1)
            .stdout_contains("FAIL");
    }
    let answer = "answers: [{reply: 'no JSON at all'}]\nexpectations:\n  - not: {field_matches: {path: $.a, pattern: b}}\n";
    sample(answer)
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("FAIL");
}

#[test]
fn a_value_that_the_task_does_not_know_is_no_pass() {
    let project = sample("expect_context:\n  - nothing_cut: true\n");
    let text = project
        .read_file("scenarios/t-1.yaml")
        .replace("{x: one}", "{x: one, y: two}");
    project.write_file("scenarios/t-1.yaml", text);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("unknown-input (CTX612): scenarios/t-1.yaml:")
        .stdout_contains("the task `t` takes no value `y`");
}

#[test]
fn a_file_of_its_name_is_not_taken_for_a_revision() {
    let project = sample("expect_context:\n  - contains: {patterns: [nowhere]}\n");
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(args)
            .current_dir(project.path("."));
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "all"]);
    git(&["branch", "base"]);
    let card = project
        .run(&["eval", "--json"])
        .exits_with(1)
        .stdout
        .replace("\"verdict\": \"fail\"", "\"verdict\": \"pass\"");
    project.write_file("base", card);
    let run = project.run(&["eval", "--since", "base"]);
    assert!(!run.stdout.contains("CARRIED PASS"), "{}", run.stdout);
}

#[test]
fn accepting_a_request_accepts_nothing_else() {
    // The verdict of this one stays open: a sequential test without a decision.
    let open = "expect_context:\n  - snapshot: true\nexpectations: [{contains: [hi]}]\nanswers: [{reply: hi}]\n\
        rule: {sequential: {p0: 0.6, p1: 0.9, alpha: 0.05, beta: 0.1, max: 2}}\n";
    let project = sample(open);
    project
        .run(&["eval", "--accept"])
        .exits_with(7)
        .stderr_contains("stored: ")
        .stdout_contains("INCONCLUSIVE")
        .stdout_contains("its sequential test is undecided after all 2 trials, of which 2 passed")
        .stdout_contains("0 passed, 0 failed, 0 errored, 1 inconclusive");
    // One of two things holds once the request is stored.
    let either = "expect_context:\n  - any_of:\n      - snapshot: true\n      - contains: {patterns: [nowhere]}\n";
    let project = sample(either);
    project.run(&["eval"]).exits_with(1);
    project
        .run(&["eval", "--accept", "--out", "card.json"])
        .exits_with(0)
        .stdout_contains("PASS (context only)")
        .stdout_contains("1 passed");
    project
        .run(&["eval", "--since", "card.json"])
        .exits_with(0)
        .stdout_contains("CARRIED PASS");
    // The opposite, and an expectation beside it, does not.
    for rest in [
        "  - not: {snapshot: true}\n",
        "  - snapshot: true\n  - all_of:\n      - contains: {patterns: [nowhere]}\n",
    ] {
        let project = sample(&format!("expect_context:\n{rest}"));
        project
            .run(&["eval", "--accept"])
            .exits_with(1)
            .stdout_contains("FAIL");
        project.run(&["eval", "--accept", "--json"]).exits_with(1);
    }
    let wrong = sample(
        "expect_context:\n  - snapshot: true\nexpectations: [{contains: [hi]}]\nanswers: [{reply: no}]\n",
    );
    wrong
        .run(&["eval", "--accept"])
        .exits_with(1)
        .stdout_contains("FAIL")
        .stderr_contains("stored: ");
}

#[test]
fn what_did_not_change_since_a_revision_is_not_run_and_has_not_passed() {
    let project = sample("expect_context:\n  - contains: {patterns: [nowhere]}\n");
    super::eval::commit(&project);
    for args in [
        &["--since", "main"][..],
        &["--affected"],
        &["--affected", "--since", "HEAD"],
    ] {
        let run = project
            .run(&[&["eval"], args].concat())
            .exits_with(0)
            .stdout_contains("0 scenarios: 0 passed");
        run.stderr_contains("1 scenario did not change since ")
            .stderr_contains(": not run");
    }
    let text = project
        .read_file("scenarios/t-1.yaml")
        .replace("nowhere", "no place");
    project.write_file("scenarios/t-1.yaml", text);
    project
        .run(&["eval", "--affected"])
        .exits_with(1)
        .stdout_contains("FAIL")
        .stderr_is_empty();
    // Without a revision nothing is compared with one.
    sample("expect_context:\n  - nothing_cut: true\n")
        .run(&["eval", "--affected"])
        .exits_with(2)
        .stdout_is_empty();
}

#[test]
fn a_name_that_leads_elsewhere_is_no_name() {
    let project = sample("");
    for name in ["../../away", "/away", ".hidden"] {
        project
            .run(&["new", "scenario", "t", "-i", "x=1", "--name", name])
            .exits_with(2)
            .stderr_contains("cannot be a file name");
    }
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[eval]\nscenarios = [\"tests\"]\n",
    );
    project
        .run(&["new", "scenario", "t", "-i", "x=1"])
        .exits_with(0)
        .stdout_contains("wrote tests/t-1.yaml");
    project.run(&["eval"]).exits_with(0);
}

#[cfg(unix)]
#[test]
fn links_of_a_repository_are_not_written_through() {
    use std::os::unix::fs::symlink;
    let project = sample("expect_context:\n  - snapshot: true\n").with_file("victim", "mine");
    std::fs::create_dir_all(project.path("scenarios/snapshots")).unwrap();
    symlink(
        project.path("victim"),
        project.path("scenarios/snapshots/t-1.json"),
    )
    .unwrap();
    project
        .run(&["eval", "--accept"])
        .exits_with(2)
        .stderr_contains("is a link");
    assert_eq!(project.read_file("victim"), "mine");
}

#[test]
fn nothing_but_results_is_written_over_by_results() {
    let project = sample("expect_context:\n  - nothing_cut: true\n");
    let before = project.read_file("scenarios/t-1.yaml");
    for flag in ["--out", "--junit"] {
        project
            .run(&["eval", flag, "scenarios/t-1.yaml"])
            .exits_with(2)
            .stderr_contains("would be overwritten");
        project.run(&["eval", flag, "new"]).exits_with(0);
        project.run(&["eval", flag, "new"]).exits_with(0);
        std::fs::remove_file(project.path("new")).unwrap();
    }
    assert_eq!(project.read_file("scenarios/t-1.yaml"), before);
}

#[cfg(unix)]
#[test]
fn scenarios_are_files_of_the_project() {
    use std::os::unix::fs::symlink;
    let project = sample("expect_context:\n  - nothing_cut: true\n");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("creds"), "API_KEY: secret-words\n").unwrap();
    symlink(
        outside.path().join("creds"),
        project.path("scenarios/l.yaml"),
    )
    .unwrap();
    for verb in ["check", "eval"] {
        let run = project.run(&[verb]);
        assert!(
            !run.stdout.contains("secret-words") && !run.stderr.contains("secret-words"),
            "{}{}",
            run.stdout,
            run.stderr
        );
        assert!(
            format!("{}{}", run.stdout, run.stderr)
                .contains("it lies outside the project's folder"),
            "{}{}",
            run.stdout,
            run.stderr
        );
    }
    std::fs::remove_file(project.path("scenarios/l.yaml")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(project.path("scenarios/p.yaml"))
        .status()
        .unwrap();
    assert!(pipe.success());
    let run = project.run(&["check"]).exits_with(1);
    assert!(
        run.stdout.contains("it is not a regular file"),
        "{}",
        run.stdout
    );
}

#[test]
fn what_nothing_can_judge_has_not_passed_with_or_without_an_answer() {
    let expected =
        "expect_context: [{nothing_cut: true}]\nexpectations: [{contains: [hi]}, {RUBRIC}]\n";
    for (unjudged, why) in [
        ("rubric: it is kind", "`rubric` has no judge"),
        (
            "todo: it is kind",
            "`todo` names an expectation that is still",
        ),
    ] {
        let text = expected.replace("RUBRIC", unjudged);
        let run = sample(&text).run(&["eval"]).exits_with(7);
        run.stdout_contains(&format!("undecided: {why}"))
            .stdout_contains("1 inconclusive; 0 carried, 0 calls, US$ 0; 0 with answers\n");
        sample(&format!("{text}answers: [{{reply: hi}}]\n"))
            .run(&["eval"])
            .exits_with(7)
            .stdout_contains("INCONCLUSIVE")
            .stdout_contains("(skipped)");
        sample(&format!("{text}answers: [{{reply: ho}}]\n"))
            .run(&["eval"])
            .exits_with(1)
            .stdout_contains("FAIL");
        let informs = expected.replace("{RUBRIC}", &format!("{{{unjudged}, gate: false}}"));
        sample(&informs)
            .run(&["eval"])
            .exits_with(0)
            .stdout_contains("PASS (context only)");
        let found = sample(&text).run(&["check"]).exits_with(0);
        found
            .stdout_contains("unjudged-expectation")
            .stdout_contains(if unjudged.starts_with("todo") {
                "still to be written"
            } else {
                "`rubric` needs a judge"
            });
    }
}
