//! CTX193: a `<?ctxc …?>` instruction that ctxc does not know.

use crate::rules::prelude::*;

/// Verbs that an instruction may start with. `fmt` speaks to the formatter.
pub(in crate::rules) const VERBS: &[&str] = &["allow", "fmt"];

/// An instruction with a misspelt verb does nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(193, "unknown-instruction", "a `<?ctxc …?>` instruction that means nothing", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Edge,
};

const PAGE: &str = "\
ctxc reads two processing instructions: `<?ctxc allow NAME reason=\"…\"?>` silences a finding for the element it stands in, and
`<?ctxc fmt off?>` … `<?ctxc fmt on?>` keeps the formatter away. Any other is passed over, which is rarely what its author meant;
so is an `allow` that names nothing.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <?ctxc alow no-context?>\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template("<task type=\"atomic\" name=\"triage\">\n  <?ctxc allow?>\n  <description>sort the ticket</description>\n</task>\n"),
];

const GOOD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <?ctxc fmt off?>\n  <description>sort the ticket</description>\n</task>\n",
)];

/// Words it.
pub(in crate::rules) fn word(cx: &FileCx<'_>, verb: Spanned<&str>) -> Diagnostic {
    if verb.value == "allow" {
        return Diagnostic::new(&RULE.meta, cx.path, verb.span, "`allow` names no rule")
            .help("write the name of the finding to silence: <?ctxc allow no-context reason=\"…\"?>");
    }
    let message = format!("ctxc knows no instruction `{}`; it knows `allow` and `fmt`", verb.value);
    let finding = Diagnostic::new(&RULE.meta, cx.path, verb.span, message);
    match nearest(verb.value, VERBS.iter().copied()) {
        Some(meant) => finding
            .help(format!("did you mean `{meant}`?"))
            .fix(Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(verb.span, meant)])),
        None => finding,
    }
}
