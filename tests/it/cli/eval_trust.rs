//! `ctxc eval` is never green for want of looking, and never writes where a repository leads it.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\"><description>Do {{x}}.</description>\
    <parameters><parameter name=\"x\" type=\"string\" required=\"true\"/></parameters></task>\n";

fn sample(rest: &str) -> Project {
    let text =
        format!("name: t-1\ntask: t\ncontext:\n  objective: Do it.\n  inputs: {{x: one}}\n{rest}");
    Project::new()
        .file("ctxc.toml", "edition = \"2026\"\n")
        .file("templates/t.xml", TASK)
        .file("scenarios/t-1.yaml", &text)
}

#[test]
fn a_stored_request_that_moved_is_looked_at_again() {
    let project = sample("expect_context:\n  - snapshot: true\n");
    project.run(&["eval", "--accept"]).code(0);
    project.run(&["eval", "--out", "card.json"]).code(0);
    let again = |code: i32| project.run(&["eval", "--since", "card.json"]).code(code);
    again(0).says("CARRIED PASS");
    project.write("scenarios/snapshots/t-1.json", "something else");
    again(1).says("FAIL");
    std::fs::remove_file(project.path("scenarios/snapshots/t-1.json")).unwrap();
    again(1).says("FAIL");
    // The document alone stands on standard output, whatever is stored beside it.
    project.run(&["eval", "--accept", "--json"]).code(0).json();
}

#[test]
fn another_path_of_plans_is_another_case() {
    let project = sample(
        "answers: [{reply: '{\"subtasks\": [1, 2]}'}]\nexpectations: [{decomposes: true}]\n",
    );
    project.run(&["eval", "--out", "card.json"]).code(0);
    project.write(
        "ctxc.toml",
        "edition = \"2026\"\n[eval]\nplan_path = \"$.plan\"\n",
    );
    project
        .run(&["eval", "--since", "card.json"])
        .code(1)
        .says("FAIL");
}

#[test]
fn what_nobody_looked_at_has_not_passed() {
    let project = sample("expectations: [{contains: [hi]}]\n");
    let run = project.run(&["eval"]).code(7);
    run.says("answer not recorded  INCONCLUSIVE")
        .says("0 passed");
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
            .code(1)
            .says("FAIL");
    }
    let answer = "answers: [{reply: 'no JSON at all'}]\nexpectations:\n  - not: {field_matches: {path: $.a, pattern: b}}\n";
    sample(answer).run(&["eval"]).code(1).says("FAIL");
}

#[test]
fn a_value_that_the_task_does_not_know_is_no_pass() {
    let project = sample("expect_context:\n  - nothing_cut: true\n");
    let text = project
        .read("scenarios/t-1.yaml")
        .replace("{x: one}", "{x: one, y: two}");
    project.write("scenarios/t-1.yaml", text);
    project
        .run(&["eval"])
        .code(1)
        .says("unknown-input (CTX612): scenarios/t-1.yaml:")
        .says("the task `t` takes no value `y`");
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
        .code(1)
        .stdout
        .replace("\"verdict\": \"fail\"", "\"verdict\": \"pass\"");
    project.write("base", card);
    let run = project.run(&["eval", "--since", "base"]);
    assert!(!run.stdout.contains("CARRIED PASS"), "{}", run.stdout);
}

