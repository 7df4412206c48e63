//! CTX122: a subtype that the type does not have.

use super::family::{either, finding, shown};
use crate::rules::prelude::*;
use crate::settings::layers::RowFault;
use crate::syntax::write::remove_attribute;

/// A subtype brings defaults; one that nobody knows brings none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(122, "unknown-subtype", "a subtype that the type of the task does not have", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Node(check),
};

const PAGE: &str = "\
A subtype refines a type and can have defaults of its own: an atomic task of subtype `subtask` looks its context up and inherits none.
A misspelt one would fall back to the defaults of the type, and the agent would receive its parent's context instead. A project can
declare subtypes in `ctxc.toml`.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" subtype=\"subtsk\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n",
)];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(RowFault::UnknownSubtype(row)), Some(written)) = (cx.body.fault, &cx.task.subtype) else { return };
    let layers = &cx.cx.config.layers;
    let operator = layers.get(row).operator();
    let known: Vec<&str> = layers.subtypes_of(operator).collect();
    let message = format!("type {operator} has no subtype `{}`", shown(&written.value));
    let found = finding(&RULE.meta, cx.cx, written.span, message);
    if let Some(meant) = nearest(&written.value, known.iter().copied()) {
        let fix = Fix::suggested(format!("write `{meant}`"), vec![Edit::replace(written.span, meant)]);
        out.push(found.help(format!("did you mean `{meant}`?")).fix(fix));
        return;
    }
    let found = found.help(format!("known are {}; declare others in ctxc.toml", either(known)));
    out.push(match remove_attribute(cx.task.element, "subtype") {
        Some(edit) => found.fix(Fix::suggested("remove `subtype`", vec![edit])),
        None => found,
    });
}
