//! CTX002: an end tag without a matching start tag.

use crate::rules::prelude::*;
use crate::syntax::fault::FaultKind;
use crate::template::elements::Kind;

/// An end tag names the element that it closes; a wrong name is ambiguous.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        promise,
        2,
        "mismatched-end-tag",
        "an end tag does not match its start tag"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[
        (FaultKind::MismatchedEnd, mismatched),
        (FaultKind::StrayEnd, stray),
        (FaultKind::ClosedTwice, closed_twice),
        (FaultKind::MissingStart, without_start),
        (FaultKind::StartWithoutBracket, without_bracket),
    ]),
);

fn mismatched(cx: &SyntaxCx<'_>) -> Diagnostic {
    let opening = cx.other();
    let closing = cx.span;
    let open = cx.cut(opening);
    let close = cx.cut(closing);
    if close.starts_with("</") {
        let edit = Edit::replace(closing, format!("</{}>", opening.slice(cx.document.text)));
        return cx
            .found_at(
                closing,
                format!("an end tag without a name, where `</{open}>` is expected"),
            )
            .label(opening, "opened here")
            .fix(Fix::safe(format!("write </{open}>"), vec![edit]));
    }
    let message = format!("`<{open}>` is closed by `</{close}>`");
    let shut = vec![Edit::replace(closing, opening.slice(cx.document.text))];
    let reopen = vec![Edit::replace(opening, closing.slice(cx.document.text))];
    let found = |span| cx.found_at(span, message);
    match (is_known(&open), is_known(&close)) {
        // If only one of the two is a name of the language, the other one is misspelt.
        (false, true) => found(opening)
            .here(format!(
                "no element of the language; did you mean `<{close}>`?"
            ))
            .label(closing, "closed here")
            .fix(Fix::safe(format!("write <{close}>"), reopen)),
        (true, false) => found(closing)
            .here(format!(
                "no element of the language; did you mean `</{open}>`?"
            ))
            .label(opening, "opened here")
            .fix(Fix::safe(format!("write </{open}>"), shut)),
        (true, true) | (false, false) => {
            // If nothing stands between the two, either may be misplaced.
            let between = Span::new(opening.end, closing.start).slice(cx.document.text);
            let holds = between
                .trim_end_matches("</")
                .split_once('>')
                .is_some_and(|(_, inside)| !inside.trim().is_empty());
            let title = format!("write </{open}>");
            found(closing)
                .here(format!("expected </{open}>"))
                .label(opening, "opened here")
                .fix(if holds {
                    Fix::safe(title, shut)
                } else {
                    Fix::suggested(title, shut)
                })
                .fix(Fix::suggested(format!("open it as <{close}>"), reopen))
        }
    }
}

/// True if the language has an element of that name.
fn is_known(name: &str) -> bool {
    Kind::homes(name).next().is_some()
        || [Kind::Template, Kind::Library]
            .iter()
            .any(|root| root.tag() == name)
}

/// Reports an end tag whose start tag is missing. The content of the element stands before the end
/// tag.
fn without_start(cx: &SyntaxCx<'_>) -> Diagnostic {
    let tag = cx.shown();
    let name = tag.trim_start_matches("</").trim_end_matches('>').trim();
    if !is_known(name) {
        return closes_nothing(cx);
    }
    let begins = cx.other().start;
    let stray = Some(cx.other()).filter(|stray| !stray.is_empty());
    let edit = match (cx.indent(begins), cx.indent(cx.span.start)) {
        _ if stray.is_some() => Edit::replace(cx.other(), format!("<{name}>")),
        (Some(inner), Some(own)) => {
            let start = begins - inner.len() as u32;
            let line = if cx.before(start).ends_with("\r\n") {
                "\r\n"
            } else {
                "\n"
            };
            Edit::insert(start, format!("{own}<{name}>{line}"))
        }
        _ => Edit::insert(begins, format!("<{name}>")),
    };
    cx.found(format!("`{tag}` has no start tag"))
        .here("no element of this name is open here")
        .label(
            stray.unwrap_or(Span::new(begins, begins + first_char(cx, begins))),
            format!("`<{name}>` seems to begin here"),
        )
        .fix(Fix::suggested(
            format!(
                "write <{name}> {}",
                if stray.is_some() {
                    "there"
                } else {
                    "before it"
                }
            ),
            vec![edit],
        ))
}

/// Reports `<a/>text</a>`: the slash is one too many.
fn closed_twice(cx: &SyntaxCx<'_>) -> Diagnostic {
    let name = cx.shown();
    let tag = cx.cut(cx.other());
    let found = cx
        .found(format!(
            "`<{name}/>` is empty, and `{tag}` closes it once more"
        ))
        .label(cx.other(), "closed here as well");
    let slash = cx
        .document
        .element_at(cx.span.start)
        .map(|element| element.start_tag().end - 2);
    match slash.filter(|slash| cx.after(*slash).starts_with("/>")) {
        Some(slash) => found.fix(Fix::safe(
            "remove the slash of the start tag",
            vec![Edit::delete(Span::new(slash, slash + 1))],
        )),
        None => found,
    }
}

/// The length in bytes of the character at an offset.
fn first_char(cx: &SyntaxCx<'_>, at: u32) -> u32 {
    cx.after(at)
        .chars()
        .next()
        .map_or(0, |c| c.len_utf8() as u32)
}

fn stray(cx: &SyntaxCx<'_>) -> Diagnostic {
    if let Some(right) = cx
        .fault
        .other
        .filter(|other| cx.cut(*other).starts_with("</"))
    {
        let tag = cx.shown();
        return cx
            .found(format!("`{tag}` ends its element too early"))
            .label(right, "this end tag closes it")
            .fix(Fix::suggested(
                format!("remove {tag}"),
                vec![Edit::delete(cx.span)],
            ));
    }
    let finding = closes_nothing(cx);
    match cx.fault.other {
        Some(around) => {
            let closed = cx
                .document
                .element_at(around.start)
                .filter(|element| element.span().end <= cx.span.start);
            let name = cx.cut(around);
            finding.label(
                around,
                closed.map_or_else(
                    || format!("the innermost open element is `<{name}>`"),
                    |_| format!("`<{name}>` is closed before it"),
                ),
            )
        }
        None => finding,
    }
}

fn closes_nothing(cx: &SyntaxCx<'_>) -> Diagnostic {
    let tag = cx.shown();
    cx.found(format!("`{tag}` closes nothing"))
        .here("no element of this name is open here")
        .help("remove it, or write the start tag that it belongs to")
        .fix(Fix::suggested(
            format!("remove {tag}"),
            vec![Edit::delete(cx.span)],
        ))
}

fn without_bracket(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.written();
    let name = written.trim_start_matches(['<', ' ', '\t', '\r', '\n']);
    if name.len() < written.len() {
        let blank = Span::new(cx.span.start + 1, cx.span.end - name.len() as u32);
        return cx
            .found(format!(
                "`<` and `{name}` are apart, so they are not a start tag"
            ))
            .here(format!("expected <{name}"))
            .label(cx.other(), "this end tag belongs to it")
            .fix(Fix::safe("join them", vec![Edit::delete(blank)]));
    }
    let name = cx.shown();
    cx.found(format!("the start tag of `{name}` lacks its `<`"))
        .here(format!("expected <{name}"))
        .label(cx.other(), "this end tag belongs to it")
        .fix(Fix::safe("add `<`", vec![Edit::insert(cx.span.start, "<")]))
}
