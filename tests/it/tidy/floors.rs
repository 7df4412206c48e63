//! A module imports only from floors above its own row, and modules of one row never import each
//! other: data moves one way. The table is that of `docs/ARCHITECTURE.md`.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// Each row from the top; the modules of a row are independent of each other.
const FLOORS: &[&[&str]] = &[
    &["base"],
    &["kernel"],
    &["syntax", "jinja"],
    &["template", "request"],
    &["scenario"],
    &["settings", "format"],
    &["project"],
    &["rules"],
    &["registry"],
    &["schema", "context", "import"],
    &["store", "provider", "work"],
    &["record"],
    &["run", "session"],
    &["eval"],
    &["package"],
    &["lsp"],
    &["cli"],
];

fn floor_row(module: &str) -> Option<usize> {
    FLOORS.iter().position(|row| row.contains(&module))
}

/// Collects the top-level modules that a file names, through `crate::`, through enough `super::`,
/// or in a macro.
struct ImportVisitor<'a> {
    /// The visitor's current module, inline modules included.
    module: Vec<String>,
    /// Modules at the crate's root: a bare `base::…` names one only in a path from the root.
    found: &'a mut BTreeSet<String>,
}

impl ImportVisitor<'_> {
    fn add_import(&mut self, parts: &[String]) {
        let supers = parts.iter().take_while(|part| *part == "super").count();
        let first = match parts.first().map(String::as_str) {
            Some("crate") => parts.get(1),
            Some("super") if supers >= self.module.len() => parts.get(supers),
            _ => None,
        };
        self.found.extend(
            first
                .filter(|name| {
                    floor_row(name).is_some() || name.chars().all(|c| c.is_lowercase() || c == '_')
                })
                .cloned(),
        );
    }

    fn add_use_tree(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.add_use_tree(&part.tree, path);
                path.pop();
            }
            syn::UseTree::Name(name) => {
                path.push(name.ident.to_string());
                self.add_import(path);
                path.pop();
            }
            syn::UseTree::Rename(name) => {
                path.push(name.ident.to_string());
                self.add_import(path);
                path.pop();
            }
            syn::UseTree::Group(group) => group
                .items
                .iter()
                .for_each(|item| self.add_use_tree(item, path)),
            syn::UseTree::Glob(_) => self.add_import(path),
        }
    }

    /// Adds the paths in a macro's arguments, which `syn` does not parse: runs of words joined by
    /// `::`.
    fn add_token_paths(&mut self, tokens: &proc_macro2::TokenStream) {
        let text = tokens
            .to_string()
            .replace(" :: ", "::")
            .replace(":: ", "::")
            .replace(" ::", "::");
        for run in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            let parts: Vec<String> = run.split("::").map(str::to_owned).collect();
            self.add_import(&parts);
        }
    }
}

impl<'ast> Visit<'ast> for ImportVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_use_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        self.add_import(&parts);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.add_token_paths(&item.tokens);
        visit::visit_macro(self, item);
    }
}

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let module = source.module_path();
        // `lib.rs`, `main.rs`, `runtime.rs` and `internals.rs`, which pass rooms on, are below all
        // floors.
        let Some(own) = module
            .first()
            .filter(|own| !matches!(**own, "internals" | "runtime"))
        else {
            continue;
        };
        let Some(row) = floor_row(own) else {
            faults.push(format!("{}: `{own}` has no floor in FLOORS", source.path));
            continue;
        };
        let mut found = BTreeSet::new();
        let module = module.iter().map(ToString::to_string).collect();
        ImportVisitor {
            module,
            found: &mut found,
        }
        .visit_file(&source.parse());
        for name in found.iter().filter(|name| name != own) {
            match floor_row(name) {
                Some(other) if other < row => {}
                Some(other) => faults.push(format!(
                    "{}: `{own}` (row {row}) imports `{name}` (row {other})",
                    source.path
                )),
                None => faults.push(format!(
                    "{}: `{name}` is named at the crate's root and has no floor",
                    source.path
                )),
            }
        }
    }
    faults
}

#[test]
fn modules_import_only_from_floors_above() {
    assert_eq!(
        find_faults(&source::rust_sources(&["src/"])),
        Vec::<String>::new()
    );
}

#[test]
fn an_import_from_below_is_found() {
    let bad = |path: &str, text: &str| find_faults(&[SourceText::new(path, text)]);
    let below = ["src/syntax/reader.rs: `syntax` (row 2) imports `rules` (row 7)".to_owned()];
    assert_eq!(
        bad("src/syntax/reader.rs", "use crate::rules::Rule;"),
        below
    );
    assert_eq!(
        bad("src/syntax/reader.rs", "use crate::{base::span, rules};"),
        below
    );
    assert_eq!(
        bad("src/syntax/reader.rs", "fn f() { crate::rules::all(); }"),
        below
    );
    assert_eq!(
        bad(
            "src/syntax/reader.rs",
            "fn f() { println!(\"{}\", crate::rules::ALL); }"
        ),
        below
    );
    assert_eq!(
        bad("src/syntax/reader.rs", "use super::super::rules::Rule;"),
        below
    );
    assert_eq!(
        bad(
            "src/syntax/reader.rs",
            "mod tests { use super::super::super::rules::Rule; }"
        ),
        below
    );
    assert_eq!(bad("src/syntax/mod.rs", "use super::rules as r;").len(), 1);
    assert_eq!(
        bad("src/oddment.rs", ""),
        ["src/oddment.rs: `oddment` has no floor in FLOORS"]
    );
    assert_eq!(
        bad(
            "src/rules/rule.rs",
            "use crate::{base, syntax::Tree}; use super::cx; use crate::rules::meta;"
        ),
        [""; 0]
    );
}

#[test]
fn the_table_is_that_of_the_architecture_page() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ARCHITECTURE.md"))
            .unwrap();
    let named: Vec<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split('|').nth(1))
        .filter_map(|cell| {
            Some(
                cell.trim()
                    .strip_prefix('`')?
                    .split_once("/`")?
                    .0
                    .to_owned(),
            )
        })
        .collect();
    assert_eq!(named, FLOORS.concat());
}
