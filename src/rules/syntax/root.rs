//! CTX018, CTX019: a file without a root element, or with content beside it.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;

/// An empty file is probably unintended.
pub(super) static MISSING_ROOT: Rule = Rule::new(
    meta!(
        locked_error,
        18,
        "missing-root",
        "a file contains no element"
    ),
    Check::Syntax(&[(XmlFaultKind::NoRoot, report_missing_root)]),
);

fn report_missing_root(cx: &SyntaxCx<'_>) -> Diagnostic {
    if cx.file.path.ends_with("ctxc.toml") {
        return cx
            .finding("the project file is not a template")
            .help("it is always checked: name templates, or nothing for all of them");
    }
    let message = if cx.document.text.trim().is_empty() {
        "the file is empty"
    } else {
        "the file holds no element"
    };
    cx.finding(message)
        .here("expected <task>, <template> or <library>")
        .help("`ctxc init` writes a template to start from")
}

/// A document has one root; content beside it belongs to no element.
pub(super) static CONTENT_OUTSIDE_ROOT: Rule = Rule::new(
    meta!(
        locked_error,
        19,
        "content-outside-root",
        "text or a second element beside the root element"
    )
    .with_fix(Fixable::Suggested),
    Check::Syntax(&[
        (XmlFaultKind::SecondRoot, report_second_root),
        (XmlFaultKind::TextOutsideRoot, report_text_outside),
    ]),
);

fn report_second_root(cx: &SyntaxCx<'_>) -> Diagnostic {
    let early = cx.document.root().filter(|root| root.is_empty_tag());
    let Some(root) = early.filter(|root| root.start_tag().slice(cx.document.text).ends_with("/>"))
    else {
        let message = format!(
            "`<{}>` is a second element beside the root",
            cx.quoted_text()
        );
        return finding_beside_root(cx, &message, "put several of them into one <library>");
    };
    let name = root.name();
    let slash = root.start_tag().end - 2;
    cx.finding(format!(
        "`<{}>` comes after the root element, which `/>` ends",
        cx.quoted_text()
    ))
    .label(root.name_span(), "the root element")
    .help(format!(
        "remove the slash if it belongs into `<{name}>`; put several of them into one <library>"
    ))
    .fix(Fix::suggested(
        format!("remove the slash of <{name}>"),
        vec![Edit::delete(Span::new(slash, slash + 1))],
    ))
}

fn report_text_outside(cx: &SyntaxCx<'_>) -> Diagnostic {
    finding_beside_root(
        cx,
        "text outside of the root element",
        "move it into an element, or into a comment",
    )
}

fn finding_beside_root(cx: &SyntaxCx<'_>, message: &str, help: &'static str) -> Diagnostic {
    let finding = cx.finding(message).help(help);
    match cx.fault.other {
        Some(root) => finding.label(root, "the root element"),
        None => finding,
    }
}
