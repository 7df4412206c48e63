//! CTX006: `&` on its own.

use super::family::{FINE, finding, meta, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::Example;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// The commonest slip in templates that people write: shell commands and “R&D”.
pub(crate) static RULE: Rule = Rule {
    meta: meta(6, "bare-ampersand", "`&` begins a reference and must be written `&amp;`", PAGE, BAD, FINE),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
In XML, `&` begins a reference such as `&lt;`. An `&` that means itself is written `&amp;`, in text as in attribute values; the agent
sees `&`. Text with many of them, such as a shell command, can stand in `<![CDATA[ … ]]>` as it is, or in a file of its own (`src`).";

const BAD: &[Example] =
    &[template("<task type=\"atomic\" name=\"triage\">\n  <description>sort Q&A tickets</description>\n</task>\n")];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::BareAmpersand {
        return None;
    }
    let fix = Fix::safe("write `&amp;`", vec![Edit::replace(fault.span, "&amp;")]);
    Some(finding(&RULE.meta, cx, fault.span, "`&` on its own").here("expected `&amp;`").fix(fix))
}
