//! CTX017: the markers of a merge conflict.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;

/// Two versions of a prompt in one file are not a valid prompt.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        17,
        "merge-conflict",
        "a merge conflict was left unresolved"
    )
    .with_fix(Fixable::Suggested),
    Check::Syntax(&[(XmlFaultKind::MergeConflict, report)]),
);

fn report(cx: &SyntaxCx<'_>) -> Diagnostic {
    if cx.fault.other.is_none() {
        let after = u32::from(
            cx.document
                .text
                .get(cx.span.end as usize..)
                .is_some_and(|rest| rest.starts_with('\n')),
        );
        let span = Span::new(cx.span.start, cx.span.end + after);
        return cx
            .finding("a marker of a merge conflict without the others")
            .here("a version control system wrote this line")
            .help("look at what the merge left here, and remove the line")
            .fix(Fix::suggested("remove the line", vec![Edit::delete(span)]));
    }
    cx.finding("an unresolved merge conflict")
        .here("from this marker to the last one")
        .label(cx.second_span(), "the second version begins here")
        .help("keep one version, or join them, and remove the markers")
}
