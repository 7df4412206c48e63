//! CTX193: an unknown `<?ctxc …?>` instruction.

use crate::rules::prelude::*;

/// Verbs of instructions. `fmt` is an instruction to the formatter.
pub(in crate::rules) const VERBS: &[&str] = &["allow", "fmt"];

/// An instruction with a misspelt verb does nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        193,
        "unknown-instruction",
        "a `<?ctxc …?>` instruction without effect"
    )
    .with_fix(Fixable::Suggested),
    Check::Edge,
);

pub(in crate::rules) fn report(cx: &FileCx<'_>, verb: Spanned<&str>) -> Diagnostic {
    if verb.value == "allow" {
        return Diagnostic::new(&RULE.meta, cx.path, verb.span, "`allow` names no rule").help(
            "write the name of the finding to silence: <?ctxc allow no-context reason=\"…\"?>",
        );
    }
    let message = format!(
        "ctxc knows no instruction `{}`; it knows `allow` and `fmt`",
        verb.value
    );
    let finding = Diagnostic::new(&RULE.meta, cx.path, verb.span, message);
    match nearest_candidate(verb.value, VERBS.iter().copied()) {
        Some(meant) => finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(
                format!("write `{meant}`"),
                vec![Edit::replace(verb.span, meant)],
            )),
        None => finding,
    }
}
