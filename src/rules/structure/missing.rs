//! CTX108–CTX110, CTX117, CTX123: missing attributes, elements, descriptions, values and types.

use super::structure_prelude::{has_few_children, has_misspelt_child, value_attribute, *};
use crate::settings::operators::Operator;
use crate::syntax::write::set_attribute;
use crate::template::model::{BodySlot, TaskBody};
use crate::template::nodes;
use crate::template::texts::TextRole;

/// Nothing can refer to an input without a name.
pub(super) static MISSING_ATTRIBUTE: Rule = Rule::new(
    meta!(
        error,
        108,
        "missing-attribute",
        "an element lacks a required attribute"
    ),
    Check::Template(report_missing_attribute),
);

fn report_missing_attribute(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::MissingAttribute { kind, name } = fault.kind else {
        return None;
    };
    if kind == ElementKind::Parameter && text_spans(fault.element).next().is_some() {
        // The name stands between the tags, which is reported.
        return None;
    }
    let mut found = file_finding(
        &MISSING_ATTRIBUTE.meta,
        cx,
        fault.span,
        format!("`<{}>` has no `{name}`", kind.tag()),
    );
    // No agent receives the text of an input without a name.
    found.locked |= kind == ElementKind::Input && text_spans(fault.element).next().is_some();
    Some(match kind.attribute(name) {
        Some(attribute) => found.help(format!("add {name}=\"…\": {}", attribute.doc)),
        None => found,
    })
}

/// An element without a required child cannot run.
pub(super) static MISSING_ELEMENT: Rule = Rule::new(
    meta!(
        error,
        109,
        "missing-element",
        "an element lacks a required child"
    ),
    Check::File(check_elements),
);

fn check_elements(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(
        cx.file
            .faults
            .iter()
            .filter_map(|fault| report_missing_child(cx, fault)),
    );
    nodes::visit_bodies(cx.file, |task, _| {
        let missing = body_operator(cx, task)
            .map_or(&[][..], Operator::required_children)
            .iter()
            .filter(|need| !has_part(task, **need));
        let missing: Vec<ElementKind> = missing
            .copied()
            .filter(|need| !has_misspelt_child(task.element, ElementKind::Task, *need))
            .collect();
        let is_whole = task.reference.is_none() && !task.element.is_damaged();
        if !missing.is_empty() && is_whole && !cx.file.has_unread_part(task.element) {
            out.push(incomplete_finding(cx, task, &missing));
        }
    });
}

/// Returns the type that determines the structure of a body. A part of another task has a type of
/// its own, not the type of the row that resolves it.
fn body_operator(cx: &FileCx<'_>, task: &TaskBody<'_>) -> Option<Operator> {
    match (task.slot.part_name(), &task.operator) {
        (None, _) => cx.bodies.get(task)?.operator,
        (Some(_), Some(written)) => Operator::parse(&written.value),
        (Some(_), None) => Some(Operator::Atomic),
    }
}

/// True if a task has a certain part.
fn has_part(task: &TaskBody<'_>, part: ElementKind) -> bool {
    let reduce = task.reduce.as_deref();
    let cycle = task.cycle.as_deref();
    let there = [
        (ElementKind::Steps, task.steps_element.is_some()),
        // An empty list is reported separately.
        (
            ElementKind::Inputs,
            task.element
                .elements()
                .any(|child| child.name() == ElementKind::Inputs.tag()),
        ),
        (
            ElementKind::InnerTask,
            reduce.is_some_and(|reduce| reduce.inner.is_some()),
        ),
        (
            ElementKind::ReductionTask,
            reduce.is_some_and(|reduce| reduce.reduction.is_some()),
        ),
        (
            ElementKind::Command,
            task.script
                .as_deref()
                .is_some_and(|script| script.command.is_some()),
        ),
        (
            ElementKind::Director,
            cycle.is_some_and(|cycle| cycle.director.is_some()),
        ),
        (
            ElementKind::Evaluator,
            cycle.is_some_and(|cycle| cycle.evaluator.is_some()),
        ),
    ];
    there.contains(&(part, true))
}

