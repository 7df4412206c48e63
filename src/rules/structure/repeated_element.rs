//! CTX106: a second element where one may stand.

use super::family::{FEW, finding};
use crate::rules::prelude::*;
use crate::syntax::write::remove_element;
use crate::template::fault::{Fault, FaultKind};

/// Of two, one would be lost, and it is not said which.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(106, "repeated-element", "an element twice where it may stand once", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Template(word),
};

const PAGE: &str = "\
A task has one description, one block of settings, each setting once. Of two the second would be left out without a word, so it is an
error: join them, or remove the one that is not meant.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <description>sort the tickets</description>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <context_management>\n    <inherit_context>none</inherit_context>\n    <inherit_context>none</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::Repeated { kind, first } = fault.kind else { return None };
    let tag = kind.tag();
    let parent = fault.element.parent()?;
    let message = format!("a second `<{tag}>` in `<{}>`, which has one", parent.name());
    let found = finding(&RULE.meta, cx, fault.span, message).label(first, "the first one");
    let text = cx.document.text;
    let same = parent.elements().take(FEW).find(|other| other.name_span() == first).is_some_and(|other| {
        other.span().slice(text).split_ascii_whitespace().eq(fault.element.span().slice(text).split_ascii_whitespace())
    });
    let edits = vec![remove_element(fault.element)];
    Some(if same {
        found.fix(Fix::safe("remove the second, which says the same", edits))
    } else {
        found.help("keep what is meant of both in one").fix(Fix::suggested("remove the second", edits))
    })
}
