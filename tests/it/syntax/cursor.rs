//! The node at a byte offset.

use ctxc::internals::syntax::tree::{NodeKind, XmlNode};
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use pretty_assertions::assert_eq;

const TEXT: &str = "<!-- c --><a b=\"1\" c='2'>x<d/><e>y</e>\n  <e>z</a> ";

/// The node at a piece of the text: its kind, the element, the attribute.
fn at(piece: &str) -> (Option<NodeKind>, Option<&'static str>, Option<&'static str>) {
    let mut reader = XmlReader::new();
    reader.read(TEXT, &XmlLimits::default());
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
    (
        document.node_at(offset).map(XmlNode::kind),
        element,
        attribute,
    )
}

#[test]
fn offsets_find_the_innermost_node() {
    assert_eq!(at("c -->"), (Some(NodeKind::Comment), None, None));
    assert_eq!(at("<a"), (Some(NodeKind::Element), Some("a"), None));
    assert_eq!(at("b="), (Some(NodeKind::Element), Some("a"), Some("b")));
    assert_eq!(at("'>"), (Some(NodeKind::Element), Some("a"), Some("c")));
    assert_eq!(at(">x"), (Some(NodeKind::Element), Some("a"), None));
    assert_eq!(at("x<"), (Some(NodeKind::Text), Some("a"), None));
    assert_eq!(at("/><e"), (Some(NodeKind::Element), Some("d"), None));
    assert_eq!(at("y"), (Some(NodeKind::Text), Some("e"), None));
    assert_eq!(at("/e>"), (Some(NodeKind::Element), Some("e"), None));
    assert_eq!(at("\n"), (Some(NodeKind::Text), Some("a"), None));
    assert_eq!(at("z"), (Some(NodeKind::Text), Some("e"), None));
    assert_eq!(at("/a>"), (Some(NodeKind::Element), Some("a"), None));
    assert_eq!(at(" "), (Some(NodeKind::Comment), None, None));
}
