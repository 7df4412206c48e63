//! Tests of the private items of `src/base/fs.rs`.

use super::{NOT_A_REGULAR_FILE, read_regular};
use rustix::fs::{CWD, Mode, mkfifoat};

#[test]
fn a_file_that_became_a_pipe_after_the_walk_is_refused_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xml");
    mkfifoat(CWD, &path, Mode::RWXU).unwrap();
    let error = read_regular(&path, 100, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), NOT_A_REGULAR_FILE);
}
