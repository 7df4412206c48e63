//! CTX016: `<!` that begins nothing.

use super::family::{FINE, finding, meta, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// `<!- … -->`, `<!ELEMENT …>` and the like.
pub(crate) static RULE: Rule = Rule {
    meta: meta(16, "unknown-markup", "`<!` begins neither a comment nor a CDATA section", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
Inside a template, `<!` begins a comment (`<!-- … -->`) or a CDATA section (`<![CDATA[ … ]]>`). Declarations such as `<!ELEMENT …>` belong into
a document type, which is refused. ctxc passes over the whole of it.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <!- for the night shift -->\n  <description>sort the ticket</description>\n</task>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::UnknownMarkup {
        return None;
    }
    let written = fault.span.slice(cx.document.text);
    let start = fault.span.start;
    let finding = finding(&RULE.meta, cx, fault.span, format!("`{}` is no markup of XML", shown(cx, fault.span)));
    if written.starts_with("<!-") && written.ends_with("-->") {
        return Some(
            finding.help("a comment begins with `<!--`").fix(Fix::safe("write `<!--`", vec![Edit::insert(start + 2, "-")])),
        );
    }
    let escape = Edit::replace(Span::new(start, start + 1), "&lt;");
    Some(
        finding
            .help("write a comment, `<!-- … -->`, or `&lt;!` for the text itself")
            .fix(Fix::suggested("remove it", vec![Edit::delete(fault.span)]))
            .fix(Fix::suggested("take it as text", vec![escape])),
    )
}
