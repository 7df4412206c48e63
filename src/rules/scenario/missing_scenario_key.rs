//! CTX604: a scenario without a required key.

use super::scenario_prelude::*;
use crate::base::quoted::name_list;
use crate::scenario::keys;

/// A case without expectations always passes.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        604,
        "missing-scenario-key",
        "a scenario without a required key"
    ),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    let ScenarioFaultKind::Missing { table, keys } = &fault.kind else {
        return None;
    };
    let message = match keys {
        [key] => format!("{table} needs `{key}`"),
        [one, other] => format!("{table} needs `{one}` or `{other}`"),
        [one, other, last] => format!("{table} needs `{one}`, `{other}` or `{last}`"),
        _ => format!("{table} is incomplete: it needs at least one of its keys"),
    };
    let finding = cx.finding(&RULE.meta, fault, message);
    let finding = match keys.first() {
        Some(&"context") => finding
            .help("write `context: {objective: \"sort this ticket\", inputs: {NAME: VALUE}}`"),
        Some(&"objective") => {
            finding.help("write `objective: \"sort this ticket\"` into it: what the agent is asked")
        }
        _ => finding,
    };
    Some(match keys {
        [key] | [key, ..] if keys.len() < 3 => match key_description(table, key) {
            Some(about) => finding.note(format!("`{key}`: {about}")),
            None => finding,
        },
        _ => finding.note(format!("the keys are {}", name_list(*keys))),
    })
}

/// The description of a key of a mapping, or else of a case.
fn key_description(place: &str, key: &str) -> Option<&'static str> {
    let tables = [
        &keys::SCENARIO_TABLE,
        &keys::CASE_TABLE,
        &keys::CONTEXT_TABLE,
        &keys::THRESHOLDS_TABLE,
    ];
    let own = tables.into_iter().filter(|table| table.what == place);
    own.chain(tables)
        .find_map(|table| table.key(key))
        .map(|key| key.about)
}
