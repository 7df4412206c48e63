//! Prints one element. The element table decides which of its white space has no meaning.

use super::printer::Printer;
use super::tag::End;
use crate::syntax::tree::{Element, Kind as NodeKind};
use crate::template::elements::{Content, Kind};

impl<'a> Printer<'a> {
    /// Appends an element at a depth. An element that is unknown there, or that the registry stores
    /// as written, stays unchanged.
    pub(super) fn element(&mut self, element: Element<'a>, kind: Option<Kind>, depth: usize) {
        let kept = element.attribute("xml:space").is_some()
            || element.namespace().is_some()
            || element.is_damaged();
        let Some(kind) = kind.filter(|_| !kept) else {
            self.raw(element.span());
            return;
        };
        match content(kind, element) {
            Content::Elements => self.of_elements(element, kind, depth),
            Content::Word => self.of_word(element, depth),
            Content::Empty if is_blank(element) => self.start_tag(element, depth, End::Empty),
            // Its content, though not allowed, may be a misplaced text.
            Content::Empty => self.as_written(element, depth),
            Content::Text | Content::TextOrElements => self.of_text(element, depth),
            Content::Opaque => self.raw(element.span()),
        }
    }

    fn of_elements(&mut self, element: Element<'a>, kind: Kind, depth: usize) {
        if is_blank(element) {
            self.start_tag(element, depth, End::Empty);
            return;
        }
        // Text in a wrong place is a fault that `check` reports; its right place is unknown.
        let stray = |kind: NodeKind| matches!(kind, NodeKind::Text | NodeKind::Cdata);
        if element
            .children()
            .any(|node| stray(node.kind()) && !node.is_blank())
        {
            self.as_written(element, depth);
            return;
        }
        self.start_tag(element, depth, End::Open);
        self.children(element.children(), element.inner().start, kind, depth + 1);
        self.new_line(depth);
        self.end_tag(element);
    }

    /// Prints a word without the white space around it.
    fn of_word(&mut self, element: Element<'a>, depth: usize) {
        if is_blank(element) {
            self.start_tag(element, depth, End::Empty);
            return;
        }
        if element.children().any(|node| node.kind() != NodeKind::Text) {
            self.as_written(element, depth);
            return;
        }
        self.start_tag(element, depth, End::Open);
        let word = element
            .inner()
            .slice(self.document.text)
            .trim_matches([' ', '\t', '\r', '\n']);
        self.out.push_str(word);
        self.end_tag(element);
    }

    /// Prints an element with only its tags laid out.
    pub(super) fn as_written(&mut self, element: Element<'a>, depth: usize) {
        if element.is_empty_tag() {
            self.start_tag(element, depth, End::Empty);
            return;
        }
        self.start_tag(element, depth, End::Open);
        self.raw(element.inner());
        self.end_tag(element);
    }
}

/// The actual content of an element whose kind permits alternatives.
fn content(kind: Kind, element: Element<'_>) -> Content {
    if kind.spec().content != Content::TextOrElements {
        return kind.spec().content;
    }
    let is_child = |inside: Element<'_>| {
        kind.child(inside.name())
            .is_some_and(|child| child.kind != Kind::Use)
    };
    if element.elements().any(is_child) {
        Content::Elements
    } else if kind == Kind::Model {
        Content::Word
    } else {
        Content::Text
    }
}

/// True if only white space stands between the tags.
fn is_blank(element: Element<'_>) -> bool {
    element
        .children()
        .all(|node| node.kind() == NodeKind::Text && node.is_blank())
}
