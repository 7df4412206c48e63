//! Each file starts with `//!`, which describes its content, and `mod.rs` is a contents page.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;

/// Returns true for an item of a contents page: a module, a re-export, or the plain list (a
/// constant or static, no code).
fn is_contents_item(item: &syn::Item) -> bool {
    let bare = matches!(item, syn::Item::Mod(module) if module.content.is_none());
    bare || matches!(
        item,
        syn::Item::Use(_) | syn::Item::Static(_) | syn::Item::Const(_)
    )
}

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let path = source.path.as_str();
        if !source.text.starts_with("//! ") {
            faults.push(format!("{path}: does not start with `//!`"));
        }
        let file = source.parse();
        let contents =
            path.ends_with("/mod.rs") || path == "src/lib.rs" || path == "tests/it/main.rs";
        if contents && !file.items.iter().all(is_contents_item) {
            faults.push(format!(
                "{path}: holds more than documentation, `mod`, `use` and a list"
            ));
        }
    }
    faults
}

#[test]
fn files_say_what_they_are() {
    assert_eq!(
        find_faults(&source::rust_sources(&["src/", "tests/"])),
        Vec::<String>::new()
    );
}

#[test]
fn a_file_out_of_shape_is_found() {
    let bad = |path: &str, text: &str| find_faults(&[SourceText::new(path, text)]);
    assert_eq!(
        bad("src/a.rs", "fn a() {}"),
        ["src/a.rs: does not start with `//!`"]
    );
    assert_eq!(
        bad(
            "src/a/mod.rs",
            "//! A.\nmod b;\npub use b::C;\nstatic ALL: &[u8] = &[1];"
        ),
        [""; 0]
    );
    let code = ["src/a/mod.rs: holds more than documentation, `mod`, `use` and a list"];
    assert_eq!(bad("src/a/mod.rs", "//! A.\nmod b;\nfn c() {}"), code);
    assert_eq!(bad("src/a/mod.rs", "//! A.\nmod b { }"), code);
}
