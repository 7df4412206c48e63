//! Tests of the private items of `src/cli/revision/tree.rs`.

use super::{TreeEntryKind, parse_entries, path_components};
use pretty_assertions::assert_eq;
use std::path::Path;

#[test]
fn a_listing_is_read_whatever_names_hold() {
    let list = b"100644 blob aa\ta b\tc\x00120000 blob bb\tlink\n\x00160000 commit cc\tmod\x00100644 blob dd\t\xff\0";
    let found = parse_entries(list);
    let kinds: Vec<_> = found
        .iter()
        .map(|(name, entry)| (name.as_str(), entry.kind, entry.id.as_str()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("a b\tc", TreeEntryKind::File, "aa"),
            ("link\n", TreeEntryKind::Link, "bb"),
            ("mod", TreeEntryKind::Submodule, "cc")
        ]
    );
    assert_eq!(
        path_components(Path::new("/a/./../b")).unwrap(),
        ["a", "..", "b"]
    );
}
