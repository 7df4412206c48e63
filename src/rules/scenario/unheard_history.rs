//! CTX625: a conversation that no agent of the task receives.

use super::cx::{AgentResults, CaseCx};
use crate::rules::prelude::*;

/// Data that reaches no prompt tests nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        625,
        "unheard-history",
        "a conversation that no agent of the task is shown"
    ),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(history) = cx
        .case
        .situation
        .history
        .as_ref()
        .filter(|history| !history.value.is_empty())
    else {
        return;
    };
    let Some((task, signature)) = cx.receiver() else {
        return;
    };
    let has_history = |results: &AgentResults| {
        results.agent.is_some() && !results.receives_history && !cx.case.is_run
    };
    let without_history = cx
        .available_results()
        .map(|(_, results)| results)
        .filter(|results| signature.receives_history && has_history(results));
    if signature.receives_history && without_history.is_none() {
        return;
    }
    let span = cx.key_span("history", history.span);
    let span = span.first_line(cx.file.text);
    if let Some(agent) = without_history.and_then(|results| results.agent) {
        let finding = cx.finding(
            &RULE.meta,
            span,
            format!("the agent `{agent}` of `{task}` is not shown the conversation"),
        );
        let finding = finding
            .note("neither it nor what it inherits from has `<history>`")
            .severity(Severity::Warning);
        return out.push(finding);
    }
    let finding = cx.finding(
        &RULE.meta,
        span,
        format!("no agent of `{task}` is shown the conversation"),
    );
    out.push(
        finding
            .note("neither the task nor what it refers to has `<history>`")
            .help("add `<history/>` to the task, or leave `history` out"),
    );
}
