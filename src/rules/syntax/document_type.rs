//! CTX007: a document type declaration.

use super::family::{FINE, finding, meta, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// Entities make a small file a huge one, and a template depend on files that no hash sees.
pub(crate) static RULE: Rule = Rule {
    meta: meta(7, "document-type", "a document type declaration is refused", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
`<!DOCTYPE …>` can declare entities: names that stand for text, for other entities, or for files and addresses elsewhere. A few lines of
them expand to gigabytes, and what they fetch is seen by no hash. ctxc knows the five entities of XML and character references, and
nothing else.

Remove the declaration. Text that is used in several places belongs into a `<fragment>` of a `<library>`. Until it is removed, nothing
else is said about the syntax of the file, because the declaration may be what makes it valid.";

const BAD: &[Example] = &[
    template(
        "<!DOCTYPE task [ <!ENTITY team \"platform\"> ]>\n<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template("<!DOCTYPE task>\n<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::Doctype {
        return None;
    }
    let declares = fault.span.slice(cx.document.text).contains("<!ENTITY");
    let finding = finding(&RULE.meta, cx, fault.span, "a document type declaration is refused")
        .note("entities can make a small file a huge one and pull in files that no hash sees")
        .help("remove it; shared text belongs into a `<fragment>` of a `<library>`");
    let edit = vec![Edit::delete(fault.span)];
    Some(finding.fix(if declares { Fix::suggested("remove it", edit) } else { Fix::safe("remove it", edit) }))
}
