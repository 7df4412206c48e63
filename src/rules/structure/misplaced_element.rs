//! CTX103: an element in a place where it has no meaning.

use super::structure_prelude::{file_line_break, has_few_children, *};
use crate::syntax::write::{insert_child, insert_first_child, remove_element};

/// The meaning of a tag depends on its place. In a place without meaning it would be ignored.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        103,
        "misplaced-element",
        "an element of the language in the wrong place"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let name = fault.element.name();
    if let TemplateFaultKind::UnknownElement {
        parent,
        known_elsewhere: true,
        ..
    } = fault.kind
    {
        return report_known_elsewhere(cx, fault, parent);
    }
    let TemplateFaultKind::MisplacedElement { parent } = fault.kind else {
        return None;
    };
    let message = format!(
        "`<{}>` is inside `<{}>`, which holds one word or line",
        short_excerpt(name),
        parent.tag()
    );
    Some(file_finding(&RULE.meta, cx, fault.span, message).help(describe_homes(name)))
}

fn report_known_elsewhere(
    cx: &FileCx<'_>,
    fault: &TemplateFault<'_>,
    parent: ElementKind,
) -> Option<Diagnostic> {
    let name = fault.element.name();
    let message = format!("`<{name}>` is not allowed directly in `<{}>`", parent.tag());
    let found = file_finding(&RULE.meta, cx, fault.span, message);
    let of_body = |home: &ElementKind| {
        parent
            .child(home.tag())
            .filter(|own| !home.is_body() && own.kind == *home)
    };
    let Some(child) = ElementKind::parents_of_tag(name).find_map(|home| of_body(&home)) else {
        return Some(found.help(describe_homes(name)));
    };
    let home = child.kind;
    let found = found.help(if name == "output" {
        describe_homes(name)
    } else {
        format!("it belongs in `<{}>`", home.tag())
    });
    let around = fault.element.parent()?;
    let (title, edits) = if child.is_repeatable {
        let run = adjacent_parts(around, fault.element, home);
        if run
            .first()
            .is_some_and(|first| first.id() != fault.element.id())
        {
            // Several elements that lack their common parent are one mistake.
            return None;
        }
        let tags = run
            .iter()
            .map(|element| format!("<{}>", element.name()))
            .collect::<Vec<_>>()
            .join(" and ");
        (
            format!("put {tags} into a new <{}>", home.tag()),
            run.last().and_then(|last| {
                let span = Span::new(fault.element.span().start, last.span().end);
                wrap_elements(cx, around, span, home)
            }),
        )
    } else {
        (
            format!("move it into <{}>", home.tag()),
            move_into_sibling(cx, around, fault.element, home),
        )
    };
    Some(match edits {
        Some(edits) => found.fix(Fix::suggested(title, edits)),
        None => found,
    })
}

/// Returns the adjacent elements that form one `home`, at most one of each name: the parts of an
/// example.
fn adjacent_parts<'d>(
    parent: Element<'d>,
    element: Element<'d>,
    home: ElementKind,
) -> Vec<Element<'d>> {
    let mut run: Vec<Element<'d>> = Vec::new();
    for other in parent.elements() {
        let is_new = run.iter().all(|before| before.name() != other.name());
        if !is_new || home.child(other.name()).is_none() {
            if run.iter().any(|before| before.id() == element.id()) {
                break;
            }
            run.clear();
        }
        if home.child(other.name()).is_some() {
            run.push(other);
        }
    }
    run
}

/// Moves an element into a sibling, which is created if it does not exist. Only the first of
/// several elements creates it.
fn move_into_sibling(
    cx: &FileCx<'_>,
    parent: Element<'_>,
    element: Element<'_>,
    home: ElementKind,
) -> Option<Vec<Edit>> {
    if !has_few_children(parent) {
        return None;
    }
    let xml = element.span().slice(cx.document.text);
    if let Some(block) = parent
        .elements()
        .find(|other| other.namespace().is_none() && other.name() == home.tag())
    {
        if !has_few_children(block) {
            return None;
        }
        if element.span().start > block.span().start {
            return Some(vec![insert_child(block, xml), remove_element(element)]);
        }
        // Elements before the block move to its front, last one first, so that their order stays.
        let before = parent
            .elements()
            .take_while(|other| other.id() != block.id());
        let last = before
            .filter(|other| other.name() == element.name())
            .last()?;
        return (last.id() == element.id())
            .then(|| vec![insert_first_child(block, xml), remove_element(element)]);
    }
    let first = parent
        .elements()
        .find(|other| other.name() == element.name())?;
    if first.id() != element.id() {
        return None;
    }
    wrap_elements(cx, parent, element.span(), home)
}

/// Wraps the elements of a span in a new element.
fn wrap_elements(
    cx: &FileCx<'_>,
    parent: Element<'_>,
    whole: Span,
    home: ElementKind,
) -> Option<Vec<Edit>> {
    if !has_few_children(parent) || home.attributes().any(|attribute| attribute.required) {
        return None;
    }
    let (line, tag) = (file_line_break(cx), home.tag());
    let xml = whole.slice(cx.document.text);
    let wrapped = match cx.line_indent(whole.start) {
        Some(own) => format!("<{tag}>{line}{own}  {xml}{line}{own}</{tag}>"),
        None => format!("<{tag}>{xml}</{tag}>"),
    };
    Some(vec![Edit::replace(whole, wrapped)])
}

fn describe_homes(name: &str) -> String {
    if name == "output" {
        return "set the form of an answer by `<output_format type=\"…\"/>`; the answer of an example belongs in `<example>`"
            .to_owned();
    }
    let homes = list_tags(
        ElementKind::parents_of_tag(name).filter(|home| !(home.is_body() && name == "task")),
    );
    if homes.is_empty() {
        "only text is allowed there".to_owned()
    } else {
        format!("it belongs in {homes}")
    }
}
