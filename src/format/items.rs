//! The items of a list of elements, each with its original spacing: on the line of the previous
//! item, or after an empty line.

use crate::base::span::Span;
use crate::syntax::tree::{Element, NodeKind, XmlNode};
use crate::template::elements::{ChildSpec, ElementKind};

/// The kind of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum ItemKind<'a> {
    /// An element.
    Element(Element<'a>),
    /// A comment.
    Comment,
    /// A processing instruction, or everything from `<?ctxc fmt off?>` to `<?ctxc fmt on?>`.
    Raw,
}

/// An item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListItem<'a> {
    pub(super) kind: ItemKind<'a>,
    pub(super) span: Span,
    /// True if it stood on the line on which the previous item ended.
    pub(super) same_line: bool,
    /// True if it stood after an empty line.
    pub(super) after_blank: bool,
}

/// True if a node is the formatter instruction `word`.
fn is_directive(node: XmlNode<'_>, word: &str) -> bool {
    node.instruction().is_some_and(|(target, rest)| {
        target == "ctxc"
            && rest.strip_prefix("fmt").is_some_and(|rest| {
                rest.starts_with([' ', '\t', '\n', '\r']) && rest.trim() == word
            })
    })
}

/// True if a node turns the formatter off.
pub(super) fn is_format_off(node: XmlNode<'_>) -> bool {
    is_directive(node, "off")
}

/// Returns the items among some siblings. `from` is the end of the text before them.
pub(super) fn collect_items<'a>(
    nodes: impl Iterator<Item = XmlNode<'a>>,
    text: &str,
    from: u32,
) -> Vec<ListItem<'a>> {
    let mut out: Vec<ListItem<'a>> = Vec::new();
    let mut end = from;
    let mut off = false;
    for node in nodes.filter(|node| !node.is_blank()) {
        let span = node.span();
        if off {
            // All nodes up to here belong to the unformatted part.
            if let Some(last) = out.last_mut() {
                last.span = last.span.cover(span);
            }
            off = !is_directive(node, "on");
            end = span.end;
            continue;
        }
        off = is_format_off(node);
        let what = match (node.as_element(), node.kind()) {
            (Some(element), _) => ItemKind::Element(element),
            (None, NodeKind::Comment) => ItemKind::Comment,
            (None, _) => ItemKind::Raw,
        };
        let gap = Span::new(end, span.start).slice(text);
        let lines = gap
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count()
            .max(gap.bytes().filter(|byte| *byte == b'\r').count());
        out.push(ListItem {
            kind: what,
            span,
            same_line: lines == 0 && end > 0,
            after_blank: lines > 1,
        });
        end = span.end;
    }
    out
}

/// Sorts the settings of a `<context_management>` in the order of the table, each with the comments
/// before it and after it on its line. Leaves them unchanged if another item is among them, or a
/// setting is repeated. Returns true if the order changed.
pub(super) fn sort_settings(items: &mut Vec<ListItem<'_>>, children: &[ChildSpec]) -> bool {
    let place = |element: &Element<'_>| {
        children
            .iter()
            .position(|child| child.kind.tag() == element.name())
    };
    let mut groups: Vec<(usize, Vec<ListItem<'_>>)> = Vec::new();
    let mut leading = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match (item.kind, groups.last_mut()) {
            (ItemKind::Element(element), _) => {
                let Some(place) = place(&element) else {
                    return false;
                };
                if groups.iter().any(|(known, _)| *known == place) {
                    return false;
                }
                leading.push(*item);
                groups.push((place, std::mem::take(&mut leading)));
            }
            (ItemKind::Comment, Some((_, group))) if item.same_line && leading.is_empty() => {
                group.push(*item);
            }
            (ItemKind::Comment, _) => leading.push(ListItem {
                same_line: item.same_line && at > 0,
                ..*item
            }),
            (ItemKind::Raw, _) => return false,
        }
    }
    if groups.is_sorted_by_key(|(place, _)| *place) {
        return false;
    }
    groups.sort_by_key(|(place, _)| *place);
    *items = groups
        .into_iter()
        .flat_map(|(_, group)| group)
        .chain(leading)
        .collect();
    true
}

/// True if the children of a kind have a canonical order.
pub(super) fn has_sorted_children(kind: ElementKind) -> bool {
    kind == ElementKind::ContextManagement
}
