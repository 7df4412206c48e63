//! Tests of the private items of `src/syntax/placed.rs`.

use super::TextPlacement;
use crate::base::span::Span;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use pretty_assertions::assert_eq;

#[test]
fn each_character_stands_where_it_is_written() {
    let text = "<a>x<!-- c\n -->y&lt;é\r\nz<b>n</b><![CDATA[&lt;\r]]>&nope;&#x41;</a>";
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let root = reader.document(text).root().expect("a root");
    let root_text = root.text();
    let placed = TextPlacement::new(root);
    assert_eq!(root_text, "xy<é\nz&lt;\n&nope;A");
    let written: Vec<&str> = root_text
        .char_indices()
        .map(|(at, c)| {
            placed
                .document_span(Span::from_offsets(at, at + c.len_utf8()))
                .expect("a place")
                .slice(text)
        })
        .collect();
    assert_eq!(
        written.join("|"),
        "x|y|&lt;|é|\r\n|z|&|l|t|;|\r|&|n|o|p|e|;|&#x41;"
    );
    let of = |from, to| {
        placed
            .document_span(Span::from_offsets(from, to))
            .map(|span| span.slice(text))
    };
    assert_eq!(
        (of(0, 2), of(2, 3), of(0, 0)),
        (Some("x<!-- c\n -->y"), Some("&lt;"), Some(""))
    );
}
