//! CTX606: a pattern that is not a valid regular expression.

use super::scenario_prelude::*;

/// An invalid pattern matches nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        606,
        "bad-pattern",
        "a pattern that is not a valid regular expression"
    ),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::BadPattern { reason, at, part } = &fault.kind else {
        return None;
    };
    let part = if part.is_empty() || part.len() > 40 {
        String::new()
    } else {
        format!(", `{part}`")
    };
    let finding = cx.finding(
        &RULE.meta,
        fault,
        format!("the pattern is not a valid regular expression: {reason}"),
    );
    let finding = finding.note(format!("at character {at} of the pattern{part}"));
    Some(finding.help("escape a character that is meant literally with a backslash: `\\(`"))
}
