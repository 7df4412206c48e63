//! The smallest edits that change an element and preserve everything around it: indentation, line
//! breaks, quotes.
//!
//! The `xml` passed to these functions uses `\n` and has no indentation of its own; its lines are
//! indented and broken like those of the file.

use super::escape::escape_attribute;
use crate::base::fix::Edit;
use crate::base::span::Span;
use crate::syntax::tree::{Element, NodeKind};

/// Adds a child after the last one.
pub fn insert_child(element: Element<'_>, xml: &str) -> Edit {
    let text = element.document().text;
    if let Some(last) = element.elements().last() {
        return insert_after(last, xml);
    }
    let Some(own) = indent_before(text, element.span().start) else {
        return insert_inline(element, xml);
    };
    let line = line_break_style(text);
    let inside = child_indent(element, own);
    let body = indent_lines(xml, &inside, line);
    let inner = element.inner();
    if element.is_empty_tag() {
        return expand_empty_tag(element, &format!("{line}{inside}{body}{line}{own}"));
    }
    let content = inner.slice(text);
    if content.trim().is_empty() {
        return Edit::replace(inner, format!("{line}{inside}{body}{line}{own}"));
    }
    // After text and comments: the child follows them, before their trailing white space.
    let content_end = inner.start + content.trim_end().len() as u32;
    let tail = if content.trim_end().len() == content.len() {
        format!("{line}{own}")
    } else {
        String::new()
    };
    Edit::insert(content_end, format!("{line}{inside}{body}{tail}"))
}

/// Adds a child before all others.
pub fn insert_first_child(element: Element<'_>, xml: &str) -> Edit {
    let text = element.document().text;
    match element.children().find(|node| !node.is_blank()) {
        Some(first)
            if matches!(
                first.kind(),
                NodeKind::Element | NodeKind::Comment | NodeKind::Instruction
            ) =>
        {
            insert_at(text, first.span().start, xml)
        }
        Some(_) | None => insert_child(element, xml),
    }
}

/// Adds a sibling before an element.
pub fn insert_before(element: Element<'_>, xml: &str) -> Edit {
    insert_at(element.document().text, element.span().start, xml)
}

/// Adds a sibling after an element.
pub fn insert_after(element: Element<'_>, xml: &str) -> Edit {
    let text = element.document().text;
    let end = element.span().end;
    match indent_before(text, element.span().start) {
        Some(own) => {
            let line = line_break_style(text);
            Edit::insert(end, format!("{line}{own}{}", indent_lines(xml, own, line)))
        }
        None => Edit::insert(end, xml),
    }
}

/// Removes an element, with its line if it is alone on it.
pub fn remove_element(element: Element<'_>) -> Edit {
    let text = element.document().text;
    let span = element.span();
    let Some(own) = indent_before(text, span.start) else {
        return Edit::delete(span);
    };
    let after = text.get(span.end as usize..).unwrap_or("");
    let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
    let rest = after.get(blank..).unwrap_or("");
    let line = if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(rest.starts_with(['\n', '\r']))
    };
    if line == 0 {
        return Edit::delete(span);
    }
    Edit::delete(Span::new(
        span.start - own.len() as u32,
        span.end + (blank + line) as u32,
    ))
}

/// Renames an element in both of its tags.
pub fn rename_element(element: Element<'_>, name: &str) -> Vec<Edit> {
    let mut edits = vec![Edit::replace(element.name_span(), name)];
    if let Some(tag) = element.end_tag() {
        let written = tag.slice(element.document().text);
        let body = written.trim_start_matches("</").trim_end_matches('>');
        let start = tag.start + 2 + (body.len() - body.trim_start().len()) as u32;
        edits.push(Edit::replace(
            Span::new(start, start + body.trim().len() as u32),
            name,
        ));
    }
    edits
}

