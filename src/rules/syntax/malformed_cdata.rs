//! CTX013: a CDATA section that does not end, or an end without a section.

use super::family::{FINE, finding, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// Inside of CDATA no tag counts, so its borders must be certain.
pub(crate) static RULE: Rule = Rule {
    meta: meta(13, "malformed-cdata", "a CDATA section lacks its mark at one end", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
`<![CDATA[ … ]]>` holds text in which neither `<` nor `&` means anything: good for code and shell commands. Its marks are written exactly
so, in capitals and without spaces. `]]>` outside of a section is forbidden; write `]]&gt;` for it.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description>a[b[0]]>1</description>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description><![CDATA[a < b]></description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::UnclosedCdata => {
            let end = other(fault);
            Some(
                finding(&RULE.meta, cx, fault.span, "a CDATA section that never ends")
                    .here("opened here")
                    .label(end, "taken to end here: `]]>` is expected")
                    .fix(Fix::safe("end it here with `]]>`", vec![Edit::replace(end, "]]>")])),
            )
        }
        FaultKind::MisspeltCdata => Some(
            finding(&RULE.meta, cx, fault.span, format!("`{}` opens nothing", shown(cx, fault.span)))
                .here("expected `<![CDATA[`")
                .fix(Fix::safe("write `<![CDATA[`", vec![Edit::replace(fault.span, "<![CDATA[")])),
        ),
        FaultKind::CdataEndInText => Some(
            finding(&RULE.meta, cx, fault.span, "`]]>` in text ends no CDATA section")
                .here("expected `]]&gt;`")
                .fix(Fix::safe("write `]]&gt;`", vec![Edit::replace(fault.span, "]]&gt;")])),
        ),
        _ => None,
    }
}
