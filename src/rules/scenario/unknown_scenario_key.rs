//! CTX602: an unknown key.

use super::scenario_prelude::*;
use crate::base::quoted::name_list;

/// A misspelt expectation checks nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        602,
        "unknown-scenario-key",
        "a key that scenarios do not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::UnknownKey {
        table,
        key,
        near,
        valid,
        elsewhere,
    } = &fault.kind
    else {
        return None;
    };
    let finding = cx.finding(&RULE.meta, fault, format!("{table} has no key `{key}`"));
    let are = if valid.len() == 1 {
        "its only key is"
    } else {
        "the keys are"
    };
    let finding = finding.note(format!(
        "nothing reads it, so it tests nothing; {are} {}",
        name_list(valid)
    ));
    if let Some(place) = elsewhere {
        return Some(finding.help(format!("`{key}` goes under `{place}`")));
    }
    Some(cx.suggest_name(finding, fault, *near))
}
