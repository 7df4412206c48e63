//! The state of the traversal of one document.

use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::cursor::Cursor;
use crate::template::elements::{ChildSpec, ElementKind};
use crate::template::fault::{TemplateFault, TemplateFaultKind};
use crate::template::keywords::Trust;
use crate::template::model::MAX_FAULTS;
use crate::template::parts::Str;

/// An unknown element: its parent, its name, the children that are taken, and the child that it was
/// read as.
type ResolvedSlip<'a> = (
    ElementKind,
    &'a str,
    u64,
    Option<(usize, &'static ChildSpec)>,
);

/// The state of one traversal.
#[derive(Default)]
pub(super) struct Lower<'a> {
    pub(super) faults: Vec<TemplateFault<'a>>,
    /// The greatest trust that a text of the document has.
    pub(super) trust: Trust,
    /// The numbers of recorded faults: faults that lose content, other errors, and accepted older
    /// forms.
    counts: [u32; 3],
    /// The number of bodies so far.
    pub(super) bodies: u32,
    /// The resolution of the last unknown element without child elements: such elements come in
    /// groups.
    pub(super) last_slip: Option<ResolvedSlip<'a>>,
    /// Foreign elements of the current body.
    pub(super) foreign: Vec<Element<'a>>,
}

impl<'a> Lower<'a> {
    /// Reports a fault of an element's content, unless a structural error in or around it has been
    /// reported.
    pub(super) fn report_fault(
        &mut self,
        element: Element<'a>,
        span: Span,
        kind: TemplateFaultKind<'a>,
    ) {
        if !element.is_damaged() {
            self.record_fault(element, span, kind);
        }
    }

    /// Reports a fault of a start tag, unless a structural error of the tag has been reported:
    /// damage elsewhere does not affect its attributes.
    pub(super) fn report_tag_fault(
        &mut self,
        element: Element<'a>,
        span: Span,
        kind: TemplateFaultKind<'a>,
    ) {
        if !element.has_damaged_tag() {
            self.record_fault(element, span, kind);
        }
    }

    /// Reports a text that is not an allowed one.
    pub(super) fn report_unfit(
        &mut self,
        element: Element<'a>,
        name: &'static str,
        word: &Str<'a>,
        expected: &'static str,
    ) {
        let found = word.value.to_string();
        self.report_tag_fault(
            element,
            word.span,
            TemplateFaultKind::BadText {
                name,
                found,
                expected,
            },
        );
    }

    /// Reports a name that no expression can refer to, of a value that is rendered all the same.
    pub(super) fn check_reachable_name(
        &mut self,
        element: Element<'a>,
        name: &'static str,
        word: &Str<'a>,
    ) {
        if !is_name(&word.value) {
            let found = word.value.to_string();
            self.report_tag_fault(
                element,
                word.span,
                TemplateFaultKind::UnreachableName { name, found },
            );
        }
    }

    /// Reports attributes of a result that no following step can use.
    pub(super) fn report_unused_result(&mut self, element: Element<'a>) {
        let around = element.parent().map(Element::name);
        if matches!(
            around,
            None | Some("library" | "template" | "case" | "input" | "arg")
        ) {
            self.report_idle(
                element,
                "as",
                "only a step leaves its result to others under a name",
            );
        }
        // A case passes on the answer of its task.
        if matches!(
            around,
            None | Some("library" | "template" | "input" | "arg")
        ) {
            self.report_idle(element, "trust", "only a step hands its result on");
        }
    }

    /// Reports an attribute without effect, if it is present.
    pub(super) fn report_idle(&mut self, element: Element<'a>, name: &str, why: &'static str) {
        if let Some(attribute) = element.attribute(name) {
            self.report_tag_fault(
                element,
                attribute.span(),
                TemplateFaultKind::AttributeWithoutEffect { attribute, why },
            );
        }
    }

    fn record_fault(&mut self, element: Element<'a>, span: Span, kind: TemplateFaultKind<'a>) {
        let loses_something = kind.loses_something(element);
        let [losing, errors, accepted] = &mut self.counts;
        let count = if loses_something {
            losing
        } else if kind.is_accepted() {
            accepted
        } else {
            errors
        };
        *count += 1;
        if *count <= MAX_FAULTS {
            self.faults.push(TemplateFault {
                kind,
                span,
                element,
                loses_something,
            });
        }
    }

    /// The number of faults that were counted but not stored.
    pub(super) fn omitted_count(&self) -> u32 {
        self.counts
            .iter()
            .map(|count| count.saturating_sub(MAX_FAULTS))
            .sum()
    }
}

/// True if an expression can refer to a name.
pub(super) fn is_name(name: &str) -> bool {
    let mut cursor = Cursor::new(name, 0);
    cursor.eat_name();
    cursor.remaining_text().is_empty()
}
