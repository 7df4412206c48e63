//! CTX314: a `from` that is not a name.

use super::prelude::*;

/// Such a value has no source.
pub(crate) static RULE: Rule = Rule::new(
    meta!(promise, 314, "bad-from", "a `from` that names no variable").fixed(Fixable::Safe),
    Check::File(check),
);

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::BadFrom { meant } = &fault.kind else {
            continue;
        };
        let written = fault.span.slice(cx.document.text);
        let found = finding(
            &RULE.meta,
            cx,
            fault.span,
            format!("`{}` is not the name of a variable", shown(written)),
        );
        let is_name = |name: &&String| {
            name.chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[' | ']'))
        };
        out.push(match meant.as_ref().filter(is_name) {
            Some(name) => {
                let edits = vec![Edit::replace(fault.span, name.as_str())];
                found
                    .help("`from` takes the name without braces")
                    .fix(Fix::safe(format!("write `{}`", shown(name)), edits))
            }
            None => found.help("to give a literal text, write it between the tags of the element"),
        });
    }
}
