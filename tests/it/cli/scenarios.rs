//! Scenarios as a part of `ctxc check`: found, shown with carets, fixed, suppressed, explained.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>sort {{ticket}}</description>\n  <parameters>\n    \
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <context_management>\n    \
    <inherit_context>full</inherit_context>\n  </context_management>\n</task>\n";
const SOUND: &str = "name: refund\ntask: triage\ncontext:\n  objective: sort the ticket\n  inputs: {ticket: late}\nexpect_context:\n  \
    - nothing_cut: true\n";

fn project() -> Project {
    Project::new().with_file("templates/triage.xml", TASK)
}

fn broken() -> String {
    SOUND
        .replace("refund", "broken")
        .replace("nothing_cut", "nothing_cutt")
        + "  - tokens: {max: 5}\n"
}

#[test]
fn they_are_checked_with_the_templates() {
    let project = project().with_file("scenarios/a.yaml", SOUND);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 2 files: nothing found");
    project.write_file("scenarios/deep/b.yaml", broken());
    let run = project.run(&["check"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    error[unknown-scenario-key] scenarios/deep/b.yaml:7:5: an expectation on the context (`expect_context`) has no key `nothing_cutt` (CTX602)
       ╭─
     6 │ expect_context:
     7 │   - nothing_cutt: true
       ·     ────────────
     8 │   - tokens: {max: 5}
       ╰────
      = nothing reads it, so it tests nothing; the keys are `segment`, `segments`, `trust`, `contains`, `absent`, `order`, `tokens`, `prompt_cache`, `nothing_cut`, `setting`, `tools`, `model`, `protected_paths`, `lookup`, `snapshot`, `not`, `any_of`, `all_of`, `node`
      help: did you mean `nothing_cut`?
      fix: write `nothing_cut`

    checked 3 files: 1 error; 1 fixable with `check --fix --unsafe-fixes`
    by rule: unknown-scenario-key 1
    "#);
    // A file, a folder, and templates alone.
    project
        .run(&["check", "scenarios/a.yaml"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found");
    project
        .run(&["check", "scenarios"])
        .exits_with(1)
        .stdout_contains("checked 2 files: 1 error");
    project
        .run(&["check", "scenarios/deep/b.yaml"])
        .exits_with(1)
        .stdout_contains("checked 1 file: 1 error");
    project
        .run(&["check", "templates"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found");
    let json = project.run(&["check", "--json"]).exits_with(1).stdout;
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let first = &report["diagnostics"][0];
    assert_eq!(
        (&first["name"], &first["path"]),
        (
            &"unknown-scenario-key".into(),
            &"scenarios/deep/b.yaml".into()
        )
    );
    let sarif = project
        .run(&["check", "--format", "sarif"])
        .exits_with(1)
        .stdout;
    assert!(
        sarif.contains("\"CTX602\"") && sarif.contains("scenarios/deep/b.yaml"),
        "{sarif}"
    );
}

#[test]
fn fixes_mend_them() {
    let project = project().with_file("scenarios/b.yaml", broken());
    project
        .run(&["check", "--diff", "--unsafe-fixes"])
        .exits_with(1)
        .stdout_contains("-  - nothing_cutt: true\n+  - nothing_cut: true\n");
    // The intended value is the author's decision.
    project.run(&["check", "--fix"]).exits_with(1);
    assert_eq!(project.read_file("scenarios/b.yaml"), broken());
    project
        .run(&["check", "--fix", "--unsafe-fixes", "scenarios/b.yaml"])
        .exits_with(0)
        .stdout_contains("checked 1 file, fixed 1 finding: nothing left");
    assert_eq!(
        project.read_file("scenarios/b.yaml"),
        SOUND.replace("refund", "broken") + "  - tokens: {max: 5}\n"
    );
}

#[test]
fn suppressions_and_lints_hold_for_them() {
    let project = project().with_file("scenarios/b.yaml", broken());
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("1 suppressed");
    std::fs::remove_file(project.path("ctxc.suppressions.toml")).unwrap();
    project.write_file("ctxc.toml", "[lints]\nscenario = \"off\"\n");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project.write_file("ctxc.toml", "[eval]\nscenarios = \"elsewhere\"\n");
    project
        .run(&["check", "--verbose"])
        .exits_with(0)
        .stdout_contains("the agent `triage` has no scenario");
    project
        .run(&["explain", "review-due"])
        .exits_with(0)
        .stdout_contains("SOURCE_DATE_EPOCH");
    project
        .run(&["explain", "CTX602"])
        .exits_with(0)
        .stdout_contains("unknown-scenario-key");
}

#[test]
fn the_clock_can_be_given() {
    let project = project().with_file("scenarios/a.yaml", format!("{SOUND}reviewed: 2026-01-01\n"));
    let on = |seconds: &str| {
        let output = project
            .command(&["check"])
            .env("SOURCE_DATE_EPOCH", seconds)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // The first of January and the second of April of 2026.
    assert!(on("1767225600").contains("nothing found"));
    assert!(on("1775088000").contains("last reviewed 91 days ago; after 90 a review is due"));
}

#[test]
fn files_that_cannot_be_read_are_reported() {
    let project = project()
        .with_file("scenarios/latin.yaml", b"name: caf\xe9\n")
        .with_file("scenarios/large.yaml", vec![b' '; 50 << 20])
        .with_file("scenarios/tabs.yaml", "name: a\n\ttask: t\n")
        .with_file(
            "scenarios/bomb.yaml",
            "a: &a [1]\nb: &b [*a,*a]\n".repeat(3),
        );
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    run.stdout_contains("scenarios/latin.yaml")
        .stdout_contains("is not part of a UTF-8 character")
        .stdout_contains("scenarios/large.yaml")
        .stdout_contains("scenarios/tabs.yaml:2:1");
    // Errors in a template: tasks are not known, so receivers are not looked up.
    project.write_file("templates/broken.xml", "<task");
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    assert!(!run.stdout.contains("unknown-receiver"), "{}", run.stdout);
}

#[test]
fn frozen_files_and_tables_are_looked_for_beside_them() {
    let project = project()
        .with_file("scenarios/a.yaml", SOUND.replace("late", "'@files/t.txt'"))
        .with_file(
            "scenarios/s.yaml",
            "id: s\ndefaults: {task: triage, context: {objective: x}}\ncases_from: rows.csv\n",
        )
        .with_file("scenarios/rows.csv", "id,tickt,contains\n1,late,x\n");
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/a.yaml:5:20: error[missing-frozen-file]: there is no file `scenarios/files/t.txt`
    scenarios/s.yaml:3:13: error[unknown-input]: the task `triage` takes no value `tickt`
    checked 3 files: 2 errors
    by rule: missing-frozen-file 1, unknown-input 1
    "#);
    project.write_file("scenarios/files/t.txt", "late");
    project.write_file("scenarios/rows.csv", "id,ticket,contains\n1,late,x\n");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 3 files: nothing found");
}
