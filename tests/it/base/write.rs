//! Files that are replaced only once they are complete.

use ctxc::internals::base::fs::{FileDraft, list_names};
use std::io::Write as _;

#[test]
fn a_large_draft_is_the_file_at_its_end_and_nothing_before() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in [("small.json", 3), ("large.json", 300_000)] {
        let path = folder.path().join(name);
        std::fs::write(&path, "before").unwrap();
        let mut draft = FileDraft::new(&path);
        let mut expected = String::new();
        for line in 0..lines {
            let line = format!("line {line}\n");
            draft.write_all(line.as_bytes()).unwrap();
            expected.push_str(&line);
        }
        assert_eq!(draft.read_head(6).unwrap(), b"line 0", "{name}");
        draft.write_all(b"end").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before", "{name}");
        assert_eq!(
            list_names(folder.path())
                .iter()
                .filter(|other| other.starts_with('.'))
                .count(),
            0,
            "{name}"
        );
        draft.write_atomic().unwrap();
        assert!(
            std::fs::read_to_string(&path).unwrap() == expected + "end",
            "{name}"
        );
    }
    drop(FileDraft::new(&folder.path().join("none.json")));
    assert_eq!(list_names(folder.path()).len(), 2);
}