/// Sets the value of an attribute; adds a missing one after the others.
pub fn set_attribute(element: Element<'_>, name: &str, value: &str) -> Edit {
    let value = escape_attribute(value);
    if let Some(attribute) = element.attribute(name) {
        let span = attribute.value_span();
        let text = element.document().text;
        let quoted = span
            .start
            .checked_sub(1)
            .is_some_and(|at| matches!(text.as_bytes().get(at as usize), Some(b'"' | b'\'')));
        return if quoted {
            Edit::replace(span, value)
        } else {
            Edit::replace(attribute.span(), format!("{name}=\"{value}\""))
        };
    }
    let last = element
        .attributes()
        .last()
        .map_or(element.name_span().end, |attribute| attribute.span().end);
    Edit::insert(last, format!(" {name}=\"{value}\""))
}

/// Replaces the content of an element with text written as XML.
pub fn set_content(element: Element<'_>, xml: &str) -> Edit {
    if element.is_empty_tag() {
        expand_empty_tag(element, xml)
    } else {
        Edit::replace(element.inner(), xml)
    }
}

/// Removes an attribute with the white space before it. `None` if it does not exist.
pub fn remove_attribute(element: Element<'_>, name: &str) -> Option<Edit> {
    let span = element.attribute(name)?.span();
    let before = element.document().text.get(..span.start as usize)?;
    Some(Edit::delete(Span::new(
        before.trim_ascii_end().len() as u32,
        span.end,
    )))
}

/// Inserts before the node at `start`, on a line of its own if the node begins a line.
fn insert_at(text: &str, start: u32, xml: &str) -> Edit {
    match indent_before(text, start) {
        Some(own) => {
            let line = line_break_style(text);
            Edit::insert(
                start,
                format!("{}{line}{own}", indent_lines(xml, own, line)),
            )
        }
        None => Edit::insert(start, xml),
    }
}

/// Inserts a child of an element in the middle of a line.
fn insert_inline(element: Element<'_>, xml: &str) -> Edit {
    if element.is_empty_tag() {
        expand_empty_tag(element, xml)
    } else {
        Edit::insert(element.inner().end, xml)
    }
}

/// `<a/>` becomes `<a>…</a>`.
fn expand_empty_tag(element: Element<'_>, content: &str) -> Edit {
    let text = element.document().text;
    let tag = element.start_tag();
    let written = tag
        .slice(text)
        .trim_end_matches('>')
        .trim_end_matches('/')
        .trim_end();
    let start = tag.start + written.len() as u32;
    Edit::replace(
        Span::new(start, tag.end),
        format!(">{content}</{}>", element.name()),
    )
}

/// The white space before `start` if nothing else precedes it on its line.
fn indent_before(text: &str, start: u32) -> Option<&str> {
    let before = text.get(..start as usize)?;
    let head = before.trim_end_matches([' ', '\t']);
    (head.is_empty() || head.ends_with(['\n', '\r']))
        .then(|| before.get(head.len()..).unwrap_or(""))
}

/// The indentation of an element's children, by the style of the file: the first element that
/// begins a line deeper than its parent decides.
fn child_indent(element: Element<'_>, own: &str) -> String {
    let text = element.document().text;
    let unit = element.document().elements().find_map(|other| {
        let inside = indent_before(text, other.span().start)?;
        let around = indent_before(text, other.parent()?.span().start)?;
        inside.strip_prefix(around).filter(|unit| !unit.is_empty())
    });
    let unit = unit.unwrap_or(if own.contains('\t') { "\t" } else { "  " });
    format!("{own}{unit}")
}

fn line_break_style(text: &str) -> &'static str {
    let first = text.find('\n').unwrap_or(0);
    if first > 0 && text.as_bytes().get(first - 1) == Some(&b'\r') {
        "\r\n"
    } else {
        "\n"
    }
}

/// Indents all lines but the first, with the line breaks of the file.
fn indent_lines(xml: &str, indent: &str, line: &str) -> String {
    let mut out = String::with_capacity(xml.len() + indent.len());
    for (at, part) in xml.lines().enumerate() {
        if at > 0 {
            out.push_str(line);
            if !part.is_empty() {
                out.push_str(indent);
            }
        }
        out.push_str(part);
    }
    out
}
