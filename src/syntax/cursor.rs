//! Lookup of nodes by byte offset. Never reads a text, only spans.

use super::tree::{Attribute, Element, NodeId, XmlDocument, XmlNode};

impl<'a> XmlDocument<'a> {
    /// The innermost node that contains a byte offset: a text, a comment, or an element with its
    /// tags. Logarithmic in the number of nodes, linear in the depth.
    pub fn node_at(self, offset: u32) -> Option<XmlNode<'a>> {
        // Nodes are sorted by their starts, so the last one that starts at or before the offset is
        // inside every element that contains it.
        let after = self.tree.nodes.partition_point(|raw| raw.start <= offset);
        let mut id = (after as u32).checked_sub(1)?;
        loop {
            let raw = self.tree.raw(id)?;
            if offset < raw.end || raw.start == raw.end {
                return self.node(NodeId(id));
            }
            id = raw.parent;
        }
    }

    /// The innermost element that contains a byte offset, its tags included.
    pub fn element_at(self, offset: u32) -> Option<Element<'a>> {
        let node = self.node_at(offset)?;
        node.as_element().or_else(|| node.parent())
    }

    /// The attribute that contains a byte offset, from its name to its closing quote.
    pub fn attribute_at(self, offset: u32) -> Option<Attribute<'a>> {
        let element = self
            .element_at(offset)
            .filter(|element| element.start_tag().contains(offset))?;
        element
            .attributes()
            .find(|attribute| attribute.span().contains(offset))
    }
}
