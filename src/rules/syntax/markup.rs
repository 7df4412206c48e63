//! CTX007, CTX012–CTX016: malformed or rejected comments, CDATA sections, instructions and
//! declarations.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;

/// Entities can expand a small file to a huge one, and make a template depend on files that no hash
/// covers.
pub(super) static DOCUMENT_TYPE: Rule = Rule::new(
    meta!(
        locked_error,
        7,
        "document-type",
        "a document type declaration is refused"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[(XmlFaultKind::Doctype, report_document_type)]),
);

fn report_document_type(cx: &SyntaxCx<'_>) -> Diagnostic {
    let declares = ["<!ENTITY", "<!ATTLIST", "<?"]
        .iter()
        .any(|what| cx.source_text().contains(what));
    let finding = cx
        .finding("a document type declaration is refused")
        .note("entities can make a small file a huge one and pull in files that no hash sees");
    if let Some(used) = cx.fault.other {
        let help = "write out what its entities stand for and remove it; shared text belongs into a `<fragment>` of a `<library>`";
        return finding.label(used, "an entity is used here").help(help);
    }
    let finding =
        finding.help("remove it; shared text belongs into a `<fragment>` of a `<library>`");
    // Entities that stand for texts are content of the author's.
    if declares {
        finding
    } else {
        finding.fix(Fix::safe("remove it", vec![Edit::delete(cx.span)]))
    }
}

/// A comment without its end hides the elements after it.
pub(super) static MALFORMED_COMMENT: Rule = Rule::new(
    meta!(
        locked_error,
        12,
        "malformed-comment",
        "a comment lacks its `-->` or contains `--`"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::UnclosedComment, report_unclosed_comment),
        (XmlFaultKind::DashesInComment, report_dashes),
    ]),
);

fn report_unclosed_comment(cx: &SyntaxCx<'_>) -> Diagnostic {
    let end = cx.second_span();
    let insert = if end.is_empty() { " -->" } else { "-->" };
    cx.finding("a comment that never ends")
        .here("opened here")
        .label(end, "taken to end here: `-->` is expected")
        .fix(Fix::safe(
            "end it here with `-->`",
            vec![Edit::replace(end, insert)],
        ))
}

fn report_dashes(cx: &SyntaxCx<'_>) -> Diagnostic {
    let comment = cx.second_span();
    let written = comment.slice(cx.document.text);
    let body = written
        .get(4..written.len().saturating_sub(3))
        .unwrap_or("");
    // Adds a space before each hyphen that follows another hyphen or touches the end of the
    // comment.
    let mut apart = String::with_capacity(body.len() + 8);
    for c in body.chars() {
        if c == '-' && apart.ends_with('-') {
            apart.push(' ');
        }
        apart.push(c);
    }
    if apart.ends_with('-') {
        apart.push(' ');
    }
    cx.finding("`--` inside a comment")
        .help("XML allows it only at the end, as part of `-->`")
        .fix(Fix::safe(
            "write `- -`",
            vec![Edit::replace(comment, format!("<!--{apart}-->"))],
        ))
}

/// Inside CDATA no tag counts, so its boundaries must be certain.
pub(super) static MALFORMED_CDATA: Rule = Rule::new(
    meta!(
        locked_error,
        13,
        "malformed-cdata",
        "a CDATA section lacks its mark at one end"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::UnclosedCdata, report_unclosed_cdata),
        (XmlFaultKind::MisspeltCdata, report_misspelt_cdata),
        (XmlFaultKind::CdataEndInText, report_cdata_end),
    ]),
);

fn report_unclosed_cdata(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding("a CDATA section that never ends")
        .here("opened here")
        .label(cx.second_span(), "taken to end here: `]]>` is expected")
        .fix(Fix::safe(
            "end it here with `]]>`",
            vec![Edit::replace(cx.second_span(), "]]>")],
        ))
}

fn report_misspelt_cdata(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!("`{}` opens nothing", cx.quoted_text()))
        .here("expected `<![CDATA[`")
        .fix(Fix::safe(
            "write `<![CDATA[`",
            vec![Edit::replace(cx.span, "<![CDATA[")],
        ))
}

