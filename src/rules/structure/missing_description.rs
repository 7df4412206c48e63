//! CTX110: a task without a description.

use super::family::{finding, has_slip_of, words};
use crate::rules::prelude::*;
use crate::template::elements::Kind;
use crate::template::model::Slot;

/// Context is looked up by the description; without one there is nothing to look up by.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(110, "missing-description", "a task has no description", PAGE).examples(BAD, FINE),
    check: Check::Node(check),
};

const PAGE: &str = "\
`<description>` says what a task is for. It is the first thing that the agent reads, what context is looked up by, and what a person
sees in every list: the one element that a task must have. Steps and the parts of a reduce or a loop are tasks of their own and need
one each; a `ref` brings the description of the task that it names.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <instructions>answer with one word</instructions>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description>  </description>\n</task>\n"),
];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let task = cx.task;
    if let Some(text) = &task.description {
        if text.src.is_none()
            && text.element.elements().next().is_none()
            && words(text.element).next().is_none()
            && !text.element.is_damaged()
        {
            let found = finding(&RULE.meta, cx.cx, text.element.span(), "the description is empty");
            out.push(found.help("say in a sentence what the task is for"));
        }
        return;
    }
    let brings_its_own = task.reference.is_some() || task.slot == Slot::ScriptExecution;
    // Words outside of any element, or a slip of the element's name, are reported: the description is in there.
    let elsewhere = has_slip_of(task.element, Kind::Task, Kind::Description) || words(task.element).next().is_some();
    if brings_its_own || elsewhere || task.element.is_damaged() {
        return;
    }
    let what = match &task.name {
        Some(name) => format!("the task `{}`", super::family::shown(&name.value)),
        None if task.element.name() == Kind::Task.tag() => "this task".to_owned(),
        None => format!("`<{}>`", task.element.name()),
    };
    let found = finding(&RULE.meta, cx.cx, task.head(), format!("{what} has no description"));
    out.push(found.help("add a <description> that says in a sentence what the task is for"));
}
