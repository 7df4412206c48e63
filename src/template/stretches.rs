//! The text of an element as an agent reads it: references decoded, comments removed, sections
//! joined. The fragments in it split it into stretches. Each character can be mapped to its place
//! in the document.

use super::expression;
use crate::base::span::Span;
use crate::syntax::placed::TextPlacement;
use crate::syntax::tree::{Element, NodeKind, XmlNode};
use std::borrow::Cow;
use std::rc::Rc;

/// A section of a text between fragments.
#[derive(Clone, Debug)]
pub(super) struct TextStretch<'a> {
    pub(super) text: Cow<'a, str>,
    /// The offset in the document of a text that stands there unchanged.
    pub(super) start: u32,
    /// The map from the whole text to the document, and the offset of this stretch in the text.
    placed: Option<(Rc<TextPlacement>, usize)>,
}

impl TextStretch<'_> {
    /// Maps a span of a text that differs from the document to the document.
    pub(super) fn document_span(&self, span: Span) -> Span {
        let Some((placed, offset)) = &self.placed else {
            return span;
        };
        let offset = *offset as u32;
        placed
            .document_span(Span::new(span.start + offset, span.end + offset))
            .unwrap_or(span)
    }
}

/// Returns the stretches of an element that may contain expressions, in order.
pub(super) fn stretches_with_expressions<'a>(element: Element<'a>) -> Vec<TextStretch<'a>> {
    let document = element.document().text;
    let is_text = |node: &XmlNode<'a>| matches!(node.kind(), NodeKind::Text | NodeKind::Cdata);
    let raw = |node: &XmlNode<'a>| node.inner().slice(document);
    // A character reference may stand for a brace.
    let has_brace = |raw: &str| {
        let bytes = raw.as_bytes();
        memchr::memchr2_iter(b'{', b'&', bytes)
            .any(|at| bytes.get(at) == Some(&b'{') || bytes.get(at + 1) == Some(&b'#'))
    };
    if !element
        .children()
        .any(|node| is_text(&node) && has_brace(raw(&node)))
    {
        return Vec::new();
    }
    let mut placed = None;
    let mut found = Vec::new();
    let mut before = 0;
    let nodes: Vec<XmlNode<'a>> = element
        .children()
        .filter(|node| is_text(node) || node.kind() == NodeKind::Element)
        .collect();
    for nodes in nodes.split(|node| {
        node.as_element()
            .is_some_and(|child| child.namespace().is_none() && child.name() == "use")
    }) {
        let mut texts = nodes.iter().filter(|node| is_text(node));
        let is_plain =
            |node: &&XmlNode<'a>| node.kind() == NodeKind::Cdata || !raw(node).contains('&');
        let stretch = if let (Some(node), None) = (texts.next().filter(is_plain), texts.next()) {
            before += node.text().len();
            TextStretch {
                text: Cow::Borrowed(raw(node)),
                start: node.inner().start,
                placed: None,
            }
        } else {
            let text: String = nodes
                .iter()
                .filter(|node| is_text(node))
                .map(|node| node.text())
                .collect();
            let placed = placed.get_or_insert_with(|| Rc::new(TextPlacement::new(element)));
            let offset = before;
            before += text.len();
            TextStretch {
                text: Cow::Owned(text),
                start: 0,
                placed: Some((Rc::clone(placed), offset)),
            }
        };
        if expression::has_open_braces(&stretch.text) {
            found.push(stretch);
        }
    }
    found
}
