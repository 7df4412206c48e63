//! CTX190: an `allow` that silences nothing.

use crate::rules::prelude::*;
use crate::rules::structure::structure_prelude::whole_line_span;

/// An `allow` without effect outlives its reason and would hide the next finding of that name.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        190,
        "unused-allow",
        "an `allow` instruction silences nothing"
    )
    .with_fix(Fixable::Safe),
    Check::Edge,
);

/// The part of an instruction that has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum UnusedExtent {
    /// The whole instruction: it names this rule alone.
    Name,
    /// One of several names; the others must stay.
    OneOfSeveral,
}

/// `only` is the part of the instruction that can be removed.
pub(in crate::rules) fn report(
    cx: &FileCx<'_>,
    instruction: Span,
    name: Spanned<&str>,
    only: UnusedExtent,
) -> Diagnostic {
    let fix = match only {
        UnusedExtent::Name => Fix::safe(
            "remove the instruction",
            vec![Edit::delete(whole_line_span(cx, instruction))],
        ),
        UnusedExtent::OneOfSeveral => Fix::safe(
            format!("remove `{}` from the instruction", name.value),
            vec![Edit::delete(include_space_before(
                cx.document.text,
                name.span,
            ))],
        ),
    };
    Diagnostic::new(
        &RULE.meta,
        cx.path,
        name.span,
        format!("`allow {}` silences nothing here", name.value),
    )
    .here("no such finding in the element that this stands in")
    .note("an `allow` speaks for its parent element alone, not for tasks nested in it")
    .fix(fix)
}

fn include_space_before(text: &str, span: Span) -> Span {
    let before = text.get(..span.start as usize).unwrap_or("");
    let trimmed_end = before
        .trim_end_matches(|c: char| c.is_ascii_whitespace() || c == ',')
        .len();
    Span::new(trimmed_end as u32, span.end)
}
