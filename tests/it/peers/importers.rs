//! The engines of other prompt formats: `ctxc import` carries their rendered texts over byte for
//! byte.

use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn copy(from: &Path, project: &Project, to: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{to}/{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            copy(&path, project, &name);
        } else {
            project.write_file(&name, std::fs::read(&path).unwrap());
        }
    }
}

/// The output of an engine for the inputs of a folder.
fn rendered(project: &Project, script: &str, folder: &str, args: &[&str]) -> String {
    let mut python = Command::new("python3");
    python
        .args(["-W", "ignore"])
        .arg(format!("{ROOT}/tests/import/{script}"))
        .arg(project.path(folder))
        .args(args);
    let output = python
        .output()
        .unwrap_or_else(|error| panic!("python3: {error}"));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn equal(folder: &str, script: &str, args: &[&str], switches: &[&str]) {
    let project = Project::new();
    copy(
        &Path::new(ROOT).join("tests/import").join(folder),
        &project,
        folder,
    );
    let samples = rendered(&project, script, folder, args);
    assert!(samples.lines().count() >= 3, "{samples}");
    project.write_file("samples.jsonl", &samples);
    let args: Vec<&str> = ["import", folder, "--verify", "samples.jsonl"]
        .iter()
        .chain(switches)
        .copied()
        .collect();
    project
        .run(&args)
        .exits_with(0)
        .stdout_contains("samples: every message equal, byte for byte");
    // The written files render as the compared ones.
    let count = project.run(&["check"]).exits_with(0);
    assert!(count.stdout.contains("nothing found"), "{}", count.stdout);
}

#[test]
#[ignore = "needs importers: Jinja2"]
fn importers_jinja_renders_what_its_templates_do() {
    for switches in [
        &[][..],
        &["trim_blocks"],
        &["lstrip_blocks"],
        &["trim_blocks", "lstrip_blocks"],
        &["keep_trailing_newline"],
        &["trim_blocks", "lstrip_blocks", "keep_trailing_newline"],
    ] {
        let flags: Vec<String> = switches
            .iter()
            .map(|switch| format!("--{}", switch.replace('_', "-")))
            .collect();
        equal(
            "jinja",
            "render_jinja.py",
            switches,
            &flags.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
}

#[test]
#[ignore = "needs importers: Jinja2"]
fn importers_jinja_states_of_each_filter_what_is_written_down() {
    let rows = format!("{ROOT}/tests/import/filters.jsonl");
    let output = Command::new("python3")
        .args([&format!("{ROOT}/tests/import/render_filters.py"), &rows])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        std::fs::read_to_string(&rows).unwrap()
    );
}

#[test]
#[ignore = "needs importers: dotprompt, Prompty, LangChain"]
fn importers_of_other_formats_render_what_their_templates_do() {
    for format in ["dotprompt", "prompty", "langchain"] {
        equal(format, "render_others.py", &[format], &[]);
    }
}

#[test]
#[ignore = "needs importers: the engines of the shipped prompts"]
fn importers_give_the_samples_of_the_shipped_migrations() {
    let project = Project::new();
    copy(
        &Path::new(ROOT).join("templates/imported"),
        &project,
        "imported",
    );
    project.write_file(
        "imported/inputs.jsonl",
        std::fs::read(format!("{ROOT}/tests/import/shipped.jsonl")).unwrap(),
    );
    let samples =
        std::fs::read_to_string(format!("{ROOT}/templates/imported/samples.jsonl")).unwrap();
    assert_eq!(
        rendered(&project, "render_shipped.py", "imported", &[]),
        samples
    );
}
