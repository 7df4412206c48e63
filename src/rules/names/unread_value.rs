//! CTX328: a value of a round, or the answer of a step, that no request contains.

use super::prelude::*;
use crate::syntax::write::insert_child;
use crate::template::scope::Unread;

/// The call that made it is wasted, and rounds that should differ are equal. Not an error: a role
/// may work through its tools alone.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        328,
        "unread-value",
        "what a round or a step hands on reaches no request"
    )
    .fixed(Fixable::Suggested),
    Check::File(check),
);

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::Unread(what) = fault.kind else {
            continue;
        };
        let (message, help) = words(what);
        let found = finding(&RULE.meta, cx, fault.span, message).help(help);
        let part = cx.document.element_at(fault.span.start);
        out.push(
            match name(what)
                .zip(part)
                .and_then(|(name, part)| read(part, name))
            {
                Some(fix) => found.fix(fix),
                None => found,
            },
        );
    }
}

const fn words(what: Unread) -> (&'static str, &'static str) {
    const ALLOW: &str =
        "where that is meant, say so inside the task: <?ctxc allow unread-value reason=\"…\"?>";
    match what {
        Unread::CurrentInput => (
            "no part of this `reduce` reads `current_input`: the requests of each round are the same, whatever its input is",
            ALLOW,
        ),
        Unread::CurrentResult => (
            "`current_result` is never read: what `inner_task` answers reaches no request",
            ALLOW,
        ),
        Unread::Accumulator => (
            "`accumulator` is never read: each round drops what the rounds before it merged",
            "give the `reduce` an `initial_value` and read `accumulator` in `reduction_task`",
        ),
        Unread::Reduce => (
            "nothing in this `reduce` reads `current_input`, `current_result` or `accumulator`: each round sends the same requests, and all answers but the last are lost",
            "read `current_input` in `inner_task`, and `current_result` and `accumulator` in `reduction_task`",
        ),
        Unread::DirectorResult => (
            "the evaluator is not shown `director_result`: it judges what it does not see",
            ALLOW,
        ),
        Unread::EvaluationFeedback => (
            "`evaluation_feedback` is never read: each round begins as the first did, whatever the evaluator found",
            ALLOW,
        ),
        Unread::Loop => (
            "nothing in this loop reads `director_result` or `evaluation_feedback`: no round makes use of what another part answered",
            "read `evaluation_feedback` in `director`, and `director_result` in `evaluator`",
        ),
        Unread::Step => (
            "no later step reads or is shown what this step answers",
            "name its result with `as` and read it in a later step, set `accumulate_data` to true, or remove the step; if it works by its tools alone: <?ctxc allow unread-value reason=\"…\"?>",
        ),
    }
}

/// The name of an input that makes an agent read the value; `None` if more than that is missing.
const fn name(what: Unread) -> Option<&'static str> {
    match what {
        Unread::CurrentInput => Some("current_input"),
        Unread::CurrentResult => Some("current_result"),
        Unread::DirectorResult => Some("director_result"),
        Unread::EvaluationFeedback => Some("evaluation_feedback"),
        Unread::Accumulator | Unread::Reduce | Unread::Loop | Unread::Step => None,
    }
}

/// Returns the fix that adds a value as an input of an agent; `None` for a part composed of others.
fn read(part: Element<'_>, name: &str) -> Option<Fix> {
    const COMPOSITE: [Kind; 4] = [Kind::Steps, Kind::InnerTask, Kind::Command, Kind::Director];
    if part
        .elements()
        .any(|child| COMPOSITE.iter().any(|kind| kind.tag() == child.name()))
    {
        return None;
    }
    let input = format!("<input name=\"{name}\" from=\"{name}\"/>");
    let edit = match part
        .elements()
        .find(|child| child.name() == Kind::Inputs.tag())
    {
        Some(inputs) => insert_child(inputs, &input),
        None => insert_child(part, &format!("<inputs>\n  {input}\n</inputs>")),
    };
    Some(Fix::suggested(
        format!("read `{name}` as an input"),
        vec![edit],
    ))
}
