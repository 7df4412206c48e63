//! CTX608: keys that exclude each other.

use super::scenario_prelude::*;

/// One of the two would be ignored.
pub(crate) static RULE: Rule = Rule::new(
    meta!(error, 608, "excluding-keys", "mutually exclusive keys"),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::ExclusiveKeys {
        table,
        first: (first, place),
        second,
    } = &fault.kind
    else {
        return None;
    };
    let finding = cx.finding(
        &RULE.meta,
        fault,
        format!("{table} has `{second}` beside `{first}`; they exclude each other"),
    );
    let finding = if fault.row.is_none() {
        finding.label(*place, "the other one")
    } else {
        finding
    };
    Some(finding.help("remove one of the two, or make two entries of them"))
}
