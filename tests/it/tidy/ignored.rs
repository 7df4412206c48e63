//! An ignored test names its requirement: `#[ignore = "needs GROUP …"]`, where GROUP is provided by
//! `.ci/peers` and is part of the test's path, so that `.ci/peers` finds it by that name.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use syn::visit::{self, Visit};

struct IgnoredVisitor<'a> {
    groups: &'a [String],
    module: Vec<String>,
    faults: Vec<String>,
}

/// Returns the text of `#[ignore = "…"]`; empty for `#[ignore]` alone.
fn ignore_reason(attributes: &[syn::Attribute]) -> Option<String> {
    let attribute = attributes
        .iter()
        .find(|attribute| attribute.path().is_ident("ignore"))?;
    let syn::Meta::NameValue(pair) = &attribute.meta else {
        return Some(String::new());
    };
    let syn::Expr::Lit(syn::ExprLit {
        lit: syn::Lit::Str(text),
        ..
    }) = &pair.value
    else {
        return Some(String::new());
    };
    Some(text.value())
}

impl<'ast> Visit<'ast> for IgnoredVisitor<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let Some(reason) = ignore_reason(&item.attrs) else {
            return;
        };
        let test = format!("{}::{}", self.module.join("::"), item.sig.ident);
        let group = reason
            .strip_prefix("needs ")
            .and_then(|rest| rest.split([' ', ':', ',']).next());
        match group.filter(|group| self.groups.iter().any(|known| known == group)) {
            None => self.faults.push(format!(
                "{test}: ignored, but not with \"needs GROUP\" of .ci/peers: {reason:?}"
            )),
            Some(group) if !test.contains(group) => {
                self.faults.push(format!(
                    "{test}: needs {group}, whose name is no part of the test's path"
                ));
            }
            Some(_) => {}
        }
    }
}

fn find_faults(sources: &[SourceText], groups: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let module = source
            .module_path()
            .iter()
            .map(ToString::to_string)
            .collect();
        let mut ignored = IgnoredVisitor {
            groups,
            module,
            faults: Vec::new(),
        };
        ignored.visit_file(&source.parse());
        faults.append(&mut ignored.faults);
    }
    faults
}

/// Returns the groups of `.ci/peers`: its functions `group_NAME`.
fn peer_groups(script: &str) -> Vec<String> {
    let heads = script
        .lines()
        .filter_map(|line| line.strip_prefix("group_")?.split_once("()"));
    heads.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn ignored_tests_are_run_by_the_peers() {
    let script =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/peers")).unwrap();
    let groups = peer_groups(&script);
    assert!(
        groups.iter().any(|group| group == "xmllint"),
        "found the groups {groups:?}"
    );
    assert_eq!(
        find_faults(&source::rust_sources(&["src/", "tests/it/"]), &groups),
        Vec::<String>::new()
    );
}

#[test]
fn a_test_ignored_for_no_group_is_found() {
    let groups = peer_groups("set -eu\ngroup_jing() {\n}\n");
    let bad =
        |text: &str| find_faults(&[SourceText::new("tests/it/oracle.rs", text)], &groups).len();
    assert_eq!(bad("#[test] #[ignore] fn a() {}"), 1);
    assert_eq!(bad("#[test] #[ignore = \"slow\"] fn a() {}"), 1);
    assert_eq!(bad("#[test] #[ignore = \"needs xmllint\"] fn a() {}"), 1);
    assert_eq!(bad("#[test] #[ignore = \"needs jing\"] fn a() {}"), 1);
    assert_eq!(
        bad("#[test] #[ignore = \"needs jing: a validator\"] fn jing_agrees() {}"),
        0
    );
    assert_eq!(
        bad("mod jing { #[test] #[ignore = \"needs jing\"] fn a() {} }"),
        0
    );
}