fn report_cdata_end(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding("`]]>` in text ends no CDATA section")
        .here("expected `]]&gt;`")
        .fix(Fix::safe(
            "write `]]&gt;`",
            vec![Edit::replace(cx.span, "]]&gt;")],
        ))
}

/// An `allow` that cannot be read silences nothing.
pub(super) static MALFORMED_INSTRUCTION: Rule = Rule::new(
    meta!(
        locked_error,
        14,
        "malformed-instruction",
        "a processing instruction lacks its marks or its target"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (
            XmlFaultKind::UnclosedInstruction,
            report_unclosed_instruction,
        ),
        (XmlFaultKind::BadTarget, report_bad_target),
    ]),
);

fn report_unclosed_instruction(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!("the instruction `{}` never ends", cx.quoted_text()))
        .here("opened here")
        .label(cx.second_span(), "taken to end here: `?>` is expected")
        .fix(Fix::safe(
            "end it here with `?>`",
            vec![Edit::replace(cx.second_span(), "?>")],
        ))
}

fn report_bad_target(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.source_text();
    let start = cx.span.start;
    let Some(body) = written.strip_prefix("<?") else {
        return cx
            .finding(format!(
                "`{}` lacks the `?` behind its `<`",
                cx.quoted_text()
            ))
            .fix(Fix::safe("write `<?`", vec![Edit::insert(start + 1, "?")]));
    };
    let finding = cx
        .finding("a processing instruction without a name")
        .help("a name without a colon follows `<?` at once, and white space follows the name");
    let blank = body.len() - body.trim_ascii_start().len();
    if blank == 0 {
        return finding;
    }
    finding.fix(Fix::safe(
        "remove the space",
        vec![Edit::delete(Span::new(start + 2, start + 2 + blank as u32))],
    ))
}

/// The declaration is optional, and invalid if anything precedes it.
pub(super) static MALFORMED_DECLARATION: Rule = Rule::new(
    meta!(
        locked_error,
        15,
        "malformed-declaration",
        "the XML declaration is broken or not first in the file"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (
            XmlFaultKind::MisplacedDeclaration,
            report_misplaced_declaration,
        ),
        (XmlFaultKind::BadDeclaration, report_bad_declaration),
    ]),
);

fn report_bad_declaration(cx: &SyntaxCx<'_>) -> Diagnostic {
    let edit = Edit::replace(
        cx.second_span(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    );
    cx.finding("the XML declaration is broken")
        .help("write <?xml version=\"1.0\" encoding=\"UTF-8\"?>, or nothing at all")
        .fix(Fix::safe("write it in full", vec![edit]))
}

fn report_misplaced_declaration(cx: &SyntaxCx<'_>) -> Diagnostic {
    let before = cx.text_before(cx.span.start);
    let finding = cx.finding("an XML declaration that is not first");
    if before.is_empty() {
        return finding
            .help("it is written in lower case")
            .fix(Fix::safe("remove it", vec![Edit::delete(cx.span)]));
    }
    if before.trim_ascii().is_empty() {
        let edit = Edit::delete(Span::new(0, cx.span.start));
        return finding
            .label(Span::empty_at(0), "it belongs here")
            .fix(Fix::safe("remove what stands before it", vec![edit]));
    }
    finding
        .help("a file has at most one, at its very beginning")
        .fix(Fix::safe("remove it", vec![Edit::delete(cx.span)]))
}

/// `<!- … -->`, `<!ELEMENT …>` and similar markup.
pub(super) static UNKNOWN_MARKUP: Rule = Rule::new(
    meta!(
        locked_error,
        16,
        "unknown-markup",
        "`<!` begins neither a comment nor a CDATA section"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[(XmlFaultKind::UnknownMarkup, report_unknown_markup)]),
);

fn report_unknown_markup(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.source_text();
    let start = cx.span.start;
    let finding = cx.finding(format!("`{}` is not XML markup", cx.quoted_text()));
    if written.starts_with("<!-") && written.ends_with("-->") {
        return finding.help("a comment begins with `<!--`").fix(Fix::safe(
            "write `<!--`",
            vec![Edit::insert(start + 2, "-")],
        ));
    }
    let escape = Edit::replace(Span::new(start, start + 1), "&lt;");
    finding
        .help("write a comment, `<!-- … -->`, or `&lt;!` for the text itself")
        .fix(Fix::suggested("take it as text", vec![escape]))
}
