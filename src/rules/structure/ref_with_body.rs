//! CTX120: a task that refers to another and has a body too.

use super::family::{finding, shown};
use crate::rules::prelude::*;
use crate::syntax::write::remove_attribute;
use crate::template::fault::{Fault, FaultKind};

/// A registered task is used as it is.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(120, "ref-with-body", "a task with `ref` has a body of its own", PAGE)
        .examples(BAD, GOOD)
        .fixed(Fixable::Suggested),
    check: Check::Template(word),
};

const PAGE: &str = "\
`<task ref=\"review\"/>` uses the registered task `review` as it is: its text, its settings, its type. What stands inside would change
nothing, so it must not look as if it did. To hand something over, make the registered task a `<template>` with parameters and `<call>`
it.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[template(
    "<task type=\"sequential\" name=\"triage\">\n  <description>sort the ticket</description>\n  <steps>\n    <task ref=\"review\">\n      <description>review it with care</description>\n    </task>\n  </steps>\n</task>\n",
)];

const GOOD: &[Example] = &[template(
    "<library>\n  <task type=\"atomic\" name=\"review\">\n    <description>review it with care</description>\n  </task>\n  <task type=\"sequential\" name=\"triage\">\n    <description>sort the ticket</description>\n    <steps>\n      <task ref=\"review\"/>\n    </steps>\n  </task>\n</library>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::RefWithBody { child } = &fault.kind else { return None };
    let element = fault.element;
    let attribute = element.attribute("ref")?;
    let name = attribute.value();
    let message = format!("`<{}>` would be lost: this task is `{}` as it is registered", child.name(), shown(&name));
    let empty = Edit::replace(element.inner(), "");
    let mut found = finding(&RULE.meta, cx, fault.span, message)
        .label(attribute.span(), "the registered task is used here")
        .fix(Fix::suggested(format!("keep ref=\"{}\", remove the body", shown(&name)), vec![empty]));
    if let Some(edit) = remove_attribute(element, "ref") {
        found = found.fix(Fix::suggested("keep the body, remove `ref`", vec![edit]));
    }
    Some(found)
}
