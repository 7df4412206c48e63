//! Any bytes give a tree: no panic, every span in the text, children inside their parents. What the reader calls
//! well-formed, roxmltree and quick-xml accept, roxmltree with the same elements at the same places.

use ctxc::internals::syntax::tree::{Attribute, NodeKind, XmlDocument};
use ctxc::internals::syntax::{XmlLimits, XmlReader, decode};

/// Reads the bytes as a template.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = decode::decode(data) else {
        return;
    };
    let mut reader = XmlReader::new();
    reader.read(&text, &XmlLimits::default());
    let document = reader.document(&text);
    places(document);
    for fault in reader.faults() {
        for span in [Some(fault.span), fault.other].into_iter().flatten() {
            assert!(
                text.get(span.start as usize..span.end as usize).is_some(),
                "{fault:?} is at no place"
            );
        }
    }
    if reader.faults().is_empty() {
        oracles(document);
    }
    // A reader that was used before gives the same as a new one.
    let faults = reader.faults().to_vec();
    reader.read("<a b='", &XmlLimits::default());
    reader.read(&text, &XmlLimits::default());
    assert_eq!(reader.faults(), faults);
}

fn places(document: XmlDocument<'_>) {
    for element in document.elements() {
        let mut from = element.inner().start;
        for child in element.children() {
            let span = child.span();
            assert!(
                document
                    .text
                    .get(span.start as usize..span.end as usize)
                    .is_some(),
                "{span:?} is no place"
            );
            assert!(
                from <= span.start && span.end <= element.inner().end,
                "{span:?} is outside of its parent's {:?}",
                element.inner()
            );
            from = span.end;
            if matches!(child.kind(), NodeKind::Text | NodeKind::Cdata) {
                child.text();
            }
        }
        for attribute in element.attributes() {
            assert!(
                element.start_tag().start <= attribute.span().start
                    && attribute.span().end <= element.start_tag().end
            );
            attribute.value();
        }
    }
}

fn oracles(document: XmlDocument<'_>) {
    let tree = match roxmltree::Document::parse(document.text) {
        Ok(tree) => tree,
        Err(error) => panic!("roxmltree refuses what has no fault: {error}"),
    };
    let mut theirs = tree.descendants().filter(roxmltree::Node::is_element);
    for ours in document.elements() {
        let Some(node) = theirs.next() else {
            panic!("roxmltree has no `{}`", ours.name())
        };
        let name = node.tag_name();
        // roxmltree says `Some("")` below `xmlns=""`, which takes elements out of every namespace.
        let namespace = name.namespace().filter(|uri| !uri.is_empty());
        assert_eq!(
            (ours.local_name(), ours.namespace()),
            (name.name(), namespace)
        );
        assert_eq!(
            ours.span().start as usize..ours.span().end as usize,
            node.range()
        );
        let text: String = node
            .children()
            .filter(roxmltree::Node::is_text)
            .filter_map(|text| text.text())
            .collect();
        // roxmltree keeps a lone carriage return that stands before a reference; XML makes it a line break.
        if !document.text.contains("\r&") {
            assert_eq!(ours.text(), text);
        }
        let declares = |name: &str| name == "xmlns" || name.starts_with("xmlns:");
        let values = ours
            .attributes()
            .filter(|attribute| !declares(attribute.name()))
            .map(Attribute::value);
        assert!(
            values.eq(node.attributes().map(|attribute| attribute.value())),
            "attributes of `{}`",
            ours.name()
        );
    }
    assert!(theirs.next().is_none(), "roxmltree has more elements");

    let mut events = quick_xml::Reader::from_str(document.text);
    loop {
        match events.read_event() {
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(_) => {}
            Err(error) => panic!("quick-xml refuses what has no fault: {error}"),
        }
    }
}
