//! CTX118: two inputs, parameters or results with one name.

use super::structure_prelude::{MAX_SEARCHED_CHILDREN, is_equal_markup, *};
use crate::syntax::write::remove_element;

/// A name with two meanings is ambiguous.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        118,
        "duplicate-entry",
        "two inputs, parameters or results with the same name"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::RepeatedName { kind, name, first } = &fault.kind else {
        return None;
    };
    let name = short_excerpt(name);
    let is_params = *kind == ElementKind::Template;
    let is_step = *kind == ElementKind::Steps;
    let message = if is_params {
        format!("`{name}` is in `params` twice")
    } else if is_step {
        format!("a second step with the result `{name}`")
    } else {
        format!("a second {} named `{name}`", kind.tag())
    };
    let found = file_finding(&RULE.meta, cx, fault.span, message).label(*first, "the first one");
    if is_params {
        return Some(found);
    }
    if is_step {
        return Some(
            found
                .note("later steps would only see the second result")
                .help("rename one of them"),
        );
    }
    let siblings = fault
        .element
        .parent()
        .into_iter()
        .flat_map(Element::elements)
        .take(MAX_SEARCHED_CHILDREN);
    let same = siblings
        .filter(|other| other.span().encloses(*first))
        .any(|other| is_equal_markup(other, fault.element));
    Some(if same {
        found.fix(Fix::suggested(
            "remove the second, which says the same",
            vec![remove_element(fault.element)],
        ))
    } else {
        found.help("rename one of them, or remove the one that is not meant")
    })
}
