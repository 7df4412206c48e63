//! CTX009: `<` as a sign, in text or in a value.

use super::family::{FINE, finding, meta, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// `<` begins a tag wherever it stands.
pub(crate) static RULE: Rule = Rule {
    meta: meta(9, "bare-less-than", "`<` begins a tag and must be written `&lt;`", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
In XML, `<` begins a tag, in attribute values too. A `<` that means itself is written `&lt;`; the agent sees `<`. In conditions there is a
word for it: `count lt 3`. Text with many of them, such as code, can stand in `<![CDATA[ … ]]>` as it is, or in a file of its own (`src`).";

const BAD: &[Example] =
    &[template("<task type=\"atomic\" name=\"triage\">\n  <description>sort tickets of size < 3</description>\n</task>\n")];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let place = match fault.kind {
        FaultKind::LessInText => "in text",
        FaultKind::LessInValue => "in an attribute value",
        _ => return None,
    };
    let written = fault.span.slice(cx.document.text);
    let insert = written.replace('<', "&lt;");
    Some(
        finding(&RULE.meta, cx, fault.span, format!("`{written}` {place} begins no tag"))
            .here(format!("expected `{insert}`"))
            .fix(Fix::safe(format!("write `{insert}`"), vec![Edit::replace(fault.span, insert)])),
    )
}
