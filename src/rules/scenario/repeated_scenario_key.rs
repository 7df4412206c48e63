//! CTX605: a key that occurs twice in one mapping.

use super::prelude::*;
use crate::syntax::yaml;

/// Only one of the two values would be used.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        605,
        "repeated-scenario-key",
        "a key that occurs twice in one mapping"
    ),
    Check::Scenario(word),
);

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "every other fault is another rule's"
    )]
    let (message, first) = match &fault.kind {
        FaultKind::Yaml(yaml::FaultKind::DuplicateKey { key, first }) => (
            format!("the key `{}` is here a second time", short(key)),
            *first,
        ),
        FaultKind::SameKey { key, first } => (
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
