//! CTX017: the markers of a merge conflict.

use crate::rules::prelude::*;
use crate::syntax::fault::FaultKind;

/// Two versions of a prompt in one file are none.
pub(super) static RULE: Rule = Rule {
    meta: RuleMeta::promise(17, "merge-conflict", "a merge conflict was left unresolved", case!("merge-conflict"))
        .fixed(Fixable::Choice),
    check: Check::Syntax(&[(FaultKind::MergeConflict, word)]),
};

fn word(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.written();
    let after = u32::from(cx.document.text.get(cx.span.end as usize..).is_some_and(|rest| rest.starts_with('\n')));
    let span = Span::new(cx.span.start, cx.span.end + after);
    if cx.fault.other.is_none() {
        return cx
            .found("a marker of a merge conflict without the others")
            .here("a version control system wrote this line")
            .help("look at what the merge left here, and remove the line")
            .fix(Fix::suggested("remove the line", vec![Edit::delete(span)]));
    }
    let middle = (cx.other().start - cx.span.start) as usize;
    let body = |start: usize, end: usize| {
        let part = written.get(start..end).unwrap_or("");
        part.split_once('\n').map_or("", |(_, body)| body).to_owned()
    };
    let last = written.rfind("\n>>>>>>>").map_or(written.len(), |last| last + 1);
    // A conflict shown with its common ancestor has a third part, which nobody wants.
    let ancestor = written.get(..middle).and_then(|ours| ours.find("\n|||||||")).map_or(middle, |at| at + 1);
    let ours = body(0, ancestor);
    let theirs = body(middle, last);
    cx.found("an unresolved merge conflict")
        .here("from this marker to the last one")
        .label(cx.other(), "the second version begins here")
        .help("keep one version, or join them, and remove the markers")
        .fix(Fix::suggested("keep the first version", vec![Edit::replace(span, ours)]))
        .fix(Fix::suggested("keep the second version", vec![Edit::replace(span, theirs)]))
}
