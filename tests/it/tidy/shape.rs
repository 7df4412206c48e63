//! One concept, one file, of a size that can be read at a sitting: lines of a file and of a function, `//!` first,
//! and `mod.rs` as a contents page.

use super::source::{self, Source};
use pretty_assertions::assert_eq;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 60;

struct Functions<'a> {
    path: &'a str,
    faults: Vec<String>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, end: Span) {
        let lines = end.end().line + 1 - signature.span().start().line;
        if lines > FUNCTION_LINES {
            self.faults.push(format!("{}: `{}` has {lines} lines of {FUNCTION_LINES}", self.path, signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig, item.block.span());
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig, item.block.span());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.measure(&item.sig, block.span());
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// What a contents page may hold: modules, re-exports, and the plain list (a constant or static, no code).
fn is_contents(item: &syn::Item) -> bool {
    let bare = matches!(item, syn::Item::Mod(module) if module.content.is_none());
    bare || matches!(item, syn::Item::Use(_) | syn::Item::Static(_) | syn::Item::Const(_))
}

fn faults(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let path = source.path.as_str();
        let lines = source.text.lines().count();
        if lines > FILE_LINES {
            faults.push(format!("{path}: {lines} lines of {FILE_LINES}"));
        }
        if !source.text.starts_with("//! ") {
            faults.push(format!("{path}: does not start with `//!`"));
        }
        let file = source.parse();
        let contents = path.ends_with("/mod.rs") || path == "src/lib.rs" || path == "tests/it/main.rs";
        if contents && !file.items.iter().all(is_contents) {
            faults.push(format!("{path}: holds more than documentation, `mod`, `use` and a list"));
        }
        let mut functions = Functions { path, faults: Vec::new() };
        functions.visit_file(&file);
        faults.append(&mut functions.faults);
    }
    faults
}

#[test]
fn files_and_functions_are_small_and_say_what_they_are() {
    assert_eq!(faults(&source::rust(&["src/", "tests/"])), Vec::<String>::new());
}

#[test]
fn a_file_out_of_shape_is_found() {
    let bad = |path: &str, text: &str| faults(&[Source::new(path, text)]);
    assert_eq!(bad("src/a.rs", &format!("//! A.\n{}", "// a\n".repeat(400))), ["src/a.rs: 401 lines of 400"]);
    assert_eq!(bad("src/a.rs", "fn a() {}"), ["src/a.rs: does not start with `//!`"]);
    assert_eq!(bad("src/a/mod.rs", "//! A.\nmod b;\npub use b::C;\nstatic ALL: &[u8] = &[1];"), [""; 0]);
    let code = ["src/a/mod.rs: holds more than documentation, `mod`, `use` and a list"];
    assert_eq!(bad("src/a/mod.rs", "//! A.\nmod b;\nfn c() {}"), code);
    assert_eq!(bad("src/a/mod.rs", "//! A.\nmod b { }"), code);
    let long = format!("{{\n{}}}", "let _ = 1;\n".repeat(59));
    assert_eq!(bad("src/a.rs", &format!("//! A.\nfn f() {long}")), ["src/a.rs: `f` has 61 lines of 60"]);
    assert_eq!(bad("src/a.rs", &format!("//! A.\nimpl A {{ /// Doc.\n#[inline]\nfn f() {long} }}")).len(), 1);
    assert_eq!(bad("src/a.rs", &format!("//! A.\ntrait A {{ fn f() {long} }}")).len(), 1);
    assert_eq!(bad("src/a.rs", &format!("//! A.\nmod tests {{ fn f() {{ fn g() {long} }} }}")).len(), 2);
}
