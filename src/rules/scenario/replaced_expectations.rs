//! CTX628: expectations of a suite's `defaults` that a case replaces.

use super::scenario_prelude::*;
use crate::base::span::Span;

/// An author who adds one expectation to a case rarely means to drop the expectations of all cases.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        hint,
        628,
        "replaced-expectations",
        "expectations of `defaults` that a case replaces with its own"
    ),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    for replaced in cx.case.replaces.iter().filter(|_| !cx.is_table_row()) {
        let count = replaced.count;
        let what = if count == 1 {
            "an expectation".to_owned()
        } else {
            format!("{count} expectations")
        };
        let message = format!("replaces {what} of `defaults`, no longer checked in this case");
        // Only the key, because its list may be long.
        let start = cx.key_span(replaced.key, replaced.span).start;
        let end = start + replaced.key.len() as u32;
        let finding = cx.finding(&RULE.meta, Span::new(start, end), message);
        out.push(finding.help(format!(
            "a case's list replaces that of `defaults`: repeat the ones that still apply under `{}`",
            replaced.key
        )));
    }
}
