//! What stands in a list of elements, each item with how it stood: on the line of the one before, or behind an empty line.

use crate::base::span::Span;
use crate::syntax::tree::{Element, Kind as NodeKind, Node};
use crate::template::elements::{Child, Kind};

/// What an item is.
#[derive(Clone, Copy, Debug)]
pub(super) enum ItemKind<'a> {
    /// An element.
    Element(Element<'a>),
    /// A comment.
    Comment,
    /// An instruction, or all from `<?ctxc fmt off?>` to `<?ctxc fmt on?>`.
    Raw,
}

/// An item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) what: ItemKind<'a>,
    pub(super) span: Span,
    /// Stood on the line on which the one before ended.
    pub(super) same_line: bool,
    /// Stood behind an empty line.
    pub(super) after_blank: bool,
}

/// Whether an instruction speaks to the formatter, and says this.
fn says(node: Node<'_>, word: &str) -> bool {
    node.instruction().is_some_and(|(target, rest)| {
        target == "ctxc"
            && rest.strip_prefix("fmt").is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r']) && rest.trim() == word)
    })
}

/// Whether a node turns the formatter off.
pub(super) fn turns_off(node: Node<'_>) -> bool {
    says(node, "off")
}

/// The items among some siblings. `from` is where what stands before them ends.
pub(super) fn items<'a>(nodes: impl Iterator<Item = Node<'a>>, text: &str, from: u32) -> Vec<Item<'a>> {
    let mut out: Vec<Item<'a>> = Vec::new();
    let mut end = from;
    let mut off = false;
    for node in nodes.filter(|node| !node.is_blank()) {
        let span = node.span();
        if off {
            // All up to here belongs to what is left alone.
            if let Some(last) = out.last_mut() {
                last.span = last.span.cover(span);
            }
            off = !says(node, "on");
            end = span.end;
            continue;
        }
        off = turns_off(node);
        let what = match (node.as_element(), node.kind()) {
            (Some(element), _) => ItemKind::Element(element),
            (None, NodeKind::Comment) => ItemKind::Comment,
            (None, _) => ItemKind::Raw,
        };
        let gap = Span::new(end, span.start).slice(text);
        let lines = gap.bytes().filter(|byte| *byte == b'\n').count().max(gap.bytes().filter(|byte| *byte == b'\r').count());
        out.push(Item { what, span, same_line: lines == 0 && end > 0, after_blank: lines > 1 });
        end = span.end;
    }
    out
}

/// The settings of a `<context_management>` in the order of the table, each with the comments that stand before it and
/// behind it on its line. Left as they are when something else is among them, or one is there twice.
pub(super) fn sort_settings(items: &mut Vec<Item<'_>>, children: &[Child]) -> bool {
    let place = |element: &Element<'_>| children.iter().position(|child| child.kind.tag() == element.name());
    let mut groups: Vec<(usize, Vec<Item<'_>>)> = Vec::new();
    let mut leading = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match (item.what, groups.last_mut()) {
            (ItemKind::Element(element), _) => {
                let Some(place) = place(&element) else { return false };
                if groups.iter().any(|(known, _)| *known == place) {
                    return false;
                }
                leading.push(*item);
                groups.push((place, std::mem::take(&mut leading)));
            }
            (ItemKind::Comment, Some((_, group))) if item.same_line && leading.is_empty() => group.push(*item),
            (ItemKind::Comment, _) => leading.push(Item { same_line: item.same_line && at > 0, ..*item }),
            (ItemKind::Raw, _) => return false,
        }
    }
    if groups.is_sorted_by_key(|(place, _)| *place) {
        return false;
    }
    groups.sort_by_key(|(place, _)| *place);
    *items = groups.into_iter().flat_map(|(_, group)| group).chain(leading).collect();
    true
}

/// Whether a kind's list has an order of its own.
pub(super) fn is_sorted(kind: Kind) -> bool {
    kind == Kind::ContextManagement
}
