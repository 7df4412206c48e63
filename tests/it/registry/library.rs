//! The library in a build step, and the properties of every build.

use ctxc::{Config, Project, Registry, Severity, compile_sources};
use pretty_assertions::assert_eq;
use std::path::Path;

const TRIAGE: &str = r#"<task type="atomic" subtype="subtask" name="triage">
  <description>sort the ticket</description>
  <instructions src="guide.md"/>
</task>
"#;
const SHIP: &str = r#"<task type="sequential" name="ship">
  <description>sort, then answer</description>
  <steps>
    <task ref="triage"/>
    <task>
      <description>answer the customer</description>
    </task>
  </steps>
</task>
"#;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn names(found: &[ctxc::Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.rule.name).collect()
}

#[test]
fn a_folder_and_memory_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("templates/triage.xml", TRIAGE),
        ("templates/ship.xml", SHIP),
        ("templates/guide.md", "by urgency\n"),
    ];
    write(folder.path(), &files);
    let built = Project::load(folder.path()).unwrap().build();
    assert_eq!(names(&built.diagnostics), [""; 0]);
    let registry = built.registry.unwrap();
    let held = compile_sources(&Config::default(), files).registry.unwrap();
    assert_eq!(registry.as_bytes(), held.as_bytes());
    let read = Registry::read(registry.as_bytes()).unwrap();
    assert_eq!(
        read.find("ship")
            .map(ctxc::internals::registry::Task::operator),
        Some("sequential")
    );
    let subtasks: Vec<&str> = read
        .of_type("atomic", Some("subtask"))
        .map(ctxc::internals::registry::Task::name)
        .collect();
    assert_eq!(subtasks, ["triage"]);
}

#[test]
fn errors_leave_no_registry_and_say_where() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("templates/ship.xml", SHIP)]);
    let built = Project::load(folder.path()).unwrap().build();
    assert!(built.registry.is_none() && built.is_broken());
    let found = &built.diagnostics[0];
    assert_eq!(
        (
            found.rule.name,
            found.severity,
            found.start.line,
            found.start.column
        ),
        ("unresolved-reference", Severity::Error, 4, 16)
    );
}

#[test]
fn a_fault_of_the_project_file_leaves_no_registry() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            (
                "templates/t.xml",
                "<task name=\"t\" type=\"atomic\"><description>d</description></task>",
            ),
            ("ctxc.toml", "editon = 1\n"),
        ],
    );
    let built = Project::load(folder.path()).unwrap().build();
    assert!(built.registry.is_none());
    assert_eq!(&*built.diagnostics[0].path, "ctxc.toml");
}

/// The hash of a task in a set of texts.
fn hash(name: &str, files: &[(&str, &str)]) -> String {
    let built = compile_sources(&Config::default(), files.iter().copied());
    assert_eq!(names(&built.diagnostics), [""; 0]);
    built
        .registry
        .unwrap()
        .task(name)
        .unwrap()
        .hash()
        .to_string()
}

#[test]
fn a_hash_covers_referenced_texts_and_no_layout() {
    let guide = |text| {
        [
            ("ship.xml", SHIP),
            ("triage.xml", TRIAGE),
            ("guide.md", text),
        ]
    };
    let before = hash("ship", &guide("by urgency"));
    // The text stands in a file that a task names that `ship` refers to.
    assert_ne!(hash("ship", &guide("by date")), before);
    let laid_out = SHIP
        .replace("\n  ", "\n      ")
        .replace("<steps>", "<!-- two --><steps>");
    assert_eq!(
        hash(
            "ship",
            &[
                ("ship.xml", &laid_out),
                ("triage.xml", TRIAGE),
                ("guide.md", "by urgency")
            ]
        ),
        before
    );
    let fresh = SHIP.replace(
        "<steps>",
        "<context_management><inherit_context>none</inherit_context></context_management><steps>",
    );
    assert_ne!(
        hash(
            "ship",
            &[
                ("ship.xml", &fresh),
                ("triage.xml", TRIAGE),
                ("guide.md", "by urgency")
            ]
        ),
        before
    );
}

#[test]
fn a_text_outside_the_project_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("project");
    let task = |src: &str| {
        format!(
            "<task name=\"t\" type=\"atomic\"><description>d</description><instructions src=\"{src}\"/></task>"
        )
    };
    write(
        folder.path(),
        &[
            ("secret.txt", "secret"),
            ("project/templates/t.xml", &task("../../secret.txt")),
        ],
    );
    assert_eq!(
        names(&Project::load(&inner).unwrap().build().diagnostics),
        ["missing-source"]
    );
    #[cfg(unix)]
    {
        write(
            folder.path(),
            &[("project/templates/t.xml", &task("link.txt"))],
        );
        std::os::unix::fs::symlink("../../secret.txt", inner.join("templates/link.txt")).unwrap();
        let built = Project::load(&inner).unwrap().build();
        assert_eq!(names(&built.diagnostics), ["missing-source"]);
        assert!(built.diagnostics[0].message.contains("outside"));
    }
}
