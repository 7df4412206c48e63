//! The stored form of nodes in the arena: kind, offsets and flags, no text.

use crate::base::span::Span;

pub(super) const NO_NODE: u32 = u32::MAX;
/// Bits of [`RawNode::flags`].
pub(super) mod flag {
    /// The node lies in a damaged region or contains one.
    pub(in crate::syntax) const DAMAGED: u8 = 1;
    /// Written `<a/>`.
    pub(in crate::syntax) const EMPTY: u8 = 2;
    /// The element has an end tag of its own.
    pub(in crate::syntax) const CLOSED: u8 = 4;
    /// The text contains `&` or a carriage return and must be decoded.
    pub(in crate::syntax) const ENCODED: u8 = 8;
    /// The start tag of the element is missing, so its name is that of its end tag. Shares the bit
    /// of `ENCODED`, which applies only to texts.
    pub(in crate::syntax) const HEADLESS: u8 = ENCODED;
    /// The text consists of white space.
    pub(in crate::syntax) const BLANK: u8 = 16;
    /// The start tag lacks its `<`.
    pub(in crate::syntax) const BARE: u8 = 32;
    /// The node belongs to an element whose start tag is missing.
    pub(in crate::syntax) const ORPHAN: u8 = 64;
    /// The start tag itself is damaged.
    pub(in crate::syntax) const TAG: u8 = 128;
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// An element.
    Element,
    /// Character data between tags.
    Text,
    /// A CDATA section.
    Cdata,
    /// A comment.
    Comment,
    /// A processing instruction (but not the XML declaration).
    Instruction,
}

/// One node as stored. For text, CDATA, comments and instructions, `inner` is the content without
/// its delimiters.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawNode {
    pub(super) kind: NodeKind,
    pub(super) flags: u8,
    /// Bytes of the name (elements) or of the target (instructions).
    pub(super) name: u16,
    /// The number of attributes, starting at `attributes`.
    pub(super) count: u16,
    /// 0 for none, else 1 + index into the namespaces.
    pub(super) namespace: u16,
    pub(super) parent: u32,
    pub(super) next: u32,
    pub(super) child: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Elements: the end of the start tag, the start of the end tag (both the end for `<a/>`).
    pub(super) inner: Span,
    pub(super) attributes: u32,
}

impl RawNode {
    /// The span of an element's name.
    #[inline]
    pub(super) const fn name_span(&self) -> Span {
        if self.flags & flag::HEADLESS != 0 && matches!(self.kind, NodeKind::Element) {
            let start = self.inner.end + 2;
            return Span {
                start,
                end: start + self.name as u32,
            };
        }
        let start = self.start + if self.flags & flag::BARE == 0 { 1 } else { 0 };
        Span {
            start,
            end: start + self.name as u32,
        }
    }
}

/// One attribute as stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawAttribute {
    pub(super) name: Span,
    /// Without the quotes.
    pub(super) value: Span,
    pub(super) namespace: u16,
    pub(super) flags: u8,
}
