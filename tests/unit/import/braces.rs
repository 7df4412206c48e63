//! Tests of what `src/import/braces.rs` keeps to itself.

use super::{Piece, written};
use crate::import::model::Syntax;
use pretty_assertions::assert_eq;

#[test]
fn what_plain_text_cannot_say_is_said_in_jinja() {
    let words = |words: &str| Piece::Words(words.to_owned());
    let name = || Piece::Name("x".to_owned());
    assert_eq!(
        written(&[words("a {\"k\": "), name(), words("}")]),
        ("a {\"k\": {{x}}}".to_owned(), Syntax::Plain)
    );
    assert_eq!(
        written(&[words("{{ no }}")]),
        ("\\{{ no }}".to_owned(), Syntax::Plain)
    );
    assert_eq!(
        written(&[words("{"), name(), words("}\n")]),
        ("{{ \"{\" }}{{ x }}}\n\n".to_owned(), Syntax::Jinja)
    );
    assert_eq!(
        written(&[words("\\"), name()]),
        ("\\{{ x }}".to_owned(), Syntax::Jinja)
    );
}
