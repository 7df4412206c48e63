//! CTX607: a path into an answer that is not a valid `JSONPath`.

use super::scenario_prelude::*;

/// An invalid path selects nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        607,
        "bad-json-path",
        "a path into an answer that is not a valid JSONPath"
    ),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::BadPath { at } = &fault.kind else {
        return None;
    };
    let finding = cx.finding(
        &RULE.meta,
        fault,
        format!("this is not a valid JSONPath: the fault is at character {at}"),
    );
    Some(finding.help("a path begins with `$`: `$.risk_level`, `$.steps[0].name`"))
}
