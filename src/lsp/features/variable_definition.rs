//! Describes the source of a variable's value: the parameter, the input, the step.

use super::docs;
use super::implicit_names;
use super::variables::VariableAtCursor;
use crate::lsp::prelude::*;
use crate::syntax::tree::Element;
use crate::template::names::DefinitionKind;
use crate::template::scope::Target;

/// Describes the variable at the cursor and the source of its value.
pub(in crate::lsp) fn describe(
    project: &ProjectState,
    pointed: &VariableAtCursor,
) -> Option<String> {
    let file = &pointed.variable.file;
    let name = &pointed.name;
    match pointed.variable.target {
        Target::Language => Some(format!("`{name}` — {}", implicit_names::meaning(name)?)),
        Target::Free(owner) => {
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
        Target::Bound(span) => {
            let (text, lines) = project.text(file)?;
            let about = place::with(&text, &project.config.limits, |document| {
                let element = document.element_at(span.start)?;
                Some(of(project, element))
            });
            let line = lines.position(&text, span.start).line;
            about.map(|about| format!("`{name}` — {about}\n\n`{file}:{line}`"))
        }
    }
}

/// Describes the value of a name that an element binds.
pub(in crate::lsp) fn of(project: &ProjectState, element: Element<'_>) -> String {
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
            traits
                .extend(default.map(|default| format!("default `{}`", docs::shortened(&default))));
            traits.extend(attribute("trust").filter(|trust| trust == "untrusted"));
            format!("parameter of {}: {}", holder(element), traits.join(", "))
        }
        "template" => format!("parameter of {}: required", named(element)),
        "input" => format!("input of {}: {}", holder(element), value(element)),
        _ => format!("result of {}", step(project, element)),
    }
}

/// Describes the source of an input's value.
fn value(input: Element<'_>) -> String {
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
        return format!("the result of {}", named(inner));
    }
    match docs::shortened(&input.text()) {
        text if text.is_empty() => "no value yet".to_owned(),
        text => format!("the text “{text}”"),
    }
}

/// Describes a step: “step 2 of task `new`: task `triage`, which …”.
fn step(project: &ProjectState, element: Element<'_>) -> String {
    let place = element
        .parent()
        .filter(|parent| parent.name() == "steps")
        .and_then(|steps| {
            let at = steps.elements().position(|own| own.id() == element.id())?;
            Some(format!(
                "step {} of {}: ",
                at + 1,
                steps.parent().map_or_else(|| "a task".to_owned(), named)
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
    let used = used.and_then(|(kind, name)| index.find(kind, name.value().trim()));
    let about = used
        .and_then(|id| docs::of(project, &index, id))
        .map(|(_, about)| about);
    let own = || {
        element
            .elements()
            .find(|own| own.name() == "description")
            .map(|own| docs::shortened(&own.text()))
    };
    let about = about.or_else(own).filter(|about| !about.is_empty());
    let about = about
        .map(|about| format!("\n\n{about}"))
        .unwrap_or_default();
    format!("{}{}{about}", place.unwrap_or_default(), named(element))
}

/// Describes the task or template in which an element is declared.
fn holder(element: Element<'_>) -> String {
    let mut around = place::around(element.parent());
    around
        .find(|element| !matches!(element.name(), "parameters" | "inputs"))
        .map_or_else(|| "a task".to_owned(), named)
}

/// Describes an element by its name: “task `review`”, “`inner_task`”, “a call of `f`”.
fn named(element: Element<'_>) -> String {
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
