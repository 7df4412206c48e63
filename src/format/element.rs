//! Prints one element. The element table decides which of its white space has no meaning.

use super::printer::Printer;
use super::tag::StartTagEnd;
use crate::syntax::tree::{Element, NodeKind};
use crate::template::elements::{ElementContent, ElementKind};

impl<'a> Printer<'a> {
    /// Appends an element at a depth. An element that is unknown there, or that the registry stores
    /// as written, stays unchanged.
    pub(super) fn print_element(
        &mut self,
        element: Element<'a>,
        kind: Option<ElementKind>,
        depth: usize,
    ) {
        let keeps_source = element.attribute("xml:space").is_some()
            || element.namespace().is_some()
            || element.is_damaged();
        let Some(kind) = kind.filter(|_| !keeps_source) else {
            self.print_source(element.span());
            return;
        };
        match effective_content(kind, element) {
            ElementContent::Elements => self.print_elements(element, kind, depth),
            ElementContent::Word => self.print_word(element, depth),
            ElementContent::Empty if is_blank(element) => {
                self.print_start_tag(element, depth, StartTagEnd::Empty);
            }
            // Its content, though not allowed, may be a misplaced text.
            ElementContent::Empty => self.print_as_written(element, depth),
            ElementContent::Text | ElementContent::TextOrElements => {
                self.print_text(element, depth);
            }
            ElementContent::Opaque => self.print_source(element.span()),
        }
    }

    fn print_elements(&mut self, element: Element<'a>, kind: ElementKind, depth: usize) {
        if is_blank(element) {
            self.print_start_tag(element, depth, StartTagEnd::Empty);
            return;
        }
        // Text in a wrong place is a fault that `check` reports; its right place is unknown.
        let is_text = |kind: NodeKind| matches!(kind, NodeKind::Text | NodeKind::Cdata);
        if element
            .children()
            .any(|node| is_text(node.kind()) && !node.is_blank())
        {
            self.print_as_written(element, depth);
            return;
        }
        self.print_start_tag(element, depth, StartTagEnd::Open);
        self.print_children(element.children(), element.inner().start, kind, depth + 1);
        self.new_line(depth);
        self.print_end_tag(element);
    }

    /// Prints a word without the white space around it.
    fn print_word(&mut self, element: Element<'a>, depth: usize) {
        if is_blank(element) {
            self.print_start_tag(element, depth, StartTagEnd::Empty);
            return;
        }
        if element.children().any(|node| node.kind() != NodeKind::Text) {
            self.print_as_written(element, depth);
            return;
        }
        self.print_start_tag(element, depth, StartTagEnd::Open);
        let word = element
            .inner()
            .slice(self.document.text)
            .trim_matches([' ', '\t', '\r', '\n']);
        self.out.push_str(word);
        self.print_end_tag(element);
    }

    /// Prints an element with only its tags laid out.
    pub(super) fn print_as_written(&mut self, element: Element<'a>, depth: usize) {
        if element.is_empty_tag() {
            self.print_start_tag(element, depth, StartTagEnd::Empty);
            return;
        }
        self.print_start_tag(element, depth, StartTagEnd::Open);
        self.print_source(element.inner());
        self.print_end_tag(element);
    }
}

/// The actual content of an element whose kind permits alternatives.
fn effective_content(kind: ElementKind, element: Element<'_>) -> ElementContent {
    if kind.spec().content != ElementContent::TextOrElements {
        return kind.spec().content;
    }
    let is_child = |inside: Element<'_>| {
        kind.child(inside.name())
            .is_some_and(|child| child.kind != ElementKind::Use)
    };
    if element.elements().any(is_child) {
        ElementContent::Elements
    } else if kind == ElementKind::Model {
        ElementContent::Word
    } else {
        ElementContent::Text
    }
}

/// True if only white space stands between the tags.
fn is_blank(element: Element<'_>) -> bool {
    element
        .children()
        .all(|node| node.kind() == NodeKind::Text && node.is_blank())
}
