//! CTX621: a table of cases that cannot be read.

use super::scenario_prelude::*;

/// The cases of an unreadable table are not run.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        621,
        "bad-case-table",
        "a table of cases that cannot be read"
    ),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::UnreadableTable { path, reason } = &fault.kind else {
        return None;
    };
    Some(cx.finding(
        &RULE.meta,
        fault,
        format!("the cases of `{path}` cannot be read: {reason}"),
    ))
}
