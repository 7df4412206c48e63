//! CTX018, CTX019: a file without a root element, or with content beside it.

use crate::rules::prelude::*;
use crate::syntax::fault::FaultKind;

/// An empty file is probably unintended.
pub(super) static MISSING_ROOT: Rule = Rule::new(
    meta!(promise, 18, "missing-root", "a file contains no element"),
    Check::Syntax(&[(FaultKind::NoRoot, missing)]),
);

fn missing(cx: &SyntaxCx<'_>) -> Diagnostic {
    if cx.file.path.ends_with("ctxc.toml") {
        return cx
            .found("the project file is not a template")
            .help("it is always checked: name templates, or nothing for all of them");
    }
    let message = if cx.document.text.trim().is_empty() {
        "the file is empty"
    } else {
        "the file holds no element"
    };
    cx.found(message)
        .here("expected <task>, <template> or <library>")
        .help("`ctxc init` writes a template to start from")
}

/// A document has one root; content beside it belongs to no element.
pub(super) static CONTENT_OUTSIDE_ROOT: Rule = Rule::new(
    meta!(
        promise,
        19,
        "content-outside-root",
        "text or a second element beside the root element"
    )
    .fixed(Fixable::Suggested),
    Check::Syntax(&[
        (FaultKind::SecondRoot, second_root),
        (FaultKind::TextOutsideRoot, text_outside),
    ]),
);

fn second_root(cx: &SyntaxCx<'_>) -> Diagnostic {
    let early = cx.document.root().filter(|root| root.is_empty_tag());
    let Some(root) = early.filter(|root| root.start_tag().slice(cx.document.text).ends_with("/>"))
    else {
        let message = format!("`<{}>` is a second element beside the root", cx.shown());
        return beside_root(cx, &message, "put several of them into one <library>");
    };
    let name = root.name();
    let slash = root.start_tag().end - 2;
    cx.found(format!(
        "`<{}>` comes after the root element, which `/>` ends",
        cx.shown()
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

fn text_outside(cx: &SyntaxCx<'_>) -> Diagnostic {
    beside_root(
        cx,
        "text outside of the root element",
        "move it into an element, or into a comment",
    )
}

fn beside_root(cx: &SyntaxCx<'_>, message: &str, help: &'static str) -> Diagnostic {
    let finding = cx.found(message).help(help);
    match cx.fault.other {
        Some(root) => finding.label(root, "the root element"),
        None => finding,
    }
}
