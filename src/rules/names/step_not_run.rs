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

/// Distinguishes a result used in its own step or input.
#[derive(Clone, Copy)]
enum SelfReference {
    Yes,
    No,
}

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
        if step.is_some_and(|step| step.name() == "input") {
            let own = if is_own {
                SelfReference::Yes
            } else {
                SelfReference::No
            };
            out.push(input_finding(cx, (fault, *result), &named, own));
            continue;
        }
        let (message, help) = if is_own {
            (
                format!(
                    "`{named}` is the result of this very step, which has not run where it is used"
                ),
                "use a value that exists before the step runs, or give the result another name",
            )
        } else {
            (
                format!("`{named}` is the result of a step that has not run where it is used"),
                "only later steps see its result: move this after that step, or use a value that exists before it",
            )
        };
        out.push(
            fault_finding(&RULE.meta, cx, fault, message)
                .label(*result, "the step names its result here")
                .help(help),
        );
    }
}

/// Reports an input of a task or call that is used too early.
fn input_finding(
    cx: &FileCx<'_>,
    (fault, name): (&ScopeFault<'_>, Span),
    named: &str,
    reference: SelfReference,
) -> Diagnostic {
    let (message, help) = match reference {
        SelfReference::Yes => (
            format!("`{named}` is the input being made here, and has no value yet"),
            "use a value that exists before it, or give the input another name",
        ),
        SelfReference::No => (
            format!("`{named}` is an input that is made later, and has no value yet"),
            "inputs are made in order: move this one after it, or use a value that exists before",
        ),
    };
    fault_finding(&RULE.meta, cx, fault, message)
        .label(name, "the input has its name here")
        .help(help)
}
