//! The tolerant tree: an arena with byte spans, immutable once read.
//!
//! Contains no text of its own: spans point into the text that was read. Even for broken input the
//! tree is valid: every element has an end, every child a parent. Elements in a damaged region are
//! marked ([`Element::is_damaged`]), so that no caller reports a second fault for the same damage.

pub use super::raw::NodeKind;
pub(super) use super::raw::{NO_NODE, RawAttribute, RawNode, flag};
use super::value;
use crate::base::span::Span;
use std::borrow::Cow;

/// An index into the arena. Document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// The arena, reused from file to file.
#[derive(Clone, Debug, Default)]
pub struct XmlTree {
    pub(super) nodes: Vec<RawNode>,
    pub(super) attributes: Vec<RawAttribute>,
    pub(super) namespaces: Vec<String>,
    /// The first node without a parent; these are comments, instructions, the root element, and
    /// damaged content outside the root.
    pub(super) first: u32,
    pub(super) root: u32,
    /// The number of processing instructions.
    pub(super) instructions: u32,
}

impl XmlTree {
    /// An empty tree.
    pub fn new() -> Self {
        Self {
            first: NO_NODE,
            root: NO_NODE,
            ..Self::default()
        }
    }

    /// Removes all nodes and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.attributes.clear();
        self.namespaces.clear();
        self.first = NO_NODE;
        self.root = NO_NODE;
        self.instructions = 0;
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the tree has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    pub(super) fn raw(&self, id: u32) -> Option<&RawNode> {
        self.nodes.get(id as usize)
    }
}

/// A tree together with its text: the handle for all callers.
#[derive(Clone, Copy, Debug)]
pub struct XmlDocument<'a> {
    /// The decoded text without a byte order mark.
    pub text: &'a str,
    /// Its tree.
    pub tree: &'a XmlTree,
}

impl<'a> XmlDocument<'a> {
    /// The root element; `None` if none exists.
    pub fn root(self) -> Option<Element<'a>> {
        self.element(NodeId(self.tree.root))
    }

    /// Returns true if the document contains processing instructions.
    pub const fn has_instructions(self) -> bool {
        self.tree.instructions > 0
    }

    /// The element with an id; `None` if the id is not that of an element.
    pub fn element(self, id: NodeId) -> Option<Element<'a>> {
        let raw = self.tree.raw(id.0)?;
        (raw.kind == NodeKind::Element).then_some(Element {
            document: self,
            id,
            raw,
        })
    }

    /// The node with an id.
    pub fn node(self, id: NodeId) -> Option<XmlNode<'a>> {
        self.tree.raw(id.0).map(|raw| XmlNode {
            document: self,
            id,
            raw,
        })
    }

    /// Nodes without a parent, in document order.
    pub fn nodes(self) -> Children<'a> {
        Children {
            document: self,
            next: self.tree.first,
        }
    }

    /// Every node in document order.
    pub fn all_nodes(self) -> impl Iterator<Item = XmlNode<'a>> {
        (0..self.tree.nodes.len() as u32).filter_map(move |id| self.node(NodeId(id)))
    }

    /// Every element in document order.
    pub fn elements(self) -> impl Iterator<Item = Element<'a>> {
        (0..self.tree.nodes.len() as u32).filter_map(move |id| self.element(NodeId(id)))
    }
}

/// Any node.
#[derive(Clone, Copy, Debug)]
pub struct XmlNode<'a> {
    document: XmlDocument<'a>,
    id: NodeId,
    raw: &'a RawNode,
}

impl<'a> XmlNode<'a> {
    /// The kind of the node.
    pub const fn kind(self) -> NodeKind {
        self.raw.kind
    }

    /// The complete span, with delimiters.
    pub const fn span(self) -> Span {
        Span {
            start: self.raw.start,
            end: self.raw.end,
        }
    }

    /// The content without its delimiters (`<!--`, `<![CDATA[`, `<?`): for elements, everything
    /// between the tags.
    pub const fn inner(self) -> Span {
        self.raw.inner
    }

