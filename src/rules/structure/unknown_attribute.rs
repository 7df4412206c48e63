//! CTX107: an attribute that its element does not have.

use super::family::{either, finding, shown};
use crate::rules::prelude::*;
use crate::syntax::write::remove_attribute;
use crate::template::elements::Kind;
use crate::template::fault::{Fault, FaultKind};

/// An attribute that nobody reads says nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(107, "unknown-attribute", "an attribute that its element does not have", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Template(word),
};

const PAGE: &str = "\
What an unknown attribute says is read by nobody: a misspelt `form=\"…\"` on an input leaves the input without its value. The finding
names the attribute that was probably meant. Attributes of your own are welcome in a namespace of their own.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\" verson=\"2\">\n  <description>sort the ticket</description>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description lang=\"en\">sort the ticket</description>\n</task>\n"),
];

/// The attributes of an element of a kind.
pub(super) fn known(kind: Kind) -> impl Iterator<Item = &'static str> {
    kind.attributes().map(|attribute| attribute.name)
}

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::UnknownAttribute { kind, attribute } = fault.kind else { return None };
    let (tag, name) = (kind.tag(), attribute.name());
    let found = finding(&RULE.meta, cx, fault.span, format!("`<{tag}>` has no attribute `{}`", shown(name)));
    let free = known(kind).filter(|known| fault.element.attribute(known).is_none());
    if let Some(meant) = nearest(name, free) {
        let fix = Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(attribute.name_span(), meant)]);
        return Some(found.help(format!("did you mean `{meant}`?")).fix(fix));
    }
    let has: Vec<&str> = known(kind).collect();
    let found = if has.is_empty() {
        found.help(format!("`<{tag}>` has no attributes"))
    } else {
        found.help(format!("it can have {}", either(has)))
    };
    Some(match remove_attribute(fault.element, name) {
        Some(edit) => found.fix(Fix::suggested(format!("remove `{}`", shown(name)), vec![edit])),
        None => found,
    })
}
