//! CTX609: a threshold above the number of trials.

use super::cx::mend;
use super::prelude::*;

/// The case could never pass.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        609,
        "impossible-threshold",
        "more trials must pass than there are"
    )
    .fixed(Fixable::Suggested),
    Check::Scenario(word),
);

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Threshold { runs, pass } = fault.kind else {
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
        mend(finding, fault, fix)
    } else {
        finding
    })
}
