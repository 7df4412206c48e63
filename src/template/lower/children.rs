//! Checks child elements against the element table.

use super::intended_child;
use super::state::Lower;
use crate::syntax::tree::{Element, NodeKind as Node};
use crate::template::elements::{ChildSpec, ElementContent, ElementKind};
use crate::template::fault::TemplateFaultKind;
use crate::template::setting::{SettingName, Word};

/// The maximum number of siblings that are searched for each fault, so that many faults take linear
/// time.
pub(super) const MAX_SIBLINGS: usize = 257;

/// A child that the table contains.
#[derive(Clone, Copy)]
pub(super) struct KnownChild<'a> {
    pub(super) kind: ElementKind,
    pub(super) element: Element<'a>,
    pub(super) child: &'static ChildSpec,
}

impl<'a> Lower<'a> {
    /// Passes each known child to `take`, only the first of those that cannot be repeated; reports
    /// the others. Foreign elements are recorded, not reported.
    pub(super) fn lower_children(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        mut take: impl FnMut(&mut Self, KnownChild<'a>),
    ) {
        let spec = kind.spec();
        let takes_text = matches!(
            spec.content,
            ElementContent::Text | ElementContent::TextOrElements
        );
        let mut seen = 0_u64;
        let mut present = None;
        let mut text_reported = false;
        for node in element.children() {
            // The content of an element whose start tag is missing does not belong to this element.
            if node.is_orphan() {
                continue;
            }
            if matches!(node.kind(), Node::Text | Node::Cdata)
                && !takes_text
                && !text_reported
                && !node.text().trim().is_empty()
            {
                self.report_fault(
                    element,
                    node.span(),
                    TemplateFaultKind::MisplacedText { parent: kind },
                );
                text_reported = true;
            }
            let Some(found) = node.as_element() else {
                continue;
            };
            // An undeclared prefix has been reported; the element without a namespace is read by
            // its local name.
            let name = if found.namespace().is_none() {
                found.local_name()
            } else {
                ""
            };
            let at = spec
                .children
                .iter()
                .position(|child| child.kind.tag() == name);
            if is_foreign(found) && at.is_none() {
                self.foreign.push(found);
                continue;
            }
            let Some((at, child)) = at.and_then(|at| Some((at, spec.children.get(at)?))) else {
                let taken = *present
                    .get_or_insert_with(|| intended_child::present_children(kind, element))
                    | seen;
                if let Some((at, child)) = self.resolve_slip(kind, element, found, taken) {
                    seen |= 1 << at;
                    take(
                        self,
                        KnownChild {
                            kind: child.kind,
                            element: found,
                            child,
                        },
                    );
                }
                continue;
            };
            if !child.is_repeatable
                && seen & (1 << at) != 0
                && !(kind == ElementKind::Task && child.kind == ElementKind::Task)
            {
                self.report_repeated(child.kind, element, found);
                continue;
            }
            seen |= 1 << at;
            take(
                self,
                KnownChild {
                    kind: child.kind,
                    element: found,
                    child,
                },
            );
        }
    }

    /// Reports an unknown element and returns the child that it stands for. It is read as that
    /// child, so that its content is checked and no missing child is reported. `taken` are the
    /// children that are present, as bits by their index in the table.
    fn resolve_slip(
        &mut self,
        parent: ElementKind,
        within: Element<'a>,
        found: Element<'a>,
        taken: u64,
    ) -> Option<(usize, &'static ChildSpec)> {
        let setting = parent.is_body() && SettingName::parse(found.name()).is_some();
        let known = self
            .last_slip
            .filter(|(kind, name, of, _)| (*kind, *name, *of) == (parent, found.name(), taken));
        let meant = match known {
            _ if parent.is_text() || setting => None,
            Some((.., meant)) if found.elements().next().is_none() => meant,
            Some(_) | None => intended_child::find_intended_child(parent, within, found, taken),
        };
        if found.elements().next().is_none() {
            self.last_slip = Some((parent, found.name(), taken, meant));
        }
        let Some((_, child)) = meant else {
            self.report_unknown(parent, within, found);
            return None;
        };
        let kind = TemplateFaultKind::UnknownElement {
            parent,
            known_elsewhere: false,
            meant: Some(child.kind),
        };
        self.report_tag_fault(found, found.name_span(), kind);
        meant
    }

    pub(super) fn report_unknown(
        &mut self,
        parent: ElementKind,
        within: Element<'a>,
        found: Element<'a>,
    ) {
        let known_elsewhere = ElementKind::parents_of_tag(found.name()).next().is_some();
        // An element that was moved here by the damage of its parent is no fault of its own, unless
        // its name is unknown everywhere.
        if within.is_damaged() && known_elsewhere {
            return;
        }
        if parent.is_body() && self.report_misplaced_setting(within, found).is_some() {
            return;
        }
        self.report_tag_fault(
            found,
            found.name_span(),
            TemplateFaultKind::UnknownElement {
                parent,
                known_elsewhere,
                meant: None,
            },
        );
    }

    pub(super) fn report_repeated(
        &mut self,
        kind: ElementKind,
        within: Element<'a>,
        found: Element<'a>,
    ) {
        let first = within
            .elements()
            .take(MAX_SIBLINGS)
            .find(|other| other.name() == found.name())
            .map_or(found.name_span(), Element::name_span);
        self.report_fault(
            found,
            found.name_span(),
            TemplateFaultKind::Repeated { kind, first },
        );
    }
}

/// True if an element is of a foreign namespace, or would be if its prefix were declared; the
/// undeclared prefix has been reported.
pub(super) fn is_foreign(element: Element<'_>) -> bool {
    element.namespace().is_some() || element.name().contains(':')
}

/// True if an element contains only white space, comments and processing instructions.
pub(super) fn is_blank(element: Element<'_>) -> bool {
    element.children().all(|node| match node.kind() {
        Node::Text => node.is_blank() || node.text().trim_matches(is_unseen).is_empty(),
        Node::Cdata => node.inner().is_empty(),
        Node::Comment | Node::Instruction => true,
        Node::Element => false,
    })
}

/// True for white space and characters without width: a text of only these is empty to an agent.
pub fn is_unseen(one: char) -> bool {
    one.is_whitespace()
        || matches!(
            one,
            '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}' | '\u{00AD}'
        )
}