fn incomplete_finding(cx: &FileCx<'_>, task: &TaskBody<'_>, lacks: &[ElementKind]) -> Diagnostic {
    let names: Vec<String> = lacks
        .iter()
        .map(|kind| format!("`<{}>`", kind.tag()))
        .collect();
    let operator = task
        .operator
        .as_ref()
        .map_or("atomic", |operator| &*operator.value);
    let what = if task
        .operator
        .as_ref()
        .is_some_and(|written| written.span == task.head_span())
    {
        format!("`<{}>`", task.element.name())
    } else {
        format!("a task of type {operator}")
    };
    let mut found = file_finding(
        &MISSING_ELEMENT.meta,
        cx,
        task.head_span(),
        format!("{what} has no {}", names.join(" and no ")),
    );
    // A task without its parts calls no agent, so its text reaches none.
    found.locked = true;
    for kind in lacks {
        let doc = if *kind == ElementKind::Inputs {
            "what `<inner_task>` runs on, once for each"
        } else {
            kind.spec().doc
        };
        found = found.note(format!("`<{}>`: {doc}", kind.tag()));
    }
    match task.element.attribute("type") {
        Some(attribute) => found.label(attribute.span(), "the type asks for it"),
        None => found,
    }
}

fn report_missing_child(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::MissingChild { kind, child } = fault.kind else {
        return None;
    };
    // The child may be inside an unread part, or replaced by text, which is reported.
    let is_text = || text_spans(fault.element).next().is_some();
    let is_unread = |element: &Element<'_>| {
        element
            .parent()
            .is_some_and(|parent| parent.id() == fault.element.id())
    };
    if has_misspelt_child(fault.element, kind, child)
        || is_text()
        || cx
            .file
            .unread_elements_in(fault.element)
            .iter()
            .any(is_unread)
    {
        return None;
    }
    let tag = kind.tag();
    let child_tag = child.tag();
    let (message, help) = if kind == ElementKind::Steps {
        (
            "`<steps>` holds no step".to_owned(),
            "add a <task>, a <call> or a <cond>".to_owned(),
        )
    } else {
        (
            format!("`<{tag}>` has no `<{child_tag}>`"),
            format!("add <{child_tag}>: {}", child.spec().doc),
        )
    };
    Some(file_finding(&MISSING_ELEMENT.meta, cx, fault.span, message).help(help))
}

/// Context is looked up by the description; without one there is no query.
pub(super) static MISSING_DESCRIPTION: Rule = Rule::new(
    meta!(
        error,
        110,
        "missing-description",
        "a task has no description"
    ),
    Check::Node(check_description),
);

fn check_description(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let task = cx.task;
    if let Some(text) = &task.description {
        if let Some(src) = text.src.as_ref().filter(|src| {
            cx.cx
                .scopes
                .blank
                .contains(&(TextRole::Description, src.span))
        }) {
            let message = format!(
                "the description is empty: `{}` holds no words",
                super::structure_prelude::short_excerpt(&src.value)
            );
            let found = file_finding(&MISSING_DESCRIPTION.meta, cx.cx, src.span, message);
            out.push(found.help("say in a sentence what the task is for"));
        }
        if text.src.is_none()
            && text.element.elements().next().is_none()
            && text_spans(text.element).next().is_none()
            && !text.element.is_damaged()
        {
            let found = file_finding(
                &MISSING_DESCRIPTION.meta,
                cx.cx,
                text.element.span(),
                "the description is empty",
            );
            out.push(found.help("say in a sentence what the task is for"));
        }
        return;
    }
    let brings_its_own = task.reference.is_some() || task.slot == BodySlot::ScriptExecution;
    // Text outside all elements, or a misspelt element name, is reported: it contains the
    // description.
    let elsewhere = has_misspelt_child(task.element, ElementKind::Task, ElementKind::Description)
        || task
            .element
            .attribute(ElementKind::Description.tag())
            .is_some()
        || text_spans(task.element).next().is_some();
    if brings_its_own || elsewhere || task.element.is_damaged() {
        return;
    }
    let what = match &task.name {
        Some(name) => format!(
            "the task `{}`",
            super::structure_prelude::short_excerpt(&name.value)
        ),
        None if task.element.name() == ElementKind::Task.tag() => "this task".to_owned(),
        None => format!("`<{}>`", task.element.name()),
    };
    let found = file_finding(
        &MISSING_DESCRIPTION.meta,
        cx.cx,
        task.head_span(),
        format!("{what} has no description"),
    );
    out.push(found.help("add a <description> that says in a sentence what the task is for"));
}

