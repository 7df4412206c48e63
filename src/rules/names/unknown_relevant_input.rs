//! CTX317: `context_relevance` names an input that the task does not have.

use super::prelude::*;

/// The input that was meant has no relevance then.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        317,
        "unknown-relevant-input",
        "`context_relevance` names an input that does not exist"
    )
    .fixed(Fixable::Suggested),
    Check::File(check),
);

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::UnknownInput { name, near } = &fault.kind else {
            continue;
        };
        let found = finding(
            &RULE.meta,
            cx,
            fault.span,
            format!("this task has no input `{}`", shown(name)),
        );
        out.push(match near {
            Some(meant) => {
                found
                    .help(format!("did you mean `{}`?", shown(meant)))
                    .fix(Fix::suggested(
                        format!("write `{}`", shown(meant)),
                        vec![Edit::replace(fault.span, escape(meant))],
                    ))
            }
            None => found.help("add the input to `<inputs>`, or remove the entry"),
        });
    }
}

/// Escapes a name for an attribute.
fn escape(name: &str) -> String {
    crate::syntax::write::escape_attribute(name).into_owned()
}
