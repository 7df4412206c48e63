//! CTX605: a key that occurs twice in one mapping.

use super::scenario_prelude::*;
use crate::syntax::yaml;

/// Only one of the two values would be used.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        605,
        "repeated-scenario-key",
        "a key that occurs twice in one mapping"
    ),
    Check::Scenario(report),
);

fn report(cx: &ScenarioCx<'_>, fault: &ScenarioFault) -> Option<Diagnostic> {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "every other fault is another rule's"
    )]
    let (message, first) = match &fault.kind {
        ScenarioFaultKind::Yaml(yaml::YamlFaultKind::DuplicateKey { key, first }) => (
            format!("the key `{}` is here a second time", shorten(key)),
            *first,
        ),
        ScenarioFaultKind::RepeatedKey { key, first } => (
            format!("this is another name of the key `{key}`, which is here already"),
            *first,
        ),
        _ => return None,
    };
    let finding = cx
        .finding(&RULE.meta, fault, message)
        .note("the first one with a value counts");
    Some(
        if fault.row.is_none() {
            finding.label(first, "first here")
        } else {
            finding
        }
        .help("remove one of the two"),
    )
}
