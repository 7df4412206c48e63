//! Tests of what `src/import/fstring.rs` keeps to itself.

use super::{Braces, names, read};
use crate::import::braces::Piece;
use pretty_assertions::assert_eq;

#[test]
fn a_format_string_is_read_as_python_reads_it() {
    let found = read("Dear {name}, {{\"to\": {{{name}}}}}", Braces::Doubled);
    let words = |words: &str| Piece::Words(words.to_owned());
    let name = || Piece::Name("name".to_owned());
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
    assert_eq!(names(&found.pieces), ["name"]);
    assert_eq!(
        read("{} {a.b} {a!r:>3} { \"k\": 1", Braces::Doubled)
            .faults
            .len(),
        7
    );
    let expected = [
        Piece::Name("a".to_owned()),
        words(" { \"k\": {"),
        Piece::Name("a".to_owned()),
        words("} }"),
    ];
    assert_eq!(
        read("{a} { \"k\": {{a}} }", Braces::Themselves).pieces,
        expected
    );
}
