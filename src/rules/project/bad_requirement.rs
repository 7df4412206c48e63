//! CTX512: a requirement that cannot be read.

use super::project_prelude::*;

/// A policy without a condition is always met.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        512,
        "bad-requirement",
        "a `[[require]]` without a valid condition"
    ),
    Check::Config(report),
);

fn report(cx: &ConfigCx<'_>, fault: &ProjectFault) -> Option<Diagnostic> {
    let found = |message: String| cx.finding(&RULE, fault, message);
    if let ProjectFaultKind::BadCondition {
        found: condition,
        reason,
        near,
    } = &fault.kind
    {
        let finding = found(format!(
            "the condition `{condition}` cannot be read: {reason}"
        ));
        return Some(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help("conditions look like `has owner`, `manifest_tokens <= 4000`, `model in [\"a\", \"b\"]`"),
        });
    }
    let empty = fault.kind == ProjectFaultKind::EmptyRequirement;
    empty.then(|| {
        let finding = found("requires nothing: `must` is missing".to_owned());
        finding.help("add `must = \"has description\"`, or another condition, or a list of them")
    })
}
