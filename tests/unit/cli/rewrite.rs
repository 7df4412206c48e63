//! Tests of the private items of `src/cli/rewrite.rs`.

use super::{FileChange, RewriteOutcome, write_change};
use crate::base::fs::{self, ReadFs};

#[test]
fn a_file_that_somebody_else_changed_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xml");
    let change = |before| FileChange {
        name: "a.xml",
        path: &path,
        before,
        after: b"new",
    };
    let now = || fs::RealFs.read(&path, 100).unwrap();
    for meanwhile in [&b"other"[..], b"old and more", b""] {
        fs::write_cache(&path, meanwhile).unwrap();
        assert_eq!(
            write_change(&change(b"old")).unwrap(),
            RewriteOutcome::Overtaken
        );
        assert_eq!(now(), meanwhile);
    }
    fs::write_cache(&path, b"old").unwrap();
    assert_eq!(write_change(&change(b"old")).unwrap(), RewriteOutcome::Done);
    assert_eq!(now(), b"new");
    // One that is gone does not come back.
    let gone = folder.path().join("gone.xml");
    assert_eq!(
        write_change(&FileChange {
            path: &gone,
            ..change(b"old")
        })
        .unwrap(),
        RewriteOutcome::Overtaken
    );
    assert!(!fs::exists(&gone));
}
