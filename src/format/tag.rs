//! Prints start tags: on one line if they fit, otherwise with each attribute on a line of its own.
//! Values stay as written.

use super::printer::Printer;
use crate::syntax::tree::{Attribute, Element};

/// The end of a start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartTagEnd {
    /// Content and an end tag follow.
    Open,
    /// Nothing follows.
    Empty,
}

impl StartTagEnd {
    const fn closing_sign(self) -> &'static str {
        match self {
            Self::Open => ">",
            Self::Empty => "/>",
        }
    }
}

impl Printer<'_> {
    /// Appends the start tag of an element at a depth.
    pub(super) fn print_start_tag(&mut self, element: Element<'_>, depth: usize, end: StartTagEnd) {
        let start = self.out.len();
        self.out.push('<');
        self.out.push_str(element.name());
        let name = self.out.len();
        for attribute in element.attributes() {
            self.out.push(' ');
            self.print_attribute(attribute);
        }
        self.out.push_str(end.closing_sign());
        let tag = self.out.get(start..).unwrap_or("");
        let columns = depth * self.options.indent.column_count() + tag.chars().count();
        let fits = columns <= self.options.width as usize && !tag.contains(['\n', '\r']);
        if fits || element.attributes().nth(1).is_none() {
            return;
        }
        self.out.truncate(name);
        for attribute in element.attributes() {
            // Deeper than the children, so that they are easy to distinguish.
            self.new_line(depth + 2);
            self.print_attribute(attribute);
        }
        self.out.push_str(end.closing_sign());
    }

    fn print_attribute(&mut self, attribute: Attribute<'_>) {
        let value = attribute.value_span().slice(self.document.text);
        let quote = if value.contains('"') { '\'' } else { '"' };
        self.out.push_str(attribute.name());
        self.out.push('=');
        self.out.push(quote);
        self.out.push_str(value);
        self.out.push(quote);
    }

    /// Appends the end tag.
    pub(super) fn print_end_tag(&mut self, element: Element<'_>) {
        self.out.push_str("</");
        self.out.push_str(element.name());
        self.out.push('>');
    }
}
