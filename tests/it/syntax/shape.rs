//! Properties of every tree, for any damaged text.

use ctxc::internals::syntax::XmlFault;
use ctxc::internals::syntax::tree::{Element, XmlDocument};

/// Panics unless the tree is valid: children inside their parents and in order, spans inside the
/// text, every byte covered.
pub(super) fn check(document: XmlDocument<'_>, faults: &[XmlFault]) {
    let length = document.text.len() as u32;
    let mut reached = 0;
    let mut open: Vec<_> = document
        .nodes()
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .map(|node| (node, None))
        .collect();
    let mut last = 0;
    while let Some((node, parent)) = open.pop() {
        reached += 1;
        let (span, inner) = (node.span(), node.inner());
        assert_eq!(
            node.parent().map(Element::id),
            parent,
            "{span:?} knows its parent"
        );
        assert!(
            span.start <= span.end && span.end <= length,
            "{span:?} in {length}"
        );
        assert!(
            span.encloses(inner) || node.as_element().is_some_and(Element::is_damaged),
            "{span:?} {inner:?}"
        );
        assert!(
            span.start >= last,
            "nodes stand in order: {span:?} after {last}"
        );
        last = span.start;
        assert!(
            document.text.is_char_boundary(span.start as usize)
                && document.text.is_char_boundary(span.end as usize)
        );
        if let Some(element) = node.as_element() {
            assert!(!element.name().is_empty());
            for attribute in element.attributes() {
                assert!(attribute.span().end <= length);
                let _ = (attribute.name(), attribute.value());
            }
            let children: Vec<_> = element.children().collect();
            for child in &children {
                assert!(
                    child.span().end <= span.end.max(inner.end),
                    "{:?} inside {span:?} of {:?}",
                    child.span(),
                    document.text
                );
            }
            open.extend(
                children
                    .into_iter()
                    .rev()
                    .map(|child| (child, Some(element.id()))),
            );
        } else {
            let _ = node.text();
        }
    }
    assert!(reached <= document.tree.len());
    assert!(
        faults.is_sorted_by_key(|fault| fault.span.start),
        "faults stand in order"
    );
    for fault in faults {
        assert!(fault.span.end <= length && fault.other.is_none_or(|other| other.end <= length));
    }
    assert!(
        document.root().is_some() || !faults.is_empty(),
        "a text without root has a fault"
    );
}
