//! CTX403: an element of an older dialect, which has no effect.

use crate::rules::prelude::*;
use crate::rules::structure::structure_prelude::{file_finding, has_few_children, short_excerpt};
use crate::syntax::is_ncname;
use crate::syntax::tree::Element;
use crate::syntax::write::{remove_element, rename_element, set_attribute};
use crate::template::elements::ElementKind;
use crate::template::fault::{TemplateFault, TemplateFaultKind};

/// Stays in the registry, but nothing reads it.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        403,
        "deprecated-element",
        "an element of an older dialect, without effect"
    )
    .with_fix(Fixable::Safe),
    Check::Template(report),
);

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::Deprecated { kind } = fault.kind else {
        return None;
    };
    let tag = kind.tag();
    let found = file_finding(
        &RULE.meta,
        cx,
        fault.span,
        format!("`<{tag}>` is of an older dialect and has no effect"),
    );
    let instead = kind.spec().deprecated.unwrap_or("nothing");
    let found = if instead.starts_with("nothing") {
        found
    } else {
        found.help(format!("write instead: {instead}"))
    };
    if matches!(fault.element.text().trim(), "" | "true" | "false")
        && fault.element.elements().next().is_none()
    {
        let is_switch = matches!(kind, ElementKind::ManualXml | ElementKind::DisableReparsing);
        let fix = if is_switch { Fix::safe } else { Fix::suggested };
        return Some(found.fix(fix(
            "remove it",
            vec![remove_with_empty_list(fault.element)],
        )));
    }
    if kind == ElementKind::OutputSlot {
        return Some(fix_output_slot(found, fault.element));
    }
    let says_what_is_good = matches!(
        kind,
        ElementKind::ExpectedOutput | ElementKind::ValidationRules
    );
    if says_what_is_good && can_become_criteria(fault.element) {
        let rename = rename_element(fault.element, ElementKind::Criteria.tag());
        return Some(found.fix(Fix::suggested("make it the <criteria>", rename)));
    }
    // A text of the author's: only the author can decide its new place.
    Some(found)
}

/// Removes an element, and the list around it if the list would be empty.
fn remove_with_empty_list(element: Element<'_>) -> Edit {
    let list = element.parent().filter(|list| {
        let is_body = list.parent().is_none()
            || ElementKind::parents_of_tag(element.name())
                .any(|home| home.is_body() && home.tag() == list.name());
        !is_body
            && list.elements().nth(1).is_none()
            && list.attributes().next().is_none()
            && list.text().trim().is_empty()
    });
    remove_element(list.unwrap_or(element))
}

/// Moves the slot of a step to its `as`.
fn fix_output_slot(found: Diagnostic, element: Element<'_>) -> Diagnostic {
    let name = element.text().trim().to_owned();
    let step = element.parent().filter(|task| {
        task.parent()
            .is_some_and(|around| around.name() == ElementKind::Steps.tag())
    });
    match step.filter(|step| step.attribute("as").is_none() && is_ncname(&name)) {
        Some(step) => {
            let edits = vec![
                set_attribute(step, "as", &name),
                remove_with_empty_list(element),
            ];
            found.fix(Fix::suggested(
                format!("write as=\"{}\" on the step", short_excerpt(&name)),
                edits,
            ))
        }
        None => found,
    }
}

/// True if the element's text can become the task's criteria: the task has none yet, and the
/// element contains nothing else.
fn can_become_criteria(element: Element<'_>) -> bool {
    if !element.parent().is_some_and(has_few_children) {
        return false;
    }
    let has_criteria = element.parent().is_some_and(|task| {
        task.elements()
            .any(|child| child.name() == ElementKind::Criteria.tag())
    });
    let first = element.parent().and_then(|task| {
        task.elements().find(|child| {
            [
                ElementKind::ExpectedOutput.tag(),
                ElementKind::ValidationRules.tag(),
            ]
            .contains(&child.name())
        })
    });
    !has_criteria
        && first.is_some_and(|first| first.id() == element.id())
        && element.elements().next().is_none()
        && element.attributes().next().is_none()
        && !element.text().trim().is_empty()
}
