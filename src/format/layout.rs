//! One pass over the tree. As deep as the reader's depth limit, and no deeper.

use super::tag;
use crate::base::span::Span;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::syntax::tree::{Document, Element, Kind as Node, Node as Found};
use crate::template::elements::{Content, Kind};
use crate::template::setting::{SettingName, Word};

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns; a start tag that takes more is wrapped.
    pub width: u32,
    /// Spaces for each level.
    pub indent: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 100, indent: 2 }
    }
}

/// A text that is not well-formed, or none of the language: it is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It is not well-formed; the first fault stands here.
    #[error("it is not well-formed XML")]
    Syntax(Span),
    /// Its root is none of the language.
    #[error("its root is neither a task, a template nor a library")]
    Foreign,
}

/// Lays a text out.
///
/// # Errors
/// The text is not well-formed, or none of the language.
pub fn format(text: &str, limits: &Limits, options: Options) -> Result<String, Broken> {
    let mut reader = Reader::new();
    reader.read(text, limits);
    if let Some(fault) = reader.faults().first() {
        return Err(Broken::Syntax(fault.span));
    }
    let document = reader.document(text);
    let root = document.root().ok_or(Broken::Syntax(Span::at(0)))?;
    let kind = root_kind(root).ok_or(Broken::Foreign)?;
    let line =
        if text.find('\n').is_some_and(|at| text.get(..at).is_some_and(|head| head.ends_with('\r'))) { "\r\n" } else { "\n" };
    let mut layout = Layout { document, options, line, out: String::with_capacity(text.len() + text.len() / 8) };
    layout.file(root, kind);
    Ok(layout.out)
}

fn root_kind(root: Element<'_>) -> Option<Kind> {
    if root.namespace().is_some() {
        return None;
    }
    [Kind::Task, Kind::Template, Kind::Library].into_iter().find(|kind| kind.tag() == root.name())
}

struct Layout<'a> {
    document: Document<'a>,
    options: Options,
    line: &'static str,
    out: String,
}

/// Something in an element, with the comments that belong to it.
struct Item<'a> {
    node: Found<'a>,
    /// Line breaks before it.
    breaks: usize,
    /// It is kept as it is, with all that follows up to here.
    kept: Option<Span>,
}

impl<'a> Layout<'a> {
    fn file(&mut self, root: Element<'a>, kind: Kind) {
        let text = self.document.text;
        // The declaration, and whatever stands before the first node, stay as they are.
        let first = self.document.nodes().find(|node| !node.is_blank()).map_or(0, |node| node.span().start);
        let head = text.get(..first as usize).unwrap_or("").trim_end();
        self.out.push_str(head);
        let mut end = first;
        for node in self.document.nodes().filter(|node| !node.is_blank()) {
            let gap = text.get(end as usize..node.span().start as usize).unwrap_or("");
            if !self.out.is_empty() && !self.out.ends_with('\u{feff}') {
                self.breaks(breaks(gap), true);
            }
            match node.as_element() {
                Some(element) if element.id() == root.id() => self.element(element, Some(kind), 0),
                _ => self.out.push_str(node.span().slice(text)),
            }
            end = node.span().end;
        }
        self.out.push_str(self.line);
    }

    /// A line break, or two where there was an empty line.
    fn breaks(&mut self, before: usize, may_be_empty: bool) {
        self.out.push_str(self.line);
        if before > 1 && may_be_empty {
            self.out.push_str(self.line);
        }
    }

    fn indent(&self, depth: usize) -> String {
        " ".repeat(depth * self.options.indent as usize)
    }

    fn element(&mut self, element: Element<'a>, kind: Option<Kind>, depth: usize) {
        self.start(element, depth);
        if element.is_empty_tag() {
            self.out.push_str("/>");
            return;
        }
        self.out.push('>');
        match kind {
            Some(kind) if holds_elements(element, kind) => self.children(element, kind, depth),
            // A text, or something of which only its author knows what white space means there.
            _ => self.out.push_str(element.inner().slice(self.document.text)),
        }
        self.out.push_str("</");
        self.out.push_str(element.name_span().slice(self.document.text));
        self.out.push('>');
    }

    fn start(&mut self, element: Element<'a>, depth: usize) {
        let flat = tag::flat(element);
        let room = self.options.width as usize;
        let fits = depth * self.options.indent as usize + flat.chars().count() < room && !flat.contains('\n');
        if fits || element.attributes().count() < 2 {
            self.out.push_str(&flat);
        } else {
            let indent = self.indent(depth + 2);
            self.out.push_str(&tag::wrapped(element, &indent, self.line));
        }
    }

