//! CTX192: an `allow` of a rule that is a promise of the language and cannot be silenced.

use crate::rules::prelude::*;

/// A guarantee that you can switch off is not a guarantee.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        192,
        "locked-allow",
        "an `allow` instruction names a rule that cannot be silenced"
    ),
    Check::Edge,
);

pub(in crate::rules) fn report(cx: &FileCx<'_>, name: Spanned<&str>) -> Diagnostic {
    Diagnostic::new(&RULE.meta, cx.path, name.span, format!("`{}` cannot be silenced", name.value))
        .note("the registry promises that no resolved setting contradicts another and that every reference leads somewhere")
        .help("remove the instruction and mend what the finding says")
}
