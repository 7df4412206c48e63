//! Shared helpers of this family: findings, names of elements for messages, spans of edits.

use crate::syntax::tree::{Attribute, NodeKind as Node};
use crate::template::is_unseen;

pub(in crate::rules) use crate::base::quoted::{join_parts, name_choice, short_excerpt};
pub(super) use crate::rules::prelude::*;
pub(super) use crate::syntax::tree::Element;
pub(super) use crate::template::elements::ElementKind;
pub(super) use crate::template::fault::{TemplateFault, TemplateFaultKind};

/// Creates a finding in a file.
pub(in crate::rules) fn file_finding(
    rule: &'static RuleMeta,
    cx: &FileCx<'_>,
    span: Span,
    message: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(rule, cx.path, span, message)
}

/// Lists elements for a message: “`<inputs>` or `<example>`”.
pub(super) fn list_tags(kinds: impl IntoIterator<Item = ElementKind>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for kind in kinds {
        if !seen.contains(&kind.tag()) {
            seen.push(kind.tag());
        }
    }
    join_parts(seen.into_iter().map(|tag| format!("`<{tag}>`")), " or ")
}

/// The children that an element may have. In a body, a nested task is not suggested.
pub(super) fn suggested_children(kind: ElementKind) -> impl Iterator<Item = ElementKind> {
    kind.spec()
        .children
        .iter()
        .map(|child| child.kind)
        .filter(move |child| !(kind.is_body() && *child == ElementKind::Task))
}

/// Returns the line break that the file uses.
pub(in crate::rules) fn file_line_break(cx: &FileCx<'_>) -> &'static str {
    if memchr::memmem::find(cx.document.text.as_bytes(), b"\r\n").is_some() {
        "\r\n"
    } else {
        "\n"
    }
}

/// Extends a span to its whole line, if nothing else stands on the line.
pub(in crate::rules) fn whole_line_span(cx: &FileCx<'_>, span: Span) -> Span {
    let Some(own) = cx.line_indent(span.start) else {
        return span;
    };
    let after = cx.document.text.get(span.end as usize..).unwrap_or("");
    let rest = after.trim_start_matches([' ', '\t']);
    let line = if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(rest.starts_with(['\n', '\r']))
    };
    if line == 0 {
        return span;
    }
    Span::new(
        span.start - own.len() as u32,
        span.end + (after.len() - rest.len() + line) as u32,
    )
}

/// Removes the white space at both ends of a span.
pub(super) fn trim_span(cx: &FileCx<'_>, span: Span) -> Span {
    let text = span.slice(cx.document.text);
    let start = span.start + (text.len() - text.trim_ascii_start().len()) as u32;
    Span::new(start, start + text.trim_ascii().len() as u32)
}

/// Returns the spans of text and CDATA directly in an element, without those of white space alone.
pub(super) fn text_spans(element: Element<'_>) -> impl Iterator<Item = Span> {
    let texts = element
        .children()
        .filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    texts
        .filter(|node| !node.text().trim_matches(is_unseen).is_empty())
        .map(crate::syntax::tree::XmlNode::span)
}

/// Returns the kind of child that a text directly in an element belongs in, such as `<constraint>`
/// in `<constraints>`; `None` if there is no such kind, or if the element has its only such child.
pub(super) fn wrapping_child(parent: ElementKind, element: Element<'_>) -> Option<ElementKind> {
    let paths = match element.attribute("source").map(Attribute::value).as_deref() {
        Some("command") => ElementKind::FilesCommand,
        Some("description") => ElementKind::FilesDescription,
        Some(_) | None => ElementKind::Path,
    };
    let text_children = [
        (ElementKind::Constraints, ElementKind::Constraint),
        (ElementKind::TerminationCondition, ElementKind::Condition),
        (ElementKind::FilePaths, paths),
    ];
    let (_, kind) = text_children
        .into_iter()
        .find(|(element, _)| *element == parent)?;
    let is_repeatable = parent
        .child(kind.tag())
        .is_some_and(|child| child.is_repeatable);
    (is_repeatable || element.elements().next().is_none()).then_some(kind)
}

/// Returns the attribute that contains the content of an element, as in other languages:
/// `value="…"`.
pub(super) fn value_attribute(element: Element<'_>) -> Option<Attribute<'_>> {
    let is_empty = element.elements().next().is_none() && text_spans(element).next().is_none();
    let has_no_content = is_empty
        && ["from", "src"]
            .iter()
            .all(|name| element.attribute(name).is_none());
    let named = |name: &&str| {
        element
            .attribute(name)
            .filter(|attribute| !attribute.value().trim().is_empty())
    };
    ["value", "text", "content"]
        .iter()
        .filter(|_| has_no_content)
        .find_map(named)
}

/// True if a child's name is a misspelling of `child`. The misspelling is reported, and not a
/// missing child.
pub(super) fn has_misspelt_child(
    element: Element<'_>,
    parent: ElementKind,
    child: ElementKind,
) -> bool {
    let is_misspelt_child = |found: Element<'_>| {
        found.namespace().is_none()
            && parent.child(found.name()).is_none()
            && likeliest_child(parent, found.name()) == Some(child.tag())
    };
    element.elements().any(is_misspelt_child)
}

/// True if an element has few enough children for each of many findings to search them.
pub(in crate::rules) fn has_few_children(element: Element<'_>) -> bool {
    element.elements().nth(MAX_SEARCHED_CHILDREN).is_none()
}

/// Maximum number of children that a finding searches.
pub(super) const MAX_SEARCHED_CHILDREN: usize = 256;

/// True if two elements are equal except for white space, so that one of them can be removed
/// without loss.
pub(super) fn is_equal_markup(a: Element<'_>, b: Element<'_>) -> bool {
    let written = |element: Element<'_>| element.span().slice(element.document().text).to_owned();
    a.span().len().max(b.span().len()) < MAX_COMPARED_BYTES
        && written(a)
            .split_ascii_whitespace()
            .eq(written(b).split_ascii_whitespace())
}

/// Maximum size in bytes of an element that is compared with others.
const MAX_COMPARED_BYTES: u32 = 100_000;

/// Returns the child that a misspelt name probably meant.
pub(super) fn likeliest_child(parent: ElementKind, name: &str) -> Option<&'static str> {
    let tags: Vec<&str> = suggested_children(parent).map(ElementKind::tag).collect();
    likeliest_candidate(name, tags.into_iter())
}