/// Harmless, but leaves readers of the template to guess.
pub(super) static MISSING_TYPE: Rule = Rule::new(
    meta!(hint, 123, "missing-type", "a task has no type").with_fix(Fixable::Suggested),
    Check::Node(check_type),
);

fn check_type(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let task = cx.task;
    // A root with another name is not a task.
    let is_root = matches!(task.slot, BodySlot::Root | BodySlot::Template)
        && task.element.name() == ElementKind::Task.tag();
    // Parts of another type are an error of their own.
    let has_parts = task.steps_element.is_some()
        || task.reduce.is_some()
        || task.script.is_some()
        || task.cycle.is_some();
    let is_written = task.operator.is_some() || task.element.attribute("type").is_some();
    if !is_root || is_written || has_parts || task.reference.is_some() || task.element.is_damaged()
    {
        return;
    }
    let edits = vec![set_attribute(task.element, "type", "atomic")];
    out.push(
        file_finding(
            &MISSING_TYPE.meta,
            cx.cx,
            task.head_span(),
            "this task has no type, which makes it atomic",
        )
        .fix(Fix::suggested("write type=\"atomic\"", edits)),
    );
}

/// A missing value is never rendered as an empty text.
pub(super) static MISSING_VALUE: Rule = Rule::new(
    meta!(
        locked_error,
        117,
        "missing-value",
        "an input or argument without a value"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report_missing_value),
);

fn report_missing_value(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::NoContent { kind } = fault.kind else {
        return None;
    };
    if value_attribute(fault.element).is_some() {
        return None;
    }
    let name = fault
        .element
        .attribute("name")
        .map(|name| name.value().trim().to_owned());
    let message = match &name {
        Some(name) => {
            let what = if kind == ElementKind::CallArg {
                "argument"
            } else {
                "input"
            };
            format!("the {what} `{}` has no value", short_excerpt(name))
        }
        None => format!("`<{}>` has no value", kind.tag()),
    };
    let found = file_finding(&MISSING_VALUE.meta, cx, fault.span, message)
        .help("give it from=\"…\", a text, or a task whose result it is");
    let declared = name.filter(|name| is_declared(fault.element, name, &["parameters"]));
    Some(match declared {
        Some(name) => {
            let edits = vec![set_attribute(fault.element, "from", &name)];
            found.fix(Fix::suggested(
                format!("take it from the parameter `{}`", short_excerpt(&name)),
                edits,
            ))
        }
        None => found,
    })
}

/// True if a list in an enclosing task declares the name.
pub(in crate::rules) fn is_declared(element: Element<'_>, name: &str, lists: &[&str]) -> bool {
    declared_names(element, lists).any(|own| own == name)
}

/// Returns the names declared by such lists, and the parameters of a function.
pub(in crate::rules) fn declared_names(
    element: Element<'_>,
    lists: &[&str],
) -> impl Iterator<Item = String> {
    let around = || std::iter::successors(element.parent(), |element| element.parent());
    let params = around()
        .filter_map(|template| template.attribute("params"))
        .map(|params| params.value().into_owned());
    let params = params.flat_map(|params| {
        params
            .split([',', ' ', '\n'])
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let lists = around()
        .filter(|around| has_few_children(*around))
        .flat_map(|task| {
            task.elements()
                .filter(|child| lists.contains(&child.name()))
        });
    let entries = lists
        .filter(|list| has_few_children(*list))
        .flat_map(Element::elements);
    params
        .chain(entries.filter_map(|entry| Some(entry.attribute("name")?.value().trim().to_owned())))
}
