//! Prints a tree: documents and lists of elements.

use super::items::{ItemKind, ListItem, collect_items, has_sorted_children, sort_settings};
use super::options::FormatOptions;
use crate::base::span::Span;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::syntax::tree::{XmlDocument, XmlNode};
use crate::template::elements::ElementKind;

/// The reason why a text is not formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Syntax errors: its structure would be a guess. The span of the first one.
    #[error("it is not well-formed XML")]
    Syntax(Span),
    /// The root is not an element of the language.
    #[error("its root is neither a task, a template nor a library")]
    Foreign,
}

/// Prints one document.
pub(super) struct Printer<'a> {
    pub(super) document: XmlDocument<'a>,
    pub(super) options: FormatOptions,
    pub(super) out: String,
    line: &'static str,
}

/// Lays out a template.
///
/// # Errors
/// The text has syntax errors, or is not a template.
///
/// ```
/// use ctxc::internals::format::{FormatOptions, format};
/// let text = "<task name='t'   type='atomic'><description>d</description></task>";
/// let laid_out = format(text, &ctxc::internals::syntax::XmlLimits::default(), FormatOptions::default()).unwrap();
/// assert_eq!(laid_out, "<task name=\"t\" type=\"atomic\">\n  <description>d</description>\n</task>\n");
/// ```
pub fn format(
    text: &str,
    limits: &XmlLimits,
    options: FormatOptions,
) -> Result<String, FormatError> {
    let mut reader = XmlReader::new();
    reader.read(text, limits);
    if let Some(fault) = reader.faults().first() {
        return Err(FormatError::Syntax(fault.span));
    }
    let document = reader.document(text);
    if document
        .root()
        .filter(|root| root.namespace().is_none())
        .and_then(|root| root_kind(root.name()))
        .is_none()
    {
        return Err(FormatError::Foreign);
    }
    let capacity = text.len() + text.len() / 8;
    let mut printer = Printer {
        document,
        options,
        out: String::with_capacity(capacity),
        line: line_break(text),
    };
    let declaration = xml_declaration(text);
    printer.out.push_str(declaration);
    let items = collect_items(document.nodes(), text, declaration.len() as u32);
    printer.print_items(&items, None, 0);
    printer.out.push_str(printer.line);
    Ok(printer.out)
}

/// The XML declaration, which is not a node.
fn xml_declaration(text: &str) -> &str {
    let is_there = text
        .strip_prefix("<?xml")
        .is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n']));
    let end = if is_there {
        text.find("?>").map_or(0, |at| at + 2)
    } else {
        0
    };
    text.get(..end).unwrap_or("")
}

fn root_kind(name: &str) -> Option<ElementKind> {
    [
        ElementKind::Task,
        ElementKind::Template,
        ElementKind::Library,
    ]
    .into_iter()
    .find(|kind| kind.tag() == name)
}

/// The last line break of a text. The output ends with the break chosen here, so formatting it
/// again makes the same choice.
fn line_break(text: &str) -> &'static str {
    let lines = memchr::memrchr(b'\n', text.as_bytes()).and_then(|end| text.get(..end));
    if lines.is_some_and(|lines| lines.ends_with('\r')) {
        "\r\n"
    } else {
        "\n"
    }
}

impl<'a> Printer<'a> {
    /// Ends the line and indents the next one.
    pub(super) fn new_line(&mut self, depth: usize) {
        self.out.push_str(self.line);
        self.options.indent.push_levels(depth, &mut self.out);
    }

    /// Ends the line; the next one is still empty.
    pub(super) fn end_line(&mut self) {
        self.out.push_str(self.line);
    }

    /// Appends a part of the source unchanged.
    pub(super) fn print_source(&mut self, span: Span) {
        self.out.push_str(span.slice(self.document.text));
    }

    /// Prints the children of an element, each on a line.
    pub(super) fn print_children(
        &mut self,
        nodes: impl Iterator<Item = XmlNode<'a>>,
        from: u32,
        kind: ElementKind,
        depth: usize,
    ) {
        let mut items = collect_items(nodes, self.document.text, from);
        if has_sorted_children(kind) {
            sort_settings(&mut items, kind.spec().children);
        }
        self.print_items(&items, Some(kind), depth);
    }

    fn print_items(&mut self, items: &[ListItem<'a>], parent: Option<ElementKind>, depth: usize) {
        for (at, item) in items.iter().enumerate() {
            let is_first = at == 0;
            if matches!(item.kind, ItemKind::Comment) && item.same_line && !is_first {
                self.out.push(' ');
            } else if !self.out.is_empty() {
                if item.after_blank && (!is_first || parent.is_none()) {
                    self.end_line();
                }
                self.new_line(depth);
            }
            match item.kind {
                ItemKind::Element(element) => {
                    let tag = element.name();
                    let kind = match parent {
                        None => root_kind(tag),
                        Some(parent) => parent.child(tag).map(|child| child.kind),
                    };
                    self.print_element(element, kind, depth);
                }
                ItemKind::Comment | ItemKind::Raw => self.print_source(item.span),
            }
        }
    }
}
