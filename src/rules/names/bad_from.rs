//! CTX314: a `from` that is not a name.

use super::names_prelude::*;

/// Such a value has no source.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        314,
        "bad-from",
        "a `from` that names no variable"
    )
    .with_fix(Fixable::Safe),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::BadFrom { meant } = &fault.kind else {
            continue;
        };
        let written = fault.span.slice(cx.document.text);
        let found = file_finding(
            &RULE.meta,
            cx,
            fault.span,
            format!("`{}` is not the name of a variable", short_excerpt(written)),
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
                    .fix(Fix::safe(format!("write `{}`", short_excerpt(name)), edits))
            }
            None => found.help("to give a literal text, write it between the tags of the element"),
        });
    }
}
