//! Changes that move the hash of a task and changes that do not; a registry depends only on the
//! content of the files.

use ctxc::internals::base::hash::Hash;
use ctxc::internals::registry::workspace::project_check::check_project;
use ctxc::internals::registry::workspace::request::{
    CheckGoal, CheckRequest, FileOverlay, InputRecording,
};
use ctxc::internals::rules::check::Fingerprints;
use ctxc::{Config, Project, Severity, compile_sources};
use pretty_assertions::assert_eq;
use std::num::NonZeroUsize;
use std::path::Path;

fn hash(sources: &[(&str, &str)], task: &str) -> Hash {
    let built = compile_sources(&Config::default(), sources.iter().copied());
    built
        .registry
        .unwrap_or_else(|| panic!("{:?}", built.diagnostics))
        .task(task)
        .unwrap()
        .hash()
}

#[test]
fn comments_and_the_layout_of_a_schema_mean_nothing() {
    let task = "<task name=\"t\" type=\"atomic\"><description>d</description><output_format type=\"json\" schema=\"s.json\"/></task>";
    let of = |task: &str, schema: &str| hash(&[("t.xml", task), ("s.json", schema)], "t");
    let before = of(task, "{\"type\": \"object\"}");
    assert_eq!(
        of(
            &format!("{task}<!-- kind -->"),
            "{\n  \"type\": \"object\"\n}\n"
        ),
        before
    );
    assert_ne!(of(task, "{\"type\": \"array\"}"), before);
}

#[test]
fn a_schema_that_is_none_is_a_finding() {
    let task = "<task name=\"t\" type=\"atomic\"><description>d</description><output_format type=\"json\" schema=\"s.json\"/></task>";
    let found = |files: &[(&str, &str)]| {
        compile_sources(&Config::default(), files.iter().copied()).diagnostics
    };
    let broken = &found(&[
        ("t.xml", task),
        ("s.json", "{\n  \"type\": \"object\" \"title\"\n}\n"),
    ])[0];
    assert_eq!(
        (broken.rule.name, broken.span.slice(task)),
        ("bad-schema", "s.json")
    );
    assert_eq!(
        broken.message,
        "`s.json` is not a valid JSON Schema: expected `,` or `}` at line 2, column 20"
    );
    assert_eq!(found(&[("t.xml", task)])[0].rule.name, "missing-source");
    // Nor does it come from outside of the project.
    let outside = &found(&[("templates/t.xml", &task.replace("s.json", "../../s.json"))])[0];
    assert!(
        outside
            .message
            .ends_with("it lies outside the project's folder"),
        "{}",
        outside.message
    );
}

#[test]
fn a_changed_fragment_moves_the_hash_of_all_that_rest_on_it() {
    let user = "<task name=\"u\" type=\"atomic\"><description>d</description><instructions><use fragment=\"f\"/></instructions></task>";
    let top = "<task name=\"top\" type=\"sequential\"><description>d</description><steps><task ref=\"u\"/></steps></task>";
    let other = "<task name=\"other\" type=\"atomic\"><description>d</description></task>";
    let of = |text: &str, task: &str| {
        let library = format!("<library><fragment name=\"f\">{text}</fragment></library>");
        hash(
            &[
                ("u.xml", user),
                ("top.xml", top),
                ("other.xml", other),
                ("f.xml", &library),
            ],
            task,
        )
    };
    for (task, moves) in [("u", true), ("top", true), ("other", false)] {
        assert_eq!(of("be kind", task) != of("be brief", task), moves, "{task}");
    }
}

/// The registry does not depend on the project's folder, nor on the order in which threads finish.
#[test]
fn the_same_files_give_the_same_bytes_anywhere() {
    let build = |threads: usize| {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..60 {
            let path = folder.path().join(format!("templates/{}/t{n}.xml", n % 5));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let task = format!(
                "<task name=\"t{n}\" type=\"atomic\"><description>d {n}</description></task>"
            );
            std::fs::write(path, task).unwrap();
        }
        let bytes = registry(folder.path(), threads);
        assert!(
            !bytes.contains(&*folder.path().to_string_lossy())
                && bytes.contains("\"templates/0/t0.xml\"")
        );
        bytes
    };
    assert_eq!(build(4), build(1));
}

fn registry(root: &Path, threads: usize) -> String {
    let project = Project::load(root).unwrap();
    let request = CheckRequest {
        root,
        config: project.config(),
        given: &[],
        stdin: None,
        overlay: &FileOverlay::default(),
        threads: NonZeroUsize::new(threads),
        goal: CheckGoal::Registry,
        recording: InputRecording::Off,
        identity: Fingerprints::Omitted,
        min_severity: Severity::Hint,
    };
    String::from_utf8(check_project(&request).unwrap().registry.unwrap()).unwrap()
}
