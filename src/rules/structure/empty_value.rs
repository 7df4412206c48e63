//! CTX114: nothing where something must stand.

use super::family::{either, finding};
use crate::rules::prelude::*;
use crate::syntax::write::{remove_attribute, remove_element};
use crate::template::fault::{Fault, FaultKind};
use crate::template::setting::{SettingName, Word};

/// An empty name names nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(114, "empty-value", "an empty element or attribute that must say something", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Template(word),
};

const PAGE: &str = "\
An empty `<model/>` or `name=\"\"` is neither the default nor a value. Say what is meant, or remove it: what is absent takes the default,
what is empty is a slip.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"\">\n  <description>sort the ticket</description>\n</task>\n"),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <context_management>\n    <inherit_context/>\n  </context_management>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::Empty { name } = fault.kind else { return None };
    let attribute =
        fault.element.attributes().find(|attribute| attribute.name() == name && attribute.span().encloses(fault.span));
    let message = if attribute.is_some() { format!("`{name}` is empty") } else { format!("`<{name}>` is empty") };
    let mut found = finding(&RULE.meta, cx, fault.span, message);
    if let Some(setting) = SettingName::parse(name) {
        found = found.help(format!("it can be {}", either(setting.words().iter().copied())));
    }
    let edit = match attribute {
        Some(_) => remove_attribute(fault.element, name),
        None => Some(remove_element(fault.element)),
    };
    Some(match edit {
        Some(edit) => found.fix(Fix::suggested("remove it", vec![edit])),
        None => found,
    })
}
