//! CTX005, CTX020, CTX021: names that are repeated, lack a namespace, or are invalid.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;
use crate::syntax::tree::Attribute;

/// The choice between two values would be arbitrary.
pub(super) static DUPLICATE_ATTRIBUTE: Rule = Rule::new(
    meta!(
        locked_error,
        5,
        "duplicate-attribute",
        "an element has the same attribute twice"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[(XmlFaultKind::DuplicateAttribute, report_duplicate)]),
);

fn report_duplicate(cx: &SyntaxCx<'_>) -> Diagnostic {
    let first_name = cx.second_span();
    let element = cx.document.element_at(cx.span.start);
    let attribute_at = |start: u32| {
        element?
            .attributes()
            .find(|attribute| attribute.name_span().start == start)
    };
    let value = |attribute: Option<Attribute<'_>>| {
        attribute.map(|attribute| attribute.value().into_owned())
    };
    let first = attribute_at(first_name.start);
    let second = attribute_at(cx.span.start);
    let finding = cx
        .finding(format!(
            "the attribute `{}` is there twice",
            cx.quoted_text()
        ))
        .label(first_name, "first written here");
    let Some(duplicate) = second else {
        return finding;
    };
    let remove = |attribute: Attribute<'_>| {
        let text = cx
            .document
            .text
            .get(..attribute.span().start as usize)
            .unwrap_or("");
        Edit::delete(Span::new(
            text.trim_ascii_end().len() as u32,
            attribute.span().end,
        ))
    };
    if value(first) == value(second) {
        return finding.fix(Fix::safe("remove the second", vec![remove(duplicate)]));
    }
    finding.help("keep the value that is meant")
}

/// A prefix has no meaning without its namespace.
pub(super) static UNDECLARED_PREFIX: Rule = Rule::new(
    meta!(
        locked_error,
        20,
        "undeclared-prefix",
        "a prefix has no namespace"
    )
    .with_fix(Fixable::Suggested),
    Check::Syntax(&[(XmlFaultKind::UndeclaredPrefix, report_undeclared)]),
);

fn report_undeclared(cx: &SyntaxCx<'_>) -> Diagnostic {
    let name = cx.quoted_text();
    let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
    let finding = cx
        .finding(format!("the prefix `{prefix}` is not declared"))
        .here("no xmlns declaration in scope")
        .help(format!(
            "declare it on the root element: xmlns:{prefix}=\"urn:…\""
        ));
    let finding = match cx.document.root() {
        Some(root) => finding.fix(Fix::suggested(
            format!("declare xmlns:{prefix} on the root element"),
            vec![Edit::insert(
                root.name_span().end,
                format!(" xmlns:{prefix}=\"urn:{prefix}\""),
            )],
        )),
        None => finding,
    };
    if cx
        .document
        .element_at(cx.span.start)
        .is_some_and(|element| element.name_span() == cx.span)
    {
        return finding.note(format!(
            "without a prefix, `{local}` would be an element of the language"
        ));
    }
    finding.fix(Fix::suggested(
        format!("write `{local}`"),
        vec![Edit::replace(cx.span, local)],
    ))
}

/// A name with a colon consists of a prefix and a local name, and `xml` is reserved.
pub(super) static BAD_NAME: Rule = Rule::new(
    meta!(
        locked_error,
        21,
        "bad-name",
        "a name has a misplaced colon or a reserved prefix"
    )
    .with_fix(Fixable::Suggested),
    Check::Syntax(&[
        (XmlFaultKind::BadColon, report_bad_colon),
        (XmlFaultKind::ReservedPrefix, report_reserved_prefix),
        (XmlFaultKind::EmptyPrefix, report_empty_prefix),
    ]),
);

fn report_bad_colon(cx: &SyntaxCx<'_>) -> Diagnostic {
    let plain = without_extra_colons(cx.source_text(), cx.document.text);
    cx.finding(format!(
        "the colon in `{}` separates no prefix from a name",
        cx.quoted_text()
    ))
    .fix(Fix::suggested(
        format!("write `{plain}`"),
        vec![Edit::replace(cx.span, plain.as_str())],
    ))
}

fn report_reserved_prefix(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!(
        "`{}` uses what is reserved for XML itself",
        cx.quoted_text()
    ))
    .help("choose another prefix, and a namespace of your own")
}

fn report_empty_prefix(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!("`{}` binds a prefix to nothing", cx.quoted_text()))
        .help("give it a namespace, such as \"urn:example\", or remove the declaration")
}

/// Returns the name with a single colon after a prefix that is declared anywhere, otherwise without
/// colons.
fn without_extra_colons(name: &str, text: &str) -> String {
    let parts: Vec<&str> = name.split(':').filter(|part| !part.is_empty()).collect();
    match parts.split_first() {
        Some((prefix, rest)) if !rest.is_empty() && text.contains(&format!("xmlns:{prefix}=")) => {
            format!("{prefix}:{}", rest.join("-"))
        }
        Some(_) | None => parts.join("-"),
    }
}
