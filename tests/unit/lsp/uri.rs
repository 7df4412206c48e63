//! Tests of the private items of `src/lsp/uri.rs`.

use super::{Path, Uri, from_path, to_path};

#[test]
fn paths_come_back() {
    for name in ["/a/b.xml", "/with space/ü#?%.xml", "/c:/x"] {
        assert_eq!(
            to_path(&from_path(Path::new(name))).as_deref(),
            Some(Path::new(name))
        );
    }
    assert_eq!(from_path(Path::new("/a b")).0, "file:///a%20b");
}

#[test]
fn what_is_no_file_has_no_path() {
    for uri in [
        "untitled:Untitled-1",
        "https://example.org/a.xml",
        "file:///a%2",
        "file:///%ff",
        "file://host/a",
        "",
    ] {
        assert_eq!(to_path(&Uri(uri.to_owned())), None, "{uri}");
    }
}
