//! Tests of what `src/lsp/uri.rs` keeps to itself.

use super::{Path, Uri, of, path};

#[test]
fn paths_come_back() {
    for name in ["/a/b.xml", "/with space/ü#?%.xml", "/c:/x"] {
        assert_eq!(path(&of(Path::new(name))).as_deref(), Some(Path::new(name)));
    }
    assert_eq!(of(Path::new("/a b")).0, "file:///a%20b");
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
        assert_eq!(path(&Uri(uri.to_owned())), None, "{uri}");
    }
}
