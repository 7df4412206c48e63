//! CTX006, CTX009–CTX011: characters that XML requires to be escaped, or forbids.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;

/// The most common mistake in hand-written templates: shell commands and “R&D”.
pub(super) static BARE_AMPERSAND: Rule = Rule::new(
    meta!(
        locked_error,
        6,
        "bare-ampersand",
        "`&` begins a reference and must be written `&amp;`"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[(XmlFaultKind::BareAmpersand, report_bare_ampersand)]),
);

fn report_bare_ampersand(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.quoted_text();
    if let Some(fix) = and_fix(cx) {
        return cx
            .finding(format!("`{written}` on its own"))
            .here("a condition has the word `and`")
            .fix(fix);
    }
    let escaped = written.replace('&', "&amp;");
    let whole = "&amp;".repeat(cx.span.len() as usize);
    let fix = Fix::safe(
        format!("write `{escaped}`"),
        vec![Edit::replace(cx.span, whole)],
    );
    let message = format!("`{written}` on its own");
    cx.finding(message)
        .here(format!("expected `{escaped}`"))
        .fix(fix)
}

/// Replaces `&&` by `and` inside a condition, where it is an operator and not text.
fn and_fix(cx: &SyntaxCx<'_>) -> Option<Fix> {
    let element = cx
        .document
        .element_at(cx.span.start)
        .filter(|_| cx.source_text() == "&&")?;
    let place = match element.name() {
        "case" => element.attribute("test")?.value_span(),
        "condition" => element.inner(),
        _ => return None,
    };
    place
        .encloses(cx.span)
        .then(|| Fix::safe("write `and`", vec![and_edit(cx.document.text, cx.span)]))
}

/// Replaces a sign by `and`, with spaces where needed.
pub(in crate::rules) fn and_edit(text: &str, span: Span) -> Edit {
    let gap = |byte: Option<u8>| {
        if byte.is_none_or(|byte| byte.is_ascii_whitespace()) {
            ""
        } else {
            " "
        }
    };
    let before = span
        .start
        .checked_sub(1)
        .and_then(|at| text.as_bytes().get(at as usize))
        .copied();
    let after = text.as_bytes().get(span.end as usize).copied();
    Edit::replace(span, format!("{}and{}", gap(before), gap(after)))
}

/// `<` always begins a tag.
pub(super) static BARE_LESS_THAN: Rule = Rule::new(
    meta!(
        locked_error,
        9,
        "bare-less-than",
        "`<` begins a tag and must be written `&lt;`"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::LessInText, |cx| {
            report_bare_less_than(cx, "in text")
        }),
        (XmlFaultKind::LessInValue, |cx| {
            report_bare_less_than(cx, "in an attribute value")
        }),
    ]),
);

fn report_bare_less_than(cx: &SyntaxCx<'_>, place: &str) -> Diagnostic {
    let written = cx.source_text();
    let insert = written.replace('<', "&lt;");
    cx.finding(format!("`{written}` {place} begins no tag"))
        .here(format!("expected `{insert}`"))
        .fix(Fix::safe(
            format!("write `{insert}`"),
            vec![Edit::replace(cx.span, insert)],
        ))
}

/// HTML has two thousand named characters, XML has five.
pub(super) static BROKEN_REFERENCE: Rule = Rule::new(
    meta!(
        locked_error,
        10,
        "broken-reference",
        "a reference to no character"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::UnclosedReference, report_unclosed_reference),
        (XmlFaultKind::UnknownEntity, report_unknown_entity),
        (XmlFaultKind::BadCharReference, report_bad_number),
    ]),
);

/// Names of HTML entities that are common in prose, with their characters.
const HTML_ENTITIES: &[(&str, char)] = &[
    ("nbsp", '\u{A0}'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("bull", '•'),
    ("middot", '·'),
    ("sect", '§'),
    ("para", '¶'),
    ("deg", '°'),
    ("plusmn", '±'),
    ("times", '×'),
    ("rarr", '→'),
    ("larr", '←'),
    ("le", '≤'),
    ("ge", '≥'),
    ("ne", '≠'),
    ("euro", '€'),
    ("pound", '£'),
    ("yen", '¥'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
];

fn report_unclosed_reference(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.quoted_text();
    cx.finding(format!("the reference `{written}` lacks its `;`"))
        .here(format!("expected `{written};`"))
        .fix(Fix::safe("add `;`", vec![Edit::insert(cx.span.end, ";")]))
}

fn report_unknown_entity(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.quoted_text();
    let name = written.trim_matches(['&', ';']);
    let finding = cx
        .finding(format!("XML has no entity `{written}`"))
        .note("the five that it knows are &lt; &gt; &amp; &quot; &apos;");
    let literal = Edit::insert(cx.span.start + 1, "amp;");
    if let Some((_, character)) = HTML_ENTITIES.iter().find(|(known, _)| *known == name) {
        let number = format!("&#{};", u32::from(*character));
        // A space that does not break looks like any other, so its number is written.
        let (shown, insert) = if *character == '\u{A0}' {
            (number.clone(), number)
        } else {
            (character.to_string(), character.to_string())
        };
        return finding
            .help("it is a name of HTML; write the character itself, or its number")
            .fix(Fix::safe(
                format!("write {shown}"),
                vec![Edit::replace(cx.span, insert)],
            ));
    }
    let near = nearest_candidate(name, ["lt", "gt", "amp", "quot", "apos"]);
    let finding = match near {
        Some(near) => finding
            .help(format!("did you mean `&{near};`?"))
            .fix(Fix::suggested(
                format!("write &{near};"),
                vec![Edit::replace(cx.span, format!("&{near};"))],
            )),
        None => finding,
    };
    finding.fix(Fix::suggested(
        format!("write the text `{written}`"),
        vec![literal],
    ))
}

fn report_bad_number(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!("`{}` is not the number of a character that XML allows", cx.quoted_text()))
        .help("XML does not allow control characters at all; remove the reference or name another character")
        .fix(Fix::suggested("remove it", vec![Edit::delete(cx.span)]))
}

/// Control characters come from terminals and faulty copies, and are invisible.
pub(super) static ILLEGAL_CHARACTER: Rule = Rule::new(
    meta!(
        locked_error,
        11,
        "illegal-character",
        "a control character cannot stand in XML"
    )
    .with_fix(Fixable::Suggested),
    Check::Syntax(&[(XmlFaultKind::IllegalCharacter, report_illegal_character)]),
);

fn report_illegal_character(cx: &SyntaxCx<'_>) -> Diagnostic {
    let found: Vec<String> = cx
        .source_text()
        .chars()
        .take(4)
        .map(|c| format!("U+{:04X}", u32::from(c)))
        .collect();
    let more = if cx.source_text().chars().nth(4).is_some() {
        " …"
    } else {
        ""
    };
    cx.finding(format!("XML does not allow {}{more}", found.join(" ")))
        .note("no editor shows it; it usually comes from a terminal's output or from a file that is no text")
        .fix(Fix::suggested("remove it", vec![Edit::delete(cx.span)]))
}
