//! CTX007, CTX012–CTX016: malformed or rejected comments, CDATA sections, instructions and
//! declarations.

use crate::rules::prelude::*;
use crate::syntax::fault::FaultKind;

/// Entities can expand a small file to a huge one, and make a template depend on files that no hash
/// covers.
pub(super) static DOCUMENT_TYPE: Rule = Rule::new(
    meta!(
        promise,
        7,
        "document-type",
        "a document type declaration is refused"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[(FaultKind::Doctype, document_type)]),
);

fn document_type(cx: &SyntaxCx<'_>) -> Diagnostic {
    let declares = ["<!ENTITY", "<!ATTLIST", "<?"]
        .iter()
        .any(|what| cx.written().contains(what));
    let finding = cx
        .found("a document type declaration is refused")
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
        promise,
        12,
        "malformed-comment",
        "a comment lacks its `-->` or contains `--`"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[
        (FaultKind::UnclosedComment, unclosed_comment),
        (FaultKind::DashesInComment, dashes),
    ]),
);

fn unclosed_comment(cx: &SyntaxCx<'_>) -> Diagnostic {
    let end = cx.other();
    let insert = if end.is_empty() { " -->" } else { "-->" };
    cx.found("a comment that never ends")
        .here("opened here")
        .label(end, "taken to end here: `-->` is expected")
        .fix(Fix::safe(
            "end it here with `-->`",
            vec![Edit::replace(end, insert)],
        ))
}

fn dashes(cx: &SyntaxCx<'_>) -> Diagnostic {
    let comment = cx.other();
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
    cx.found("`--` inside a comment")
        .help("XML allows it only at the end, as part of `-->`")
        .fix(Fix::safe(
            "write `- -`",
            vec![Edit::replace(comment, format!("<!--{apart}-->"))],
        ))
}

/// Inside CDATA no tag counts, so its boundaries must be certain.
pub(super) static MALFORMED_CDATA: Rule = Rule::new(
    meta!(
        promise,
        13,
        "malformed-cdata",
        "a CDATA section lacks its mark at one end"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[
        (FaultKind::UnclosedCdata, unclosed_cdata),
        (FaultKind::MisspeltCdata, misspelt_cdata),
        (FaultKind::CdataEndInText, cdata_end),
    ]),
);

fn unclosed_cdata(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.found("a CDATA section that never ends")
        .here("opened here")
        .label(cx.other(), "taken to end here: `]]>` is expected")
        .fix(Fix::safe(
            "end it here with `]]>`",
            vec![Edit::replace(cx.other(), "]]>")],
        ))
}

fn misspelt_cdata(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.found(format!("`{}` opens nothing", cx.shown()))
        .here("expected `<![CDATA[`")
        .fix(Fix::safe(
            "write `<![CDATA[`",
            vec![Edit::replace(cx.span, "<![CDATA[")],
        ))
}

fn cdata_end(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.found("`]]>` in text ends no CDATA section")
        .here("expected `]]&gt;`")
        .fix(Fix::safe(
            "write `]]&gt;`",
            vec![Edit::replace(cx.span, "]]&gt;")],
        ))
}

/// An `allow` that cannot be read silences nothing.
pub(super) static MALFORMED_INSTRUCTION: Rule = Rule::new(
    meta!(
        promise,
        14,
        "malformed-instruction",
        "a processing instruction lacks its marks or its target"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[
        (FaultKind::UnclosedInstruction, unclosed_instruction),
        (FaultKind::BadTarget, bad_target),
    ]),
);

fn unclosed_instruction(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.found(format!("the instruction `{}` never ends", cx.shown()))
        .here("opened here")
        .label(cx.other(), "taken to end here: `?>` is expected")
        .fix(Fix::safe(
            "end it here with `?>`",
            vec![Edit::replace(cx.other(), "?>")],
        ))
}

fn bad_target(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.written();
    let start = cx.span.start;
    let Some(body) = written.strip_prefix("<?") else {
        return cx
            .found(format!("`{}` lacks the `?` behind its `<`", cx.shown()))
            .fix(Fix::safe("write `<?`", vec![Edit::insert(start + 1, "?")]));
    };
    let finding = cx
        .found("a processing instruction without a name")
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
        promise,
        15,
        "malformed-declaration",
        "the XML declaration is broken or not first in the file"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[
        (FaultKind::MisplacedDeclaration, misplaced_declaration),
        (FaultKind::BadDeclaration, bad_declaration),
    ]),
);

fn bad_declaration(cx: &SyntaxCx<'_>) -> Diagnostic {
    let edit = Edit::replace(cx.other(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    cx.found("the XML declaration is broken")
        .help("write <?xml version=\"1.0\" encoding=\"UTF-8\"?>, or nothing at all")
        .fix(Fix::safe("write it in full", vec![edit]))
}

fn misplaced_declaration(cx: &SyntaxCx<'_>) -> Diagnostic {
    let before = cx.before(cx.span.start);
    let finding = cx.found("an XML declaration that is not first");
    if before.is_empty() {
        return finding
            .help("it is written in lower case")
            .fix(Fix::safe("remove it", vec![Edit::delete(cx.span)]));
    }
    if before.trim_ascii().is_empty() {
        let edit = Edit::delete(Span::new(0, cx.span.start));
        return finding
            .label(Span::at(0), "it belongs here")
            .fix(Fix::safe("remove what stands before it", vec![edit]));
    }
    finding
        .help("a file has at most one, at its very beginning")
        .fix(Fix::safe("remove it", vec![Edit::delete(cx.span)]))
}

/// `<!- … -->`, `<!ELEMENT …>` and similar markup.
pub(super) static UNKNOWN_MARKUP: Rule = Rule::new(
    meta!(
        promise,
        16,
        "unknown-markup",
        "`<!` begins neither a comment nor a CDATA section"
    )
    .fixed(Fixable::Safe),
    Check::Syntax(&[(FaultKind::UnknownMarkup, unknown)]),
);

fn unknown(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.written();
    let start = cx.span.start;
    let finding = cx.found(format!("`{}` is not XML markup", cx.shown()));
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
