//! From a byte offset to what stands there. Never reads a text, only spans.

use super::tree::{Document, Element, Kind, NodeId};

impl<'a> Document<'a> {
    /// The innermost element that holds a byte offset: its tags and all between them count. Logarithmic in the number
    /// of nodes, linear in the depth.
    pub fn element_at(self, offset: u32) -> Option<Element<'a>> {
        // Nodes stand in the order of their starts, so the last one that starts at or before the offset is inside
        // every element that holds it.
        let after = self.tree.nodes.partition_point(|raw| raw.start <= offset);
        let mut id = (after as u32).checked_sub(1)?;
        loop {
            let raw = self.tree.raw(id)?;
            if raw.kind == Kind::Element && (offset < raw.end || raw.start == raw.end) {
                return self.element(NodeId(id));
            }
            id = raw.parent;
        }
    }
}
