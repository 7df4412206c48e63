//! CTX108: an element without an attribute that it needs.

use super::family::finding;
use super::unknown_attribute::known;
use crate::rules::prelude::*;
use crate::template::fault::{Fault, FaultKind};

/// An input without a name can be spoken of by nobody.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(108, "missing-attribute", "an element lacks an attribute that it needs", PAGE).examples(BAD, FINE),
    check: Check::Template(word),
};

const PAGE: &str = "\
Some elements are nothing without an attribute: inputs, parameters, templates and fragments need a `name`, a `<call>` says which
`template`, a `<case>` its `test`. Add it.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <inputs>\n    <input>friendly</input>\n  </inputs>\n</task>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::MissingAttribute { kind, name } = fault.kind else { return None };
    let slips = fault.element.attributes().filter(|attribute| attribute.namespace().is_none());
    if slips
        .into_iter()
        .any(|attribute| kind.attribute(attribute.name()).is_none() && nearest(attribute.name(), known(kind)) == Some(name))
    {
        // The misspelt one is reported, and that is where the fault is.
        return None;
    }
    let found = finding(&RULE.meta, cx, fault.span, format!("`<{}>` has no `{name}`", kind.tag()));
    Some(match kind.attribute(name) {
        Some(attribute) => found.help(format!("add {name}=\"…\": {}", attribute.doc)),
        None => found,
    })
}
