//! CTX014: a processing instruction without its marks or its target.

use super::family::{FINE, finding, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// An `allow` that is not read silences nothing.
pub(crate) static RULE: Rule = Rule {
    meta: meta(14, "malformed-instruction", "a processing instruction lacks its marks or its target", PAGE, BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
A processing instruction is `<?`, a name that says whom it is for, text, and `?>`: `<?ctxc allow no-context reason=\"…\"?>`. The name follows
the mark at once and has no colon. One that does not end would hide everything up to the next `?>`; ctxc ends it at the first `>` of its
line.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <?note for the night shift>\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template("<task type=\"atomic\" name=\"triage\">\n  <? note?>\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::UnclosedInstruction => Some(
            finding(&RULE.meta, cx, fault.span, format!("the instruction `{}` never ends", shown(cx, fault.span)))
                .here("opened here")
                .label(other(fault), "taken to end here: `?>` is expected")
                .fix(Fix::safe("end it here with `?>`", vec![Edit::replace(other(fault), "?>")])),
        ),
        FaultKind::BadTarget => Some(bad_target(cx, fault)),
        _ => None,
    }
}

fn bad_target(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let written = fault.span.slice(cx.document.text);
    let start = fault.span.start;
    let Some(body) = written.strip_prefix("<?") else {
        return finding(&RULE.meta, cx, fault.span, format!("`{}` lacks the `?` behind its `<`", shown(cx, fault.span)))
            .fix(Fix::safe("write `<?`", vec![Edit::insert(start + 1, "?")]));
    };
    let finding = finding(&RULE.meta, cx, fault.span, "a processing instruction without a name")
        .help("a name without a colon follows `<?` at once, and white space follows the name");
    let blank = body.len() - body.trim_ascii_start().len();
    if blank == 0 {
        return finding;
    }
    finding.fix(Fix::safe("remove the space", vec![Edit::delete(Span::new(start + 2, start + 2 + blank as u32))]))
}
