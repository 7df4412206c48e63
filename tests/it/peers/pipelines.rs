//! Readers of what stands around the program: the action and the hooks, completion scripts, manual pages.

use crate::cli::project::Project;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn succeeds(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).current_dir(ROOT).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {args:?}\n{said}\n{told}");
}

#[test]
#[ignore = "needs pipelines: check-jsonschema and pre-commit"]
fn the_action_and_the_hooks_are_what_their_services_take() {
    succeeds("check-jsonschema", &["--builtin-schema", "vendor.github-actions", "action.yml"]);
    let project = Project::new();
    project.run(&["init", "--ci", "github"]).code(0);
    let written = project.path(".github/workflows/ctxc.yml");
    for workflow in [
        "examples/ci/.github/workflows/ctxc.yml",
        "examples/python_agent/.github/workflows/ctxc.yml",
        "examples/langgraph_agent/.github/workflows/ctxc.yml",
        written.to_str().unwrap(),
    ] {
        succeeds("check-jsonschema", &["--builtin-schema", "vendor.github-workflows", workflow]);
    }
    succeeds("pre-commit", &["validate-manifest", ".pre-commit-hooks.yaml"]);
}

#[test]
#[ignore = "needs pipelines: bash, zsh and fish"]
fn shells_can_read_their_completions() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        project.write(shell, project.run(&["completions", shell]).code(0).stdout);
        let script = project.path(shell);
        succeeds(shell, &["-n", script.to_str().unwrap()]);
    }
    // One is asked, as a person would: what `ctxc che` can go on with.
    let asked = format!(
        "source {}; COMP_WORDS=(ctxc che); COMP_CWORD=1; _ctxc ctxc che ctxc; [ \"${{COMPREPLY[*]}}\" = check ]",
        project.path("bash").display()
    );
    succeeds("bash", &["-c", &asked]);
}

#[test]
#[ignore = "needs pipelines: mandoc"]
fn manual_pages_have_no_errors() {
    let project = Project::new();
    for verb in [&["man"][..], &["man", "check"], &["man", "schema"]] {
        project.write("page.1", project.run(verb).code(0).stdout);
        succeeds("mandoc", &["-T", "lint", "-W", "error", project.path("page.1").to_str().unwrap()]);
    }
}

#[test]
#[ignore = "needs pipelines: check-jsonschema"]
fn real_artifacts_are_valid_by_the_schema_of_all_artifacts() {
    let project = Project::new().file("a.xml", "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n</task>\n");
    project.run(&["build"]).code(0);
    project.write("ctxc.schema.json", project.run(&["schema", "json"]).code(0).stdout);
    for (name, args) in [("check", &["check", "--json"][..]), ("show", &["show", "a", "--json"]), ("rules", &["rules", "--json"])]
    {
        project.write(&format!("{name}.json"), project.run(args).code(0).stdout);
    }
    let path = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let schema = path("ctxc.schema.json");
    succeeds("check-jsonschema", &["--check-metaschema", &schema]);
    for name in ["registry", "check", "show", "rules"] {
        succeeds("check-jsonschema", &["--schemafile", &schema, &path(&format!("{name}.json"))]);
    }
    project.write("bad.json", project.read("check.json").replace("\"files\"", "\"flies\""));
    let bad = Command::new("check-jsonschema").args(["--schemafile", &schema, &path("bad.json")]).output().unwrap();
    assert!(!bad.status.success(), "a key of another name is refused");
}