#[test]
fn whoever_accepts_a_request_accepts_nothing_else() {
    // Nothing decides whether this one passes: a sequential test that came to no end.
    let open = "expect_context:\n  - snapshot: true\nexpectations: [{contains: [hi]}]\nanswers: [{reply: hi}]\n\
        rule: {sequential: {p0: 0.6, p1: 0.9, alpha: 0.05, beta: 0.1, max: 2}}\n";
    let project = sample(open);
    project
        .run(&["eval", "--accept"])
        .code(7)
        .warns("stored: ")
        .says("INCONCLUSIVE")
        .says("its sequential test is undecided after all 2 trials, of which 2 passed")
        .says("0 passed, 0 failed, 0 errored, 1 inconclusive");
    // One of two things holds once the request is stored.
    let either = "expect_context:\n  - any_of:\n      - snapshot: true\n      - contains: {patterns: [nowhere]}\n";
    let project = sample(either);
    project.run(&["eval"]).code(1);
    project
        .run(&["eval", "--accept", "--out", "card.json"])
        .code(0)
        .says("PASS (context only)")
        .says("1 passed");
    project
        .run(&["eval", "--since", "card.json"])
        .code(0)
        .says("CARRIED PASS");
    // The opposite, and what stands beside it, does not.
    for rest in [
        "  - not: {snapshot: true}\n",
        "  - snapshot: true\n  - all_of:\n      - contains: {patterns: [nowhere]}\n",
    ] {
        let project = sample(&format!("expect_context:\n{rest}"));
        project.run(&["eval", "--accept"]).code(1).says("FAIL");
        project.run(&["eval", "--accept", "--json"]).code(1);
    }
    let wrong = sample(
        "expect_context:\n  - snapshot: true\nexpectations: [{contains: [hi]}]\nanswers: [{reply: no}]\n",
    );
    wrong
        .run(&["eval", "--accept"])
        .code(1)
        .says("FAIL")
        .warns("stored: ");
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
            .code(0)
            .says("0 scenarios: 0 passed");
        run.warns("1 scenario did not change since ")
            .warns(": not run");
    }
    let text = project
        .read("scenarios/t-1.yaml")
        .replace("nowhere", "no place");
    project.write("scenarios/t-1.yaml", text);
    project
        .run(&["eval", "--affected"])
        .code(1)
        .says("FAIL")
        .silent();
    // Where there is no revision nothing is compared with one.
    sample("expect_context:\n  - nothing_cut: true\n")
        .run(&["eval", "--affected"])
        .code(2)
        .silent_out();
}

#[test]
fn a_name_that_leads_elsewhere_is_no_name() {
    let project = sample("");
    for name in ["../../away", "/away", ".hidden"] {
        project
            .run(&["new", "scenario", "t", "-i", "x=1", "--name", name])
            .code(2)
            .warns("cannot be a file name");
    }
    project.write(
        "ctxc.toml",
        "edition = \"2026\"\n[eval]\nscenarios = [\"tests\"]\n",
    );
    project
        .run(&["new", "scenario", "t", "-i", "x=1"])
        .code(0)
        .says("wrote tests/t-1.yaml");
    project.run(&["eval"]).code(0);
}

#[cfg(unix)]
#[test]
fn links_of_a_repository_are_not_written_through() {
    use std::os::unix::fs::symlink;
    let project = sample("expect_context:\n  - snapshot: true\n").file("victim", "mine");
    std::fs::create_dir_all(project.path("scenarios/snapshots")).unwrap();
    symlink(
        project.path("victim"),
        project.path("scenarios/snapshots/t-1.json"),
    )
    .unwrap();
    project
        .run(&["eval", "--accept"])
        .code(2)
        .warns("is a link");
    assert_eq!(project.read("victim"), "mine");
}

#[test]
fn nothing_but_results_is_written_over_by_results() {
    let project = sample("expect_context:\n  - nothing_cut: true\n");
    let before = project.read("scenarios/t-1.yaml");
    for flag in ["--out", "--junit"] {
        project
            .run(&["eval", flag, "scenarios/t-1.yaml"])
            .code(2)
            .warns("would be overwritten");
        project.run(&["eval", flag, "new"]).code(0);
        project.run(&["eval", flag, "new"]).code(0);
        std::fs::remove_file(project.path("new")).unwrap();
    }
    assert_eq!(project.read("scenarios/t-1.yaml"), before);
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
    let run = project.run(&["check"]).code(1);
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
        ("rubric: it is kind", "`rubric` is not judged yet"),
        (
            "todo: it is kind",
            "`todo` names an expectation that is still",
        ),
    ] {
        let text = expected.replace("RUBRIC", unjudged);
        let run = sample(&text).run(&["eval"]).code(7);
        run.says(&format!("undecided: {why}"))
            .says("1 inconclusive; 0 carried, 0 calls, US$ 0; 0 with answers\n");
        sample(&format!("{text}answers: [{{reply: hi}}]\n"))
            .run(&["eval"])
            .code(7)
            .says("INCONCLUSIVE")
            .says("(skipped)");
        sample(&format!("{text}answers: [{{reply: ho}}]\n"))
            .run(&["eval"])
            .code(1)
            .says("FAIL");
        let informs = expected.replace("{RUBRIC}", &format!("{{{unjudged}, gate: false}}"));
        sample(&informs)
            .run(&["eval"])
            .code(0)
            .says("PASS (context only)");
        let found = sample(&text).run(&["check"]).code(0);
        found
            .says("unjudged-expectation")
            .says(if unjudged.starts_with("todo") {
                "still to be written"
            } else {
                "`rubric` is not judged yet"
            });
    }
}