    /// The node as an element.
    pub fn as_element(self) -> Option<Element<'a>> {
        (self.raw.kind == NodeKind::Element).then_some(Element {
            document: self.document,
            id: self.id,
            raw: self.raw,
        })
    }

    /// The parent element.
    pub fn parent(self) -> Option<Element<'a>> {
        self.document.element(NodeId(self.raw.parent))
    }

    /// Returns true for a text that consists of white space.
    pub const fn is_blank(self) -> bool {
        matches!(self.raw.kind, NodeKind::Text) && self.raw.flags & flag::BLANK != 0
    }

    /// Returns true if the node belongs to an element whose start tag is missing and could not be
    /// recreated.
    pub const fn is_orphan(self) -> bool {
        self.raw.flags & flag::ORPHAN != 0
    }

    /// Text and CDATA decoded (references resolved, line breaks normalised); other nodes give their
    /// raw content.
    pub fn text(self) -> Cow<'a, str> {
        let raw = self.raw.inner.slice(self.document.text);
        match self.raw.kind {
            NodeKind::Text | NodeKind::Cdata if self.raw.flags & flag::ENCODED != 0 => {
                value::decode_text(raw, self.raw.kind == NodeKind::Cdata)
            }
            NodeKind::Text
            | NodeKind::Cdata
            | NodeKind::Comment
            | NodeKind::Instruction
            | NodeKind::Element => Cow::Borrowed(raw),
        }
    }

    /// The target of an instruction (`ctxc` in `<?ctxc allow …?>`) and the rest after white space.
    pub fn instruction(self) -> Option<(&'a str, &'a str)> {
        if self.raw.kind != NodeKind::Instruction {
            return None;
        }
        let content = self.raw.inner.slice(self.document.text);
        let (target, rest) = content.split_at_checked(self.raw.name as usize)?;
        Some((target, rest.trim_start()))
    }
}

/// An element.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    document: XmlDocument<'a>,
    id: NodeId,
    raw: &'a RawNode,
}

impl<'a> Element<'a> {
    /// The document it belongs to.
    pub const fn document(self) -> XmlDocument<'a> {
        self.document
    }

    /// Its id.
    pub const fn id(self) -> NodeId {
        self.id
    }

    /// The qualified name as written.
    pub fn name(self) -> &'a str {
        self.name_span().slice(self.document.text)
    }

    /// The name after the prefix.
    pub fn local_name(self) -> &'a str {
        let name = self.name();
        name.split_once(':').map_or(name, |(_, local)| local)
    }

    /// The namespace's URI; `None` for an element in no namespace.
    pub fn namespace(self) -> Option<&'a str> {
        namespace_uri(self.document.tree, self.raw.namespace)
    }

    /// The span of the name in the start tag.
    pub const fn name_span(self) -> Span {
        self.raw.name_span()
    }

    /// From `<` of the start tag to `>` of the end tag.
    pub const fn span(self) -> Span {
        Span {
            start: self.raw.start,
            end: self.raw.end,
        }
    }

    /// The start tag.
    pub const fn start_tag(self) -> Span {
        Span {
            start: self.raw.start,
            end: self.raw.inner.start,
        }
    }

    /// The end tag; `None` for `<a/>` and if it is missing.
    pub fn end_tag(self) -> Option<Span> {
        (self.raw.flags & flag::CLOSED != 0).then_some(Span {
            start: self.raw.inner.end,
            end: self.raw.end,
        })
    }

    /// The content between the tags; empty at the end for `<a/>`.
    pub const fn inner(self) -> Span {
        self.raw.inner
    }

    /// Returns true for an element written `<a/>`.
    pub const fn is_empty_tag(self) -> bool {
        self.raw.flags & flag::EMPTY != 0
    }

    /// Returns true if the start tag is damaged: the name and attributes may be wrong.
    pub const fn has_damaged_tag(self) -> bool {
        self.raw.flags & flag::TAG != 0
    }

    /// Returns true if a structural error lies in or around the element: callers must not report a
    /// further fault for it.
    pub const fn is_damaged(self) -> bool {
        self.raw.flags & flag::DAMAGED != 0
    }

    /// The parent element.
    pub fn parent(self) -> Option<Element<'a>> {
        self.document.element(NodeId(self.raw.parent))
    }

    /// Child nodes in document order.
    pub const fn children(self) -> Children<'a> {
        Children {
            document: self.document,
            next: self.raw.child,
        }
    }

    /// Child elements in document order.
    pub fn elements(self) -> impl Iterator<Item = Element<'a>> {
        self.children().filter_map(XmlNode::as_element)
    }

    /// Attributes in document order, namespace declarations included.
    pub fn attributes(self) -> impl Iterator<Item = Attribute<'a>> {
        let first = self.raw.attributes as usize;
        let attributes = self
            .document
            .tree
            .attributes
            .get(first..first + self.raw.count as usize)
            .unwrap_or(&[]);
        attributes.iter().map(move |raw| Attribute {
            document: self.document,
            raw,
        })
    }

    /// The attribute in no namespace with this name.
    pub fn attribute(self, name: &str) -> Option<Attribute<'a>> {
        self.attributes().find(|attribute| attribute.name() == name)
    }

    /// The decoded text of its direct text and CDATA children, concatenated; comments and elements
    /// are skipped.
    pub fn text(self) -> Cow<'a, str> {
        let mut texts = self
            .children()
            .filter(|node| matches!(node.kind(), NodeKind::Text | NodeKind::Cdata));
        let Some(first) = texts.next() else {
            return Cow::Borrowed("");
        };
        let mut all = first.text();
        for node in texts {
            all.to_mut().push_str(&node.text());
        }
        all
    }
}

