//! Every disabled lint has a reason.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use proc_macro2::{TokenStream, TokenTree};

/// Returns the lists of `allow(…)` and `expect(…)` attributes without a `reason`.
fn lints_without_reason(tokens: TokenStream, attribute: bool) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let opens = matches!(before, Some(TokenTree::Punct(sign)) if matches!(sign.as_char(), '#' | '!'))
            && group.delimiter() == proc_macro2::Delimiter::Bracket;
        let lint = attribute
            && matches!(before, Some(TokenTree::Ident(word)) if word == "allow" || word == "expect");
        let reason = |token| matches!(token, TokenTree::Ident(word) if word == "reason");
        if lint && !group.stream().into_iter().any(reason) {
            found.push(group.stream().to_string());
        }
        found.append(&mut lints_without_reason(
            group.stream(),
            attribute || opens,
        ));
        // The content of braces is code again, even below an attribute.
        if group.delimiter() == proc_macro2::Delimiter::Brace && attribute {
            found.clear();
        }
    }
    found
}

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        let tokens: TokenStream = source
            .text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let found = lints_without_reason(tokens, false);
        faults.extend(
            found
                .iter()
                .map(|lints| format!("{}: `allow({lints})` without a reason", source.path)),
        );
    }
    faults
}

#[test]
fn every_lint_switched_off_has_a_reason() {
    assert_eq!(
        find_faults(&source::rust_sources(&[
            "src/",
            "tests/",
            "benches/",
            "fuzz/",
            "examples/"
        ])),
        Vec::<String>::new()
    );
}

#[test]
fn an_allow_without_a_reason_is_found() {
    let bad = |text: &str| find_faults(&[SourceText::new("src/a.rs", text)]);
    assert_eq!(
        bad("#[allow(dead_code)] fn a() {}"),
        ["src/a.rs: `allow(dead_code)` without a reason"]
    );
    assert_eq!(bad("#![allow(dead_code)]").len(), 1);
    assert_eq!(
        bad("mod a { fn b() { #[expect(unused)] let c = 1; } }").len(),
        1
    );
    assert_eq!(bad("#[cfg_attr(test, allow(unused))] fn a() {}").len(), 1);
    assert_eq!(
        bad("#[allow(unused, reason = \"kept for the next format\")] fn a() {}"),
        [""; 0]
    );
    assert_eq!(bad("fn a() { b.expect(\"there\"); c![1]; }"), [""; 0]);
}
