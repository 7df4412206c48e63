//! CTX324: an optional parameter without a default.

use super::names_prelude::*;
use std::collections::BTreeSet;

/// A run that omits the parameter would fail.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        324,
        "optional-without-default",
        "an optional parameter without a default"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_unused = |fault: &&crate::template::scope::ScopeFault<'_>| {
        matches!(fault.kind, ScopeFaultKind::Unused { .. })
    };
    // An unused parameter is reported as unused.
    let unused: BTreeSet<Span> = cx
        .scopes
        .faults
        .iter()
        .filter(is_unused)
        .map(|fault| fault.span)
        .collect();
    for fault in cx
        .scopes
        .faults
        .iter()
        .filter(|fault| !unused.contains(&fault.span))
    {
        let ScopeFaultKind::NoDefault { name } = &fault.kind else {
            continue;
        };
        let message = format!(
            "`{}` may be left out, but has no default: a run without it has no value to show",
            short_excerpt(name)
        );
        let found = file_finding(&RULE.meta, cx, fault.span, message)
            .help("add a default, or require a value");
        let parameter = cx.document.element_at(fault.span.start);
        out.push(
            match parameter.filter(|element| element.name() == "parameter") {
                Some(element) => {
                    let edits = vec![set_attribute(element, "required", "true")];
                    found.fix(Fix::suggested("write required=\"true\"", edits))
                }
                None => found,
            },
        );
    }
}
