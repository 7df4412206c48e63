//! The text of an element as an agent reads it: references decoded, comments removed, sections
//! joined. The fragments in it split it into stretches. Each character can be mapped to its place
//! in the document.

use super::expression;
use crate::base::span::Span;
use crate::syntax::placed::Placed;
use crate::syntax::tree::{Element, Kind, Node};
use std::borrow::Cow;
use std::rc::Rc;

/// A section of a text between fragments.
#[derive(Clone, Debug)]
pub(super) struct Stretch<'a> {
    pub(super) text: Cow<'a, str>,
    /// The offset in the document of a text that stands there unchanged.
    pub(super) start: u32,
    /// The map from the whole text to the document, and the offset of this stretch in the text.
    placed: Option<(Rc<Placed>, usize)>,
}

impl Stretch<'_> {
    /// Maps a span of a text that differs from the document to the document.
    pub(super) fn place(&self, span: Span) -> Span {
        let Some((placed, offset)) = &self.placed else {
            return span;
        };
        let offset = *offset as u32;
        placed
            .span(Span::new(span.start + offset, span.end + offset))
            .unwrap_or(span)
    }
}

/// Returns the stretches of an element that may contain expressions, in order.
pub(super) fn of<'a>(element: Element<'a>) -> Vec<Stretch<'a>> {
    let document = element.document().text;
    let is_text = |node: &Node<'a>| matches!(node.kind(), Kind::Text | Kind::Cdata);
    let raw = |node: &Node<'a>| node.inner().slice(document);
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
    let nodes: Vec<Node<'a>> = element
        .children()
        .filter(|node| is_text(node) || node.kind() == Kind::Element)
        .collect();
    for nodes in nodes.split(|node| {
        node.as_element()
            .is_some_and(|child| child.namespace().is_none() && child.name() == "use")
    }) {
        let mut texts = nodes.iter().filter(|node| is_text(node));
        let is_plain = |node: &&Node<'a>| node.kind() == Kind::Cdata || !raw(node).contains('&');
        let stretch = if let (Some(node), None) = (texts.next().filter(is_plain), texts.next()) {
            before += node.text().len();
            Stretch {
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
            let placed = placed.get_or_insert_with(|| Rc::new(Placed::of(element)));
            let offset = before;
            before += text.len();
            Stretch {
                text: Cow::Owned(text),
                start: 0,
                placed: Some((Rc::clone(placed), offset)),
            }
        };
        if expression::may_hold(&stretch.text) {
            found.push(stretch);
        }
    }
    found
}
