//! CTX313: a Jinja text that cannot be parsed.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Example, Severity};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::structure::family::{finding, meta, shown, template};
use crate::template::jinja::{JinjaFaultKind, MAX_BLOCKS, MAX_BYTES, MAX_REPEATED};
use crate::template::scope::{FaultKind, Place};

/// A template that fails when it is rendered fails in front of a customer.
pub(crate) static RULE: Rule = Rule {
    meta: meta(313, "bad-jinja", Severity::Error, "a Jinja text that cannot be parsed", PAGE, (BAD, GOOD)),
    check: Check::File(check),
};

const PAGE: &str = "\
A text with `syntax=\"jinja\"` is parsed when the registry is built, so that it cannot fail for its syntax at run time. Conditions, loops,
filters and macros are there; `include`, `extends`, `import` and `block` are not, since a template's text comes from its own file alone:
shared text is a `<fragment>`, used without `jinja`.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <instructions syntax=\"jinja\">{% if urgent %}now</instructions>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <instructions syntax=\"jinja\">{% include 'rules.md' %}</instructions>\n</task>\n",
    ),
];

const GOOD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <parameters>\n    <parameter name=\"urgent\" type=\"boolean\" required=\"true\"/>\n  </parameters>\n  <instructions syntax=\"jinja\">{% if urgent %}now{% else %}today{% endif %}</instructions>\n</task>\n",
)];

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::Jinja { fault: why, place } = &fault.kind else { continue };
        let message = match why {
            JinjaFaultKind::TooLarge => format!("a Jinja text has at most {MAX_BYTES} bytes"),
            JinjaFaultKind::TooDeep => format!("nests too deep: at most {MAX_BLOCKS} blocks in one another"),
            JinjaFaultKind::TooMuchRepeated => format!("repeats texts to more than {MAX_REPEATED} bytes"),
            JinjaFaultKind::OtherTemplate(word) => format!("`{word}` would take text from another template"),
            JinjaFaultKind::Syntax(words) => format!("Jinja cannot read this: {}", shown(words)),
        };
        let message = if *place == Place::Source { format!("in the text of this file: {message}") } else { message };
        let found = finding(&RULE.meta, cx, fault.span, message);
        out.push(match why {
            JinjaFaultKind::OtherTemplate(_) => found.help("put shared text into a <fragment>, and use it in a text of its own"),
            JinjaFaultKind::TooLarge | JinjaFaultKind::TooDeep | JinjaFaultKind::TooMuchRepeated | JinjaFaultKind::Syntax(_) => {
                found
            }
        });
    }
}
