//! Tests of the private items of `src/import/fstring.rs`.

use super::{BraceStyle, parse_text, piece_names};
use crate::import::braces::ImportedPiece;
use pretty_assertions::assert_eq;

#[test]
fn a_format_string_is_read_as_python_reads_it() {
    let found = parse_text("Dear {name}, {{\"to\": {{{name}}}}}", BraceStyle::Escaped);
    let words = |words: &str| ImportedPiece::Words(words.to_owned());
    let name = || ImportedPiece::Name("name".to_owned());
    let expected = [
        words("Dear "),
        name(),
        words(", {\"to\": {"),
        name(),
        words("}}"),
    ];
    assert_eq!(
        (found.pieces.as_slice(), found.faults.as_slice()),
        (&expected[..], &[][..])
    );
    assert_eq!(piece_names(&found.pieces), ["name"]);
    assert_eq!(
        parse_text("{} {a.b} {a!r:>3} { \"k\": 1", BraceStyle::Escaped)
            .faults
            .len(),
        7
    );
    let expected = [
        ImportedPiece::Name("a".to_owned()),
        words(" { \"k\": {"),
        ImportedPiece::Name("a".to_owned()),
        words("} }"),
    ];
    assert_eq!(
        parse_text("{a} { \"k\": {{a}} }", BraceStyle::Literal).pieces,
        expected
    );
}
