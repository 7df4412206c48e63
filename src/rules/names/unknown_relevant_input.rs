//! CTX317: `context_relevance` names an input that the task does not have.

use super::names_prelude::*;

/// The input that was meant has no relevance then.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        317,
        "unknown-relevant-input",
        "`context_relevance` names an input that does not exist"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::UnknownInput { name, near } = &fault.kind else {
            continue;
        };
        let found = file_finding(
            &RULE.meta,
            cx,
            fault.span,
            format!("this task has no input `{}`", short_excerpt(name)),
        );
        out.push(match near {
            Some(meant) => found
                .help(format!("did you mean `{}`?", short_excerpt(meant)))
                .fix(Fix::suggested(
                    format!("write `{}`", short_excerpt(meant)),
                    vec![Edit::replace(fault.span, escape_name(meant))],
                )),
            None => found.help("add the input to `<inputs>`, or remove the entry"),
        });
    }
}

/// Escapes a name for an attribute.
fn escape_name(name: &str) -> String {
    crate::syntax::write::escape_attribute(name).into_owned()
}
