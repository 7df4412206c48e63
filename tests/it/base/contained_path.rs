//! Paths inside a project.

use ctxc::internals::base::contained_path::{describe_io_error, relative_path, resolve_beside};
use pretty_assertions::assert_eq;
use std::io;

#[test]
fn a_file_is_named_from_the_folder_of_another() {
    let cases = [
        ("templates", "legacy/a.j2", "../legacy/a.j2"),
        ("templates/b", "templates/a.j2", "../a.j2"),
        ("", "a.j2", "a.j2"),
        ("a", "a/b.j2", "b.j2"),
        ("templates", "templates/text/b.md", "text/b.md"),
        ("templates/deep", "templates/text/b.md", "../text/b.md"),
    ];
    for (folder, path, expected) in cases {
        assert_eq!(relative_path(folder, path), expected);
        assert_eq!(
            resolve_beside(format!("{folder}/x").trim_start_matches('/'), expected).as_deref(),
            Some(path)
        );
    }
}

#[test]
fn reasons_are_words_and_not_numbers() {
    assert_eq!(
        describe_io_error(&io::Error::from_raw_os_error(13)),
        "permission denied"
    );
    assert_eq!(
        describe_io_error(&io::Error::other("Something odd (os error 999)")),
        "something odd"
    );
}
