//! CTX401: a setting with a value of an older dialect.

use crate::rules::prelude::*;
use crate::rules::structure::structure_prelude::file_finding;
use crate::template::fault::{TemplateFault, TemplateFaultKind};

/// Read with its former meaning, so that older templates build.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        401,
        "legacy-value",
        "a setting with a value of an older dialect"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::LegacyValue {
        name,
        found,
        modern,
    } = fault.kind
    else {
        return None;
    };
    let message = format!("`{found}` is an older word of `{name}`, read as `{modern}`");
    let fix = Fix::safe(
        format!("write `{modern}`"),
        vec![Edit::replace(fault.span, modern)],
    );
    Some(file_finding(&RULE.meta, cx, fault.span, message).fix(fix))
}
