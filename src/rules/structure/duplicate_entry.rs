//! CTX118: two inputs, parameters or results with one name.

use super::family::{FEW, says_the_same};
use super::prelude::*;
use crate::syntax::write::remove_element;

/// A name with two meanings is ambiguous.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        118,
        "duplicate-entry",
        "two inputs, parameters or results with the same name"
    )
    .fixed(Fixable::Suggested),
    Check::Template(word),
);

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::RepeatedName { kind, name, first } = &fault.kind else {
        return None;
    };
    let name = shown(name);
    let is_params = *kind == Kind::Template;
    let is_step = *kind == Kind::Steps;
    let message = if is_params {
        format!("`{name}` is in `params` twice")
    } else if is_step {
        format!("a second step with the result `{name}`")
    } else {
        format!("a second {} named `{name}`", kind.tag())
    };
    let found = finding(&RULE.meta, cx, fault.span, message).label(*first, "the first one");
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
        .take(FEW);
    let same = siblings
        .filter(|other| other.span().encloses(*first))
        .any(|other| says_the_same(other, fault.element));
    Some(if same {
        found.fix(Fix::suggested(
            "remove the second, which says the same",
            vec![remove_element(fault.element)],
        ))
    } else {
        found.help("rename one of them, or remove the one that is not meant")
    })
}
