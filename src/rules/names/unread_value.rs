//! CTX328: a value of a round, or the answer of a step, that no request contains.

use super::names_prelude::*;
use crate::syntax::write::insert_child;
use crate::template::scope::UnreadValue;

/// The call that made it is wasted, and rounds that should differ are equal. Not an error: a role
/// may work through its tools alone.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        328,
        "unread-value",
        "what a round or a step hands on reaches no request"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::Unread(what) = fault.kind else {
            continue;
        };
        let (message, help) = message_and_help(what);
        let found = file_finding(&RULE.meta, cx, fault.span, message).help(help);
        let part = cx.document.element_at(fault.span.start);
        out.push(
            match input_name(what)
                .zip(part)
                .and_then(|(name, part)| add_input_fix(part, name))
            {
                Some(fix) => found.fix(fix),
                None => found,
            },
        );
    }
}

const fn message_and_help(what: UnreadValue) -> (&'static str, &'static str) {
    const ALLOW: &str =
        "where that is meant, say so inside the task: <?ctxc allow unread-value reason=\"…\"?>";
    match what {
        UnreadValue::CurrentInput => (
            "no part of this `reduce` reads `current_input`: the requests of each round are the same, whatever its input is",
            ALLOW,
        ),
        UnreadValue::CurrentResult => (
            "`current_result` is never read: what `inner_task` answers reaches no request",
            ALLOW,
        ),
        UnreadValue::Accumulator => (
            "`accumulator` is never read: each round drops what the rounds before it merged",
            "give the `reduce` an `initial_value` and read `accumulator` in `reduction_task`",
        ),
        UnreadValue::Reduce => (
            "nothing in this `reduce` reads `current_input`, `current_result` or `accumulator`: each round sends the same requests, and all answers but the last are lost",
            "read `current_input` in `inner_task`, and `current_result` and `accumulator` in `reduction_task`",
        ),
        UnreadValue::DirectorResult => (
            "the evaluator is not shown `director_result`: it judges what it does not see",
            ALLOW,
        ),
        UnreadValue::EvaluationFeedback => (
            "`evaluation_feedback` is never read: each round begins as the first did, whatever the evaluator found",
            ALLOW,
        ),
        UnreadValue::Loop => (
            "nothing in this loop reads `director_result` or `evaluation_feedback`: no round makes use of what another part answered",
            "read `evaluation_feedback` in `director`, and `director_result` in `evaluator`",
        ),
        UnreadValue::Step => (
            "no later step reads or is shown what this step answers",
            "name its result with `as` and read it in a later step, set `accumulate_data` to true, or remove the step; if it works by its tools alone: <?ctxc allow unread-value reason=\"…\"?>",
        ),
    }
}

/// The name of an input that makes an agent read the value; `None` if more than that is missing.
const fn input_name(what: UnreadValue) -> Option<&'static str> {
    match what {
        UnreadValue::CurrentInput => Some("current_input"),
        UnreadValue::CurrentResult => Some("current_result"),
        UnreadValue::DirectorResult => Some("director_result"),
        UnreadValue::EvaluationFeedback => Some("evaluation_feedback"),
        UnreadValue::Accumulator | UnreadValue::Reduce | UnreadValue::Loop | UnreadValue::Step => {
            None
        }
    }
}

/// Returns the fix that adds a value as an input of an agent; `None` for a part composed of others.
fn add_input_fix(part: Element<'_>, name: &str) -> Option<Fix> {
    const COMPOSITE: [ElementKind; 4] = [
        ElementKind::Steps,
        ElementKind::InnerTask,
        ElementKind::Command,
        ElementKind::Director,
    ];
    if part
        .elements()
        .any(|child| COMPOSITE.iter().any(|kind| kind.tag() == child.name()))
    {
        return None;
    }
    let input = format!("<input name=\"{name}\" from=\"{name}\"/>");
    let edit = match part
        .elements()
        .find(|child| child.name() == ElementKind::Inputs.tag())
    {
        Some(inputs) => insert_child(inputs, &input),
        None => insert_child(part, &format!("<inputs>\n  {input}\n</inputs>")),
    };
    Some(Fix::suggested(
        format!("read `{name}` as an input"),
        vec![edit],
    ))
}
