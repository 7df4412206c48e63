//! What stands at a byte offset.

use ctxc::internals::syntax::tree::{Kind, Node};
use ctxc::internals::syntax::{Limits, Reader};
use pretty_assertions::assert_eq;

const TEXT: &str = "<!-- c --><a b=\"1\" c='2'>x<d/><e>y</e>\n  <e>z</a> ";

/// What is at a piece of the text: the kind of the node, the element, the attribute.
fn at(piece: &str) -> (Option<Kind>, Option<&'static str>, Option<&'static str>) {
    let mut reader = Reader::new();
    reader.read(TEXT, &Limits::default());
    let document = reader.document(TEXT);
    let offset = TEXT.find(piece).expect("the piece is there") as u32;
    let own =
        |span: ctxc::internals::base::span::Span| &TEXT[span.start as usize..span.end as usize];
    let element = document
        .element_at(offset)
        .map(|element| own(element.name_span()));
    let attribute = document
        .attribute_at(offset)
        .map(|attribute| own(attribute.name_span()));
    (document.node_at(offset).map(Node::kind), element, attribute)
}

#[test]
fn offsets_find_the_innermost() {
    assert_eq!(at("c -->"), (Some(Kind::Comment), None, None));
    assert_eq!(at("<a"), (Some(Kind::Element), Some("a"), None));
    assert_eq!(at("b="), (Some(Kind::Element), Some("a"), Some("b")));
    assert_eq!(at("'>"), (Some(Kind::Element), Some("a"), Some("c")));
    assert_eq!(at(">x"), (Some(Kind::Element), Some("a"), None));
    assert_eq!(at("x<"), (Some(Kind::Text), Some("a"), None));
    assert_eq!(at("/><e"), (Some(Kind::Element), Some("d"), None));
    assert_eq!(at("y"), (Some(Kind::Text), Some("e"), None));
    assert_eq!(at("/e>"), (Some(Kind::Element), Some("e"), None));
    assert_eq!(at("\n"), (Some(Kind::Text), Some("a"), None));
    assert_eq!(at("z"), (Some(Kind::Text), Some("e"), None));
    assert_eq!(at("/a>"), (Some(Kind::Element), Some("a"), None));
    assert_eq!(at(" "), (Some(Kind::Comment), None, None));
}
