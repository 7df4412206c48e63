//! CTX123: a root task that does not say its type.

use super::family::finding;
use crate::rules::prelude::*;
use crate::syntax::write::set_attribute;
use crate::template::model::Slot;

/// Harmless, and a guess for whoever reads the template.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::hint(123, "missing-type", "a task does not say its type", PAGE).examples(BAD, FINE).fixed(Fixable::Suggested),
    check: Check::Node(check),
};

const PAGE: &str = "\
A task without `type` is atomic: one call of a model. That is what most are, so it is no fault; but the type decides the defaults of
all four settings, and a reader should not have to know that by heart. Steps and parts inside a task are not asked for it.";

const BAD: &[Example] = &[template("<task name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n")];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let task = cx.task;
    let is_root = matches!(task.slot, Slot::Root | Slot::Template);
    // Parts of another type without that type are an error of their own.
    let has_parts = task.steps_element.is_some() || task.reduce.is_some() || task.script.is_some() || task.cycle.is_some();
    let is_written = task.operator.is_some() || task.element.attribute("type").is_some();
    if !is_root || is_written || has_parts || task.reference.is_some() || task.element.is_damaged() {
        return;
    }
    let edits = vec![set_attribute(task.element, "type", "atomic")];
    out.push(
        finding(&RULE.meta, cx.cx, task.head(), "this task has no type, which makes it atomic")
            .fix(Fix::suggested("write type=\"atomic\"", edits)),
    );
}
