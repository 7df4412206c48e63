//! No forgotten file: every `.rs` under `src/` and `tests/it/` is reachable by `mod` from the root,
//! so that every test runs.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use std::collections::{BTreeMap, BTreeSet};

/// Follows the modules of a file, including those in inline modules.
fn follow_modules(
    path: &str,
    folder: &str,
    items: &[syn::Item],
    sources: &BTreeMap<&str, &SourceText>,
    seen: &mut BTreeSet<String>,
) {
    seen.insert(path.to_owned());
    for item in items {
        let syn::Item::Mod(module) = item else {
            continue;
        };
        let inside = format!("{folder}/{}", module.ident);
        if let Some((_, items)) = &module.content {
            follow_modules(path, &inside, items, sources, seen);
            continue;
        }
        for path in [format!("{inside}.rs"), format!("{inside}/mod.rs")] {
            if let Some(source) = sources.get(path.as_str()) {
                follow_modules(&path, &inside, &source.parse().items, sources, seen);
            }
        }
    }
}

fn find_faults(sources: &[SourceText], roots: &[&str]) -> Vec<String> {
    let by_path: BTreeMap<&str, &SourceText> = sources
        .iter()
        .map(|source| (source.path.as_str(), source))
        .collect();
    let mut seen = BTreeSet::new();
    for root in roots {
        let Some(source) = by_path.get(root) else {
            continue;
        };
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        follow_modules(root, folder, &source.parse().items, &by_path, &mut seen);
    }
    let lost = sources.iter().filter(|source| !seen.contains(&source.path));
    lost.map(|source| format!("{}: no `mod` leads to it", source.path))
        .collect()
}

#[test]
fn every_file_is_compiled() {
    let sources = source::rust_sources(&["src/", "tests/it/"]);
    assert_eq!(
        find_faults(&sources, &["src/lib.rs", "src/main.rs", "tests/it/main.rs"]),
        Vec::<String>::new()
    );
}

#[test]
fn a_forgotten_file_is_found() {
    let sources = [
        SourceText::new("tests/it/main.rs", "mod a; mod b { mod c; }"),
        SourceText::new("tests/it/a/mod.rs", "mod d;"),
        SourceText::new("tests/it/a/d.rs", ""),
        SourceText::new("tests/it/a/e.rs", "#[test] fn never_run() {}"),
        SourceText::new("tests/it/b/c.rs", ""),
        SourceText::new("tests/it/f.rs", ""),
    ];
    let lost = [
        "tests/it/a/e.rs: no `mod` leads to it",
        "tests/it/f.rs: no `mod` leads to it",
    ];
    assert_eq!(find_faults(&sources, &["tests/it/main.rs"]), lost);
}
