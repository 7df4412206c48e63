//! CTX310: a value from outside that reaches the system text.

use crate::base::diagnostic::Diagnostic;
use crate::base::fix::Fix;
use crate::base::rule_meta::{Example, Severity};
use crate::rules::names::placed::finding;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::structure::family::{meta, shown, template};
use crate::syntax::write::remove_attribute;
use crate::template::scope::FaultKind;

/// Whoever writes the ticket would be writing the system prompt.
pub(crate) static RULE: Rule = Rule {
    meta: meta(310, "untrusted-in-system", Severity::Error, "a value from outside reaches the system text", PAGE, (BAD, GOOD)),
    check: Check::File(check),
};

const PAGE: &str = "\
What stands in `<system>` is what the agent obeys first. An input or parameter with `trust=\"untrusted\"` comes from outside: from a
ticket, a web page, a mail. In the system text whoever wrote it would give the orders. Put it into an `<input>`, or name it in
`<instructions>`: there it is fenced by a delimiter that depends on everything the request holds.

The mark goes along: an input whose value comes `from` an untrusted one is untrusted too, and what an untrusted input comes `from` is the same text
under another name.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <system>Answer in the tone of {{mail}}</system>\n  <parameters>\n    <parameter name=\"mail\" required=\"true\" trust=\"untrusted\"/>\n  </parameters>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <system>The customer says: {{quote}}</system>\n  <parameters>\n    <parameter name=\"mail\" required=\"true\"/>\n  </parameters>\n  <inputs>\n    <input name=\"quote\" from=\"mail\" trust=\"untrusted\"/>\n  </inputs>\n</task>\n",
    ),
];

const GOOD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <system>You answer customers.</system>\n  <instructions>Answer this mail: {{mail}}</instructions>\n  <parameters>\n    <parameter name=\"mail\" required=\"true\" trust=\"untrusted\"/>\n  </parameters>\n</task>\n",
)];

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::UntrustedInSystem { name, source } = &fault.kind else { continue };
        let Some(name) = name else {
            let message = "the system text itself is marked as coming from outside";
            let found = finding(&RULE.meta, cx, fault, message).help("put what comes from outside into an <input>");
            let edit = cx.document.element_at(fault.span.start).and_then(|element| remove_attribute(element, "trust"));
            out.push(match edit {
                Some(edit) => found.fix(Fix::suggested("remove the mark: the text is the author's own", vec![edit])),
                None => found,
            });
            continue;
        };
        let message = format!("`{}` comes from outside and would be part of the system text", shown(name));
        let found = finding(&RULE.meta, cx, fault, message);
        let found = if source.is_empty() { found } else { found.label(*source, "it gets its value here") };
        out.push(found.help("name it in `<instructions>`, where it is fenced, and take it out of `<system>`"));
    }
}
