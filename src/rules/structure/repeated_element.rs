//! CTX106: a second element where only one is allowed.

use super::structure_prelude::{MAX_SEARCHED_CHILDREN, is_equal_markup, *};
use crate::syntax::write::remove_element;

/// One of the two would be ignored, and the choice would be arbitrary.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        106,
        "repeated-element",
        "an element twice where only one is allowed"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::Repeated { kind, first } = fault.kind else {
        return None;
    };
    let tag = kind.tag();
    let parent = fault.element.parent()?;
    let message = format!("a second `<{tag}>` in `<{}>`, which has one", parent.name());
    let found = file_finding(&RULE.meta, cx, fault.span, message).label(first, "the first one");
    let same = parent
        .elements()
        .take(MAX_SEARCHED_CHILDREN)
        .find(|other| other.name_span() == first);
    Some(
        if same.is_some_and(|other| is_equal_markup(other, fault.element)) {
            found.fix(Fix::safe(
                "remove the second, which says the same",
                vec![remove_element(fault.element)],
            ))
        } else {
            found.help("keep what is meant of both in one")
        },
    )
}
