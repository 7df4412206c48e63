//! CTX105: an element that belongs to another type of task.

use super::structure_prelude::*;
use crate::settings::operators::Operator;
use crate::syntax::write::set_attribute;
use crate::template::elements::OwnerType;
use crate::template::nodes;

/// Steps of a task of another type would never run.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        105,
        "other-type",
        "an element that belongs to another type of task"
    )
    .with_fix(Fixable::Suggested),
    Check::TemplateAndFile(report, check_scripts),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::WrongType {
        kind,
        of: OwnerType::Type(of),
        found: written,
    } = fault.kind
    else {
        return None;
    };
    let task = fault.element.parent()?;
    // The type of a task whose start tag is missing is unknown; the tag is reported.
    if has_earlier_of_type(task, fault.element, of) || task.start_tag().is_empty() {
        return None;
    }
    let tag = kind.tag();
    let is_task = task.name() == ElementKind::Task.tag();
    let declared = match written {
        // An undeclared type is reported separately.
        Some("") => Some(declared_type(cx, task).filter(|(_, base)| *base != of)?),
        _ => None,
    };
    let message = match (&declared, written) {
        (Some((name, base)), _) => {
            format!(
                "`<{tag}>` belongs to type {of}, but this task is of type {}, which is built on {base}",
                short_excerpt(name)
            )
        }
        (None, Some(found)) => {
            format!("`<{tag}>` belongs to type {of}, but this task is of type {found}")
        }
        (None, None) if is_task => format!(
            "`<{tag}>` belongs to type {of}, but this task has no type, which makes it atomic"
        ),
        (None, None) => format!(
            "`<{tag}>` belongs to type {of}, but `<{}>` is an atomic task",
            task.name()
        ),
    };
    let mut found = file_finding(&RULE.meta, cx, fault.span, message);
    if let Some(attribute) = task.attribute("type") {
        found = found.label(attribute.span(), "the type is written here");
    }
    if !is_task {
        return Some(found.help(format!(
            "move it into a task of type {of}, and use that one by `ref` or `call`"
        )));
    }
    let own: Vec<&str> = ElementKind::Task
        .spec()
        .children
        .iter()
        .filter(|child| child.owner == OwnerType::Type(of))
        .map(|child| child.kind.tag())
        .collect();
    let found = found.note(format!("type {of} has {}", name_choice(own)));
    if declared.is_some() {
        return Some(found.help(format!(
            "give the task a type that is built on {of}, or take `<{tag}>` out"
        )));
    }
    Some(found.fix(Fix::suggested(
        format!("make it type=\"{of}\""),
        vec![set_attribute(task, "type", of)],
    )))
}

/// Returns the declared type of a task, and the type that it is built on.
fn declared_type(cx: &FileCx<'_>, task: Element<'_>) -> Option<(String, &'static str)> {
    let name = task.attribute("type")?.value().trim().to_owned();
    let row = cx.config.layers.find_row(&name, None)?;
    Some((name, cx.config.layers.get(row).base().word()))
}

/// True if an earlier element belongs to the same other type, because one wrong type is one fault.
fn has_earlier_of_type(task: Element<'_>, element: Element<'_>, of: &str) -> bool {
    let before = task
        .elements()
        .take_while(|other| other.id() != element.id());
    before
        .filter(|other| other.namespace().is_none())
        .any(|other| {
            ElementKind::Task
                .child(other.name())
                .is_some_and(|child| matches!(child.owner, OwnerType::Type(name) if name == of))
        })
}

/// Elements that only an agent reads.
const AGENT_ELEMENTS: &[ElementKind] = &[
    ElementKind::System,
    ElementKind::Instructions,
    ElementKind::Criteria,
    ElementKind::Constraints,
    ElementKind::Examples,
    ElementKind::History,
    ElementKind::Provider,
    ElementKind::Model,
    ElementKind::Sampling,
];

/// Reports elements for an agent in a script, which calls none.
fn check_scripts(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    nodes::visit_bodies(cx.file, |task, _| {
        if task.reference.is_some()
            || cx.bodies.get(task).and_then(|body| body.operator) != Some(Operator::Script)
        {
            return;
        }
        let is_unread = |child: &Element<'_>| {
            child.namespace().is_none()
                && AGENT_ELEMENTS.iter().any(|kind| kind.tag() == child.name())
        };
        let mut unread = task.element.elements().filter(is_unread);
        let Some(first) = unread.next() else { return };
        let message = format!(
            "`<{}>` is for an agent, but a script calls none: nobody reads it",
            first.name()
        );
        let found = file_finding(&RULE.meta, cx, first.name_span(), message);
        let others = unread.fold(found, |found, other| {
            found.label(other.name_span(), "nor this")
        });
        out.push(
            others.help(
                "move it into the task whose agent reads the script's result, or take it out",
            ),
        );
    });
}
