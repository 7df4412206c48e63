//! Tests of the private items of `src/import/braces.rs`.

use super::{ImportedPiece, write_pieces};
use crate::import::prompt_model::PlaceholderSyntax;
use pretty_assertions::assert_eq;

#[test]
fn what_plain_text_cannot_express_becomes_jinja() {
    let words = |words: &str| ImportedPiece::Words(words.to_owned());
    let name = || ImportedPiece::Name("x".to_owned());
    assert_eq!(
        write_pieces(&[words("a {\"k\": "), name(), words("}")]),
        ("a {\"k\": {{x}}}".to_owned(), PlaceholderSyntax::Plain)
    );
    assert_eq!(
        write_pieces(&[words("{{ no }}")]),
        ("\\{{ no }}".to_owned(), PlaceholderSyntax::Plain)
    );
    assert_eq!(
        write_pieces(&[words("{"), name(), words("}\n")]),
        (
            "{{ \"{\" }}{{ x }}}\n\n".to_owned(),
            PlaceholderSyntax::Jinja
        )
    );
    assert_eq!(
        write_pieces(&[words("\\"), name()]),
        ("\\{{ x }}".to_owned(), PlaceholderSyntax::Jinja)
    );
}
