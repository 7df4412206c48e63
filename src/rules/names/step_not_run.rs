//! CTX319: a result used before its step, or the task of its input, has run.

use super::names_prelude::{fault_finding, *};

/// Steps, and the tasks that produce inputs, run in the order in which they are written.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        319,
        "step-not-run",
        "the result of a step, or of a task in an input, is used before it has run"
    ),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let ScopeFaultKind::NotYet { name, result } = &fault.kind else {
            continue;
        };
        let named = short_excerpt(name);
        let step = cx.document.element_at(result.start);
        let is_own = step.is_some_and(|step| {
            step.span().start < fault.span.start && fault.span.end <= step.span().end
        });
        let is_input = step.is_some_and(|step| step.name() == "input");
        let (message, help) = match (is_input, is_own) {
            (true, true) => (
                format!("`{named}` is the input being made here, and has no value yet"),
                "use a value that exists before it, or give the input another name",
            ),
            (true, false) => (
                format!("`{named}` is an input that is made later, and has no value yet"),
                "inputs are made in order: move this one after it, or use a value that exists before",
            ),
            (false, true) => (
                format!(
                    "`{named}` is the result of this very step, which has not run where it is used"
                ),
                "use a value that exists before the step runs, or give the result another name",
            ),
            (false, false) => (
                format!("`{named}` is the result of a step that has not run where it is used"),
                "only later steps see its result: move this after that step, or use a value that exists before it",
            ),
        };
        let label = if is_input {
            "the input has its name here"
        } else {
            "the step names its result here"
        };
        out.push(
            fault_finding(&RULE.meta, cx, fault, message)
                .label(*result, label)
                .help(help),
        );
    }
}
