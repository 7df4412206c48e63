//! The files that are scenarios, and the findings on unreadable ones.

use ctxc::internals::scenario::ScenarioReadOptions;
use ctxc::internals::scenario::load::{self, ScenarioReadError};
use ctxc::internals::scenario::paths::resolve_beside;
use pretty_assertions::assert_eq;

const SOUND: &str = "name: a\ntask: t\ncontext: {objective: x}\nexpected: [{contains: x}]\n";

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

#[test]
fn yaml_is_a_scenario_and_so_is_json_with_its_schema() {
    let folder = folder(&[
        ("scenarios/b.yml", b""),
        ("scenarios/deep/a.yaml", b""),
        ("scenarios/data.json", b"{\"name\": 1}"),
        ("scenarios/c.json", b"{\"schema\": \"ctxc/suite/1\"}"),
        ("scenarios/rows.csv", b""),
        ("scenarios/.hidden/a.yaml", b""),
        ("scenarios/cassettes/a.yaml", b""),
        ("scenarios/deep/snapshots/a.yaml", b""),
        ("scenarios/files/a.yaml", b""),
        ("more.yaml", b""),
        ("other/x.yaml", b""),
    ]);
    let found = load::find_files(
        folder.path(),
        &[
            "scenarios/".to_owned(),
            "more.yaml".to_owned(),
            "nowhere".to_owned(),
        ],
    );
    assert_eq!(
        found,
        [
            "more.yaml",
            "scenarios/b.yml",
            "scenarios/c.json",
            "scenarios/deep/a.yaml"
        ]
    );
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let crlf = SOUND.replace('\n', "\r\n");
    let marked = format!("\u{feff}{crlf}");
    let huge = vec![b'a'; 5000];
    let suite = "id: s\ndefaults: {task: t, context: {objective: x}}\ncases_from: ../rows.csv\n";
    let folder = folder(&[
        ("s/a.yaml", marked.as_bytes()),
        ("s/b.yaml", b"name: \xff\n"),
        ("s/c.yaml", &huge),
        ("s/d.yaml", suite.as_bytes()),
        ("s/e.yaml", b"id: s\ncases_from: ../../rows.csv\n"),
        ("rows.csv", b"id,contains\n1,x\n"),
    ]);
    let paths = [
        "s/a.yaml", "s/b.yaml", "s/c.yaml", "s/d.yaml", "s/e.yaml", "s/f.yaml",
    ]
    .map(str::to_owned);
    let loaded = load::load_files(folder.path(), &paths, 4096, &ScenarioReadOptions::default());
    let [sound, no_text, large, suite, outside, missing] = &loaded[..] else {
        panic!("six")
    };
    assert!(sound.is_sound(), "{:?}", sound.faults);
    assert_eq!(&*sound.text, crlf);
    assert!(
        matches!(&no_text.read_error, Some(ScenarioReadError::NotText(_))),
        "{:?}",
        no_text.read_error
    );
    assert!(
        matches!(&large.read_error, Some(ScenarioReadError::Io(why)) if why.kind() == std::io::ErrorKind::FileTooLarge),
        "{:?}",
        large.read_error
    );
    assert_eq!(suite.suite.as_ref().unwrap().cases[0].name.value, "s/1");
    assert_eq!(
        super::fault_messages::told(&outside.text, &outside.faults),
        "2:13 [../../rows.csv] table ../../rows.csv: it lies outside the project's folder"
    );
    assert!(
        matches!(&missing.read_error, Some(ScenarioReadError::Io(why)) if why.kind() == std::io::ErrorKind::NotFound),
        "{:?}",
        missing.read_error
    );
}

#[test]
fn paths_beside_a_scenario_stay_in_the_project() {
    assert_eq!(
        resolve_beside("scenarios/a/b.yaml", "./x.txt").as_deref(),
        Some("scenarios/a/x.txt")
    );
    assert_eq!(
        resolve_beside("scenarios/a/b.yaml", "../../x.txt").as_deref(),
        Some("x.txt")
    );
    assert_eq!(resolve_beside("a.yaml", "x.txt").as_deref(), Some("x.txt"));
    for outside in ["../../../x.txt", "/etc/x", "C:\\x", "\\x"] {
        assert_eq!(
            resolve_beside("scenarios/a/b.yaml", outside),
            None,
            "{outside}"
        );
    }
}
