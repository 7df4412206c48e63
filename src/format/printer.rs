//! Prints a tree: documents and lists of elements.

use super::items::{Item, ItemKind, is_sorted, items, sort_settings};
use super::options::Options;
use crate::base::span::Span;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::syntax::tree::{Document, Node};
use crate::template::elements::Kind;

/// The reason why a text is not formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// Syntax errors: its structure would be a guess. The span of the first one.
    #[error("it is not well-formed XML")]
    Syntax(Span),
    /// The root is not an element of the language.
    #[error("its root is neither a task, a template nor a library")]
    Foreign,
}

/// Prints one document.
pub(super) struct Printer<'a> {
    pub(super) document: Document<'a>,
    pub(super) options: Options,
    pub(super) out: String,
    line: &'static str,
}

/// Lays out a template.
///
/// # Errors
/// The text has syntax errors, or is not a template.
///
/// ```
/// use ctxc::internals::format::{Options, format};
/// let text = "<task name='t'   type='atomic'><description>d</description></task>";
/// let laid_out = format(text, &ctxc::internals::syntax::Limits::default(), Options::default()).unwrap();
/// assert_eq!(laid_out, "<task name=\"t\" type=\"atomic\">\n  <description>d</description>\n</task>\n");
/// ```
pub fn format(text: &str, limits: &Limits, options: Options) -> Result<String, Broken> {
    let mut reader = Reader::new();
    reader.read(text, limits);
    if let Some(fault) = reader.faults().first() {
        return Err(Broken::Syntax(fault.span));
    }
    let document = reader.document(text);
    if document
        .root()
        .filter(|root| root.namespace().is_none())
        .and_then(|root| kind_of_root(root.name()))
        .is_none()
    {
        return Err(Broken::Foreign);
    }
    let capacity = text.len() + text.len() / 8;
    let mut printer = Printer {
        document,
        options,
        out: String::with_capacity(capacity),
        line: line_break(text),
    };
    let declaration = declaration(text);
    printer.out.push_str(declaration);
    let items = items(document.nodes(), text, declaration.len() as u32);
    printer.list(&items, None, 0);
    printer.out.push_str(printer.line);
    Ok(printer.out)
}

/// The XML declaration, which is not a node.
fn declaration(text: &str) -> &str {
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

fn kind_of_root(name: &str) -> Option<Kind> {
    [Kind::Task, Kind::Template, Kind::Library]
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
        self.options.indent.push(depth, &mut self.out);
    }

    /// Ends the line; the next one is still empty.
    pub(super) fn end_line(&mut self) {
        self.out.push_str(self.line);
    }

    /// Appends a part of the source unchanged.
    pub(super) fn raw(&mut self, span: Span) {
        self.out.push_str(span.slice(self.document.text));
    }

    /// Prints the children of an element, each on a line.
    pub(super) fn children(
        &mut self,
        nodes: impl Iterator<Item = Node<'a>>,
        from: u32,
        kind: Kind,
        depth: usize,
    ) {
        let mut items = items(nodes, self.document.text, from);
        if is_sorted(kind) {
            sort_settings(&mut items, kind.spec().children);
        }
        self.list(&items, Some(kind), depth);
    }

    fn list(&mut self, items: &[Item<'a>], parent: Option<Kind>, depth: usize) {
        for (at, item) in items.iter().enumerate() {
            let is_first = at == 0;
            if matches!(item.what, ItemKind::Comment) && item.same_line && !is_first {
                self.out.push(' ');
            } else if !self.out.is_empty() {
                if item.after_blank && (!is_first || parent.is_none()) {
                    self.end_line();
                }
                self.new_line(depth);
            }
            match item.what {
                ItemKind::Element(element) => {
                    let tag = element.name();
                    let kind = match parent {
                        None => kind_of_root(tag),
                        Some(parent) => parent.child(tag).map(|child| child.kind),
                    };
                    self.element(element, kind, depth);
                }
                ItemKind::Comment | ItemKind::Raw => self.raw(item.span),
            }
        }
    }
}
