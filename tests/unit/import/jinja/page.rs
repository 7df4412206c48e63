//! Tests of the private items of `src/import/jinja/page.rs`.

use crate::import::jinja::page::{BlockCall, find_block_call};
use crate::jinja::tree::{inner_statements, parse_tree};
use pretty_assertions::assert_eq;

#[test]
fn what_asks_for_a_block_and_nothing_else_is_distinguished_from_what_does_more() {
    let of = |text: &'static str| {
        find_block_call(inner_statements(&parse_tree(text).unwrap()).next().unwrap())
    };
    let whole = |block| Some(BlockCall::Whole(block));
    let part = |words: &str| Some(BlockCall::Part(words.to_owned()));
    assert_eq!(of("{{ self.title() }}"), whole(Some("title")));
    assert_eq!(of("{{- super() -}}"), whole(None));
    assert_eq!(
        of("{{- super()|indent(4, first=not x)|upper -}}"),
        part("super()")
    );
    assert_eq!(
        of("{% set t = self.title() | trim %}"),
        part("self.title()")
    );
    assert_eq!(of("{{ self.title() ~ '!' }}"), part("self.title()"));
    assert_eq!(of("{{ 'a' if super() }}"), part("super()"));
    assert_eq!(of("{% if self.title() %}{% endif %}"), part("self.title()"));
    assert_eq!(of("{{ x.super() }}{{ 'self.a()' }}"), None);
}
