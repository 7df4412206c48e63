//! CTX322: Jinja in a text without `syntax="jinja"`.

use super::names_prelude::*;
use crate::jinja::builtins::has_statement;
use crate::jinja::parse::read_tree;
use crate::syntax::tree::NodeId;
use crate::template::expression::{ExpressionFault, ExpressionFaultKind};
use std::collections::BTreeSet;

/// The agent would read the tags as plain text.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        322,
        "unrendered-jinja",
        "Jinja in a text without `syntax=\"jinja\"`"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

/// Extensions of files that contain only Jinja.
const JINJA_EXTENSIONS: [&str; 3] = [".j2", ".jinja", ".jinja2"];

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let text = cx.document.text;
    // Few files contain a tag or one of these extensions, which all begin with `.j`.
    let bytes = text.as_bytes();
    let begins = |at: usize| matches!(bytes.get(at..at + 2), Some(b"{%" | b".j"));
    if !memchr::memchr2_iter(b'{', b'.', bytes).any(begins) {
        return;
    }
    let has = |what: &str| memchr::memmem::find(bytes, what.as_bytes()).is_some();
    if !(has("{%") || JINJA_EXTENSIONS.into_iter().any(has)) {
        return;
    }
    let reported = reported_texts(cx);
    for element in cx.document.elements() {
        if has_explicit_syntax(element) || reported.contains(&element.id()) {
            continue;
        }
        let is = |name: &str| element.attribute(name).is_some();
        let message = match element.attribute("src") {
            Some(src)
                if JINJA_EXTENSIONS
                    .iter()
                    .any(|ending| src.value().ends_with(ending)) =>
            {
                format!(
                    "the name of `{}` says Jinja, but the agent reads its tags as plain text",
                    src.value()
                )
            }
            None if has_statement(&element.text()) => {
                "the agent reads this Jinja tag as plain text".to_owned()
            }
            _ => continue,
        };
        let written = element.span().slice(text);
        let at = written.find("{%").filter(|_| !is("src"));
        let start = element.span().start;
        let span = at.map_or_else(
            || element.name_span(),
            |at| Span::new(start + at as u32, start + at as u32 + 2),
        );
        let verbatim = vec![set_attribute(element, "verbatim", "true")];
        let as_words = Fix::suggested(
            "write verbatim=\"true\": the tags are meant as plain text",
            verbatim,
        );
        out.push(
            file_finding(&RULE.meta, cx, span, message)
                .fix(render_fix(element))
                .fix(as_words),
        );
    }
}

/// The fix that makes a text rendered.
pub(super) fn render_fix(element: Element<'_>) -> Fix {
    Fix::suggested(
        "write syntax=\"jinja\": the text is rendered",
        vec![set_attribute(element, "syntax", "jinja")],
    )
}

/// Returns the texts that are already reported because an expression in them is Jinja.
fn reported_texts(cx: &FileCx<'_>) -> BTreeSet<NodeId> {
    let elements = cx.scopes.faults.iter().filter_map(|fault| {
        let ScopeFaultKind::Expression {
            fault: why,
            element,
        } = &fault.kind
        else {
            return None;
        };
        is_jinja_expression(cx, fault, why, *element).then(|| element.id())
    });
    elements.collect()
}

/// True if the expression of a plain text is valid Jinja: a filter, a condition, a sum.
pub(super) fn is_jinja_expression(
    cx: &FileCx<'_>,
    fault: &ScopeFault<'_>,
    why: &ExpressionFault,
    element: Element<'_>,
) -> bool {
    let written = why.expression.slice(cx.document.text);
    let is_whole = fault.inside.is_none() && written.starts_with("{{") && written.ends_with("}}");
    // A call with a repeated argument, or in the wrong order, is a call of this language.
    let is_call = matches!(
        why.kind,
        ExpressionFaultKind::DuplicateArgument | ExpressionFaultKind::PositionalAfterNamed
    );
    is_whole && !is_call && !has_explicit_syntax(element) && read_tree(written).is_ok()
}

/// True if a text without a separate file is meant as Jinja but is not marked so.
pub(super) fn is_meant_as_jinja(element: Element<'_>) -> bool {
    !has_explicit_syntax(element)
        && element.attribute("src").is_none()
        && has_statement(&element.text())
}

/// True if an element is no text, or declares how it is read.
pub(super) fn has_explicit_syntax(element: Element<'_>) -> bool {
    !is_text_element(element)
        || element.attribute("syntax").is_some()
        || element.attribute("verbatim").is_some()
}

/// True if the element takes a text that can be rendered.
pub(super) fn is_text_element(element: Element<'_>) -> bool {
    let name = element.name();
    ElementKind::parents_of_tag(name)
        .filter_map(|home| home.child(name))
        .any(|child| child.kind.is_text())
}
