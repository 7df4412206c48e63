//! Describes the source of a variable's value: the parameter, the input, the step.

use super::variables::{self, VariableAtCursor};
use super::{docs, implicit_names};
use crate::lsp::prelude::*;
use crate::syntax::tree::Element;
use crate::template::names::DefinitionKind;
use crate::template::scope::UseTarget;

/// Describes the variable at the cursor and the source of its value.
pub(in crate::lsp) fn describe_variable(
    project: &ProjectState,
    pointed: &VariableAtCursor,
) -> Option<String> {
    let file = &pointed.variable.file;
    let name = &pointed.name;
    match pointed.variable.target {
        UseTarget::Language => Some(format!("`{name}` — {}", implicit_names::meaning(name)?)),
        UseTarget::Free(owner) => {
            let owner = project
                .template(file)?
                .facts
                .definitions
                .get(owner as usize)?;
            let kind = owner.kind.word();
            let of = &owner.name;
            Some(format!(
                "`{name}` — nothing in {kind} `{of}` declares it: whoever uses the {kind} gives its value"
            ))
        }
        UseTarget::Bound(span) => {
            let own = variables::known_trace(project, file)?;
            let limits = &project.config.limits;
            let about = project.read.with_tree(file, &own.text, limits, |document| {
                let element = document.element_at(span.start)?;
                Some(describe_binding(project, element))
            });
            let line = own.lines.position(&own.text, span.start).line;
            about.map(|about| format!("`{name}` — {about}\n\n`{file}:{line}`"))
        }
    }
}

/// Describes the value of a name that an element binds.
pub(in crate::lsp) fn describe_binding(project: &ProjectState, element: Element<'_>) -> String {
    let attribute = |name: &str| {
        element
            .attribute(name)
            .map(|attribute| attribute.value().trim().to_owned())
    };
    match element.name() {
        "parameter" => {
            let default = attribute("default");
            let required =
                attribute("required").map_or(default.is_none(), |required| required == "true");
            let mut traits: Vec<String> = attribute("type").into_iter().collect();
            traits.push(if required {
                "required".to_owned()
            } else {
                "optional".to_owned()
            });
            traits.extend(default.map(|default| format!("default `{}`", docs::shorten(&default))));
            traits.extend(attribute("trust").filter(|trust| trust == "untrusted"));
            format!(
                "parameter of {}: {}",
                describe_holder(element),
                traits.join(", ")
            )
        }
        "template" => format!("parameter of {}: required", describe_element(element)),
        "input" => format!(
            "input of {}: {}",
            describe_holder(element),
            describe_input_value(element)
        ),
        _ => format!("result of {}", describe_step(project, element)),
    }
}

/// Describes the source of an input's value.
fn describe_input_value(input: Element<'_>) -> String {
    if let Some(from) = input.attribute("from") {
        return format!("the value of `{}`", from.value().trim());
    }
    if let Some(src) = input.attribute("src") {
        return format!("the text in `{}`", src.value().trim());
    }
    if let Some(inner) = input
        .elements()
        .find(|inner| matches!(inner.name(), "task" | "call"))
    {
        return format!("the result of {}", describe_element(inner));
    }
    match docs::shorten(&input.text()) {
        text if text.is_empty() => "no value yet".to_owned(),
        text => format!("the text “{text}”"),
    }
}

/// Describes a step: “step 2 of task `new`: task `triage`, which …”.
fn describe_step(project: &ProjectState, element: Element<'_>) -> String {
    let place = element
        .parent()
        .filter(|parent| parent.name() == "steps")
        .and_then(|steps| {
            let at = steps.elements().position(|own| own.id() == element.id())?;
            Some(format!(
                "step {} of {}: ",
                at + 1,
                steps
                    .parent()
                    .map_or_else(|| "a task".to_owned(), describe_element)
            ))
        });
    let index = project.index();
    let used = match element.name() {
        "task" => element
            .attribute("ref")
            .map(|name| (DefinitionKind::Task, name)),
        "call" => element
            .attribute("template")
            .map(|name| (DefinitionKind::Template, name)),
        _ => None,
    };
    let used = used.and_then(|(kind, name)| index.find_definition(kind, name.value().trim()));
    let about = used
        .and_then(|id| docs::definition_doc(project, &index, id))
        .map(|(_, about)| about);
    let own = || {
        element
            .elements()
            .find(|own| own.name() == "description")
            .map(|own| docs::shorten(&own.text()))
    };
    let about = about.or_else(own).filter(|about| !about.is_empty());
    let about = about
        .map(|about| format!("\n\n{about}"))
        .unwrap_or_default();
    format!(
        "{}{}{about}",
        place.unwrap_or_default(),
        describe_element(element)
    )
}

/// Describes the task or template in which an element is declared.
fn describe_holder(element: Element<'_>) -> String {
    let mut around = place::ancestors(element.parent());
    around
        .find(|element| !matches!(element.name(), "parameters" | "inputs"))
        .map_or_else(|| "a task".to_owned(), describe_element)
}

/// Describes an element by its name: “task `review`”, “`inner_task`”, “a call of `f`”.
fn describe_element(element: Element<'_>) -> String {
    let attribute = |name: &str| {
        element
            .attribute(name)
            .map(|attribute| attribute.value().trim().to_owned())
    };
    match element.name() {
        "task" => match attribute("ref").or_else(|| attribute("name")) {
            Some(name) => format!("task `{name}`"),
            None => "a task in this place".to_owned(),
        },
        "template" => format!("template `{}`", attribute("name").unwrap_or_default()),
        "call" => format!("a call of `{}`", attribute("template").unwrap_or_default()),
        "cond" => "the first case whose test holds".to_owned(),
        other => format!("`{other}`"),
    }
}