    fn children(&mut self, parent: Element<'a>, kind: Kind, depth: usize) {
        let text = self.document.text;
        let mut items = items(parent);
        if items.is_empty() {
            return;
        }
        if kind == Kind::ContextManagement {
            order(&mut items);
        }
        let indent = self.indent(depth + 1);
        for (at, item) in items.iter().enumerate() {
            let beside = at > 0 && item.breaks == 0 && matches!(item.node.kind(), Node::Comment | Node::Instruction);
            if beside {
                self.out.push(' ');
            } else {
                self.breaks(item.breaks, at > 0);
                self.out.push_str(&indent);
            }
            match (item.kept, item.node.as_element()) {
                (Some(kept), _) => self.out.push_str(kept.slice(text).trim_end()),
                // Elements of other namespaces and of older dialects are kept to the letter, as the registry keeps them.
                (None, Some(child)) if is_ours(child, kind) => {
                    let own = kind.child(child.name()).map(|child| child.kind);
                    self.element(child, own, depth + 1);
                }
                (None, _) => self.out.push_str(item.node.span().slice(text)),
            }
        }
        self.out.push_str(self.line);
        let own = self.indent(depth);
        self.out.push_str(&own);
    }
}

/// Whether an element holds elements, so that white space between them means nothing.
fn holds_elements(element: Element<'_>, kind: Kind) -> bool {
    let has_words = element.children().any(|node| matches!(node.kind(), Node::Text | Node::Cdata) && !node.is_blank());
    let preserves = std::iter::successors(Some(element), |element| element.parent())
        .any(|element| element.attributes().any(|attribute| attribute.name() == "xml:space"));
    match kind.spec().content {
        Content::Elements => !has_words && !preserves,
        Content::TextOrElements => {
            let mut elements = element.elements().filter(|child| child.name() != "use").peekable();
            !has_words && !preserves && elements.peek().is_some() && element.elements().all(|child| child.name() != "use")
        }
        Content::Text | Content::Word | Content::Empty | Content::Opaque => false,
    }
}

/// Whether an element is one that the language gives a meaning to.
fn is_ours(element: Element<'_>, parent: Kind) -> bool {
    let known = parent.child(element.name()).map(|child| child.kind.spec());
    element.namespace().is_none() && known.is_some_and(|spec| spec.deprecated.is_none() && spec.content != Content::Opaque)
}

/// How many line breaks a piece of white space holds.
fn breaks(gap: &str) -> usize {
    let lone = gap.bytes().filter(|byte| *byte == b'\r').count();
    gap.bytes().filter(|byte| *byte == b'\n').count().max(lone)
}

/// What stands in an element; between `<?ctxc fmt off?>` and `<?ctxc fmt on?>` one piece that is kept.
fn items(parent: Element<'_>) -> Vec<Item<'_>> {
    let text = parent.document().text;
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut end = parent.inner().start;
    let mut off = false;
    for node in parent.children().filter(|node| !node.is_blank()) {
        let span = node.span();
        if off && let Some(kept) = items.last_mut().and_then(|item| item.kept.as_mut()) {
            *kept = kept.cover(span);
            off = !says(node, "on");
        } else {
            let gap = text.get(end as usize..span.start as usize).unwrap_or("");
            off = says(node, "off");
            // The first one begins a line, wherever it stood.
            let breaks = breaks(gap).max(usize::from(items.is_empty()));
            items.push(Item { node, breaks, kept: off.then_some(span) });
        }
        end = span.end;
    }
    items
}

/// Whether a node is `<?ctxc fmt WORD?>`.
fn says(node: Found<'_>, word: &str) -> bool {
    node.instruction().is_some_and(|(target, rest)| {
        let mut words = rest.split_ascii_whitespace();
        target == "ctxc" && words.next() == Some("fmt") && words.next() == Some(word)
    })
}

/// Puts settings into the order of the language, each with the comments before it and behind it on its line. Where anything
/// else stands among them, or a part is kept, the order is left.
fn order(items: &mut Vec<Item<'_>>) {
    let place = |item: &Item<'_>| {
        let name = item.node.as_element()?.name();
        SettingName::ALL.iter().position(|setting| setting.word() == name)
    };
    let only_settings = items.iter().all(|item| match item.node.kind() {
        Node::Element => place(item).is_some(),
        Node::Comment => true,
        Node::Text | Node::Cdata | Node::Instruction => false,
    });
    if !only_settings || items.iter().any(|item| item.kept.is_some()) {
        return;
    }
    let mut groups: Vec<(Option<usize>, Vec<Item<'_>>)> = Vec::new();
    let mut open = false;
    for item in items.drain(..) {
        let beside = item.breaks == 0 && !item.node.kind().eq(&Node::Element);
        if !open && (!beside || groups.is_empty()) {
            groups.push((None, Vec::new()));
        }
        let Some((own, group)) = groups.last_mut() else { continue };
        let setting = place(&item);
        open = if beside { open } else { setting.is_none() };
        *own = own.or(setting);
        group.push(item);
    }
    // Comments behind the last setting stay at the end.
    groups.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
    items.extend(groups.into_iter().flat_map(|(_, group)| group));
}