/// An attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    document: XmlDocument<'a>,
    raw: &'a RawAttribute,
}

impl<'a> Attribute<'a> {
    /// The qualified name as written.
    pub fn name(self) -> &'a str {
        self.raw.name.slice(self.document.text)
    }

    /// The span of the name.
    pub const fn name_span(self) -> Span {
        self.raw.name
    }

    /// The namespace's URI; `None` for an attribute without a prefix. `xmlns` declarations are in
    /// their own.
    pub fn namespace(self) -> Option<&'a str> {
        namespace_uri(self.document.tree, self.raw.namespace)
    }

    /// The value, decoded and normalised according to XML 1.0 § 3.3.3.
    pub fn value(self) -> Cow<'a, str> {
        let raw = self.raw.value.slice(self.document.text);
        if self.raw.flags & flag::ENCODED == 0 {
            Cow::Borrowed(raw)
        } else {
            value::decode_attribute(raw)
        }
    }

    /// The span of the value, without quotes.
    pub const fn value_span(self) -> Span {
        self.raw.value
    }

    /// From the name to the closing quote.
    pub fn span(self) -> Span {
        let quote = self
            .document
            .text
            .as_bytes()
            .get(self.raw.value.end as usize);
        let quoted = u32::from(matches!(quote, Some(b'"' | b'\'')));
        Span {
            start: self.raw.name.start,
            end: self.raw.value.end + quoted,
        }
    }
}

fn namespace_uri(tree: &XmlTree, index: u16) -> Option<&str> {
    tree.namespaces
        .get((index as usize).checked_sub(1)?)
        .map(String::as_str)
}

/// Iterates over siblings.
#[derive(Clone, Debug)]
pub struct Children<'a> {
    document: XmlDocument<'a>,
    next: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = XmlNode<'a>;

    fn next(&mut self) -> Option<XmlNode<'a>> {
        let raw = self.document.tree.raw(self.next)?;
        let node = XmlNode {
            document: self.document,
            id: NodeId(self.next),
            raw,
        };
        self.next = raw.next;
        Some(node)
    }
}
