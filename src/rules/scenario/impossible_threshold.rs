//! CTX609: a threshold above the number of trials.

use super::cx::add_file_fix;
use super::scenario_prelude::*;

/// The case could never pass.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        609,
        "impossible-threshold",
        "more trials must pass than there are"
    )
    .with_fix(Fixable::Suggested),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::PassAboveRuns { runs, pass } = fault.kind else {
        return None;
    };
    let finding = cx.finding(
        &RULE.meta,
        fault,
        format!("{pass} of {runs} trials would have to pass"),
    );
    let fix = Fix::suggested(
        format!("write {runs}"),
        vec![Edit::replace(fault.span, runs.to_string())],
    );
    let is_threshold = fault.span.slice(cx.text) == pass.to_string();
    let finding = finding.help("raise the number of runs, or lower the threshold");
    Some(if is_threshold {
        add_file_fix(finding, fault, fix)
    } else {
        finding
    })
}
