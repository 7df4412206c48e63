//! CTX403: an element of an older dialect, which has no effect.

use crate::rules::prelude::*;
use crate::rules::structure::family::{finding, is_small, shown};
use crate::syntax::is_ncname;
use crate::syntax::tree::Element;
use crate::syntax::write::{remove_element, rename_element, set_attribute};
use crate::template::elements::Kind;
use crate::template::fault::{Fault, FaultKind};

/// Stays in the registry, but nothing reads it.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        403,
        "deprecated-element",
        "an element of an older dialect, without effect"
    )
    .fixed(Fixable::Safe),
    Check::Template(word),
);

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::Deprecated { kind } = fault.kind else {
        return None;
    };
    let tag = kind.tag();
    let found = finding(
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
        let is_switch = matches!(kind, Kind::ManualXml | Kind::DisableReparsing);
        let fix = if is_switch { Fix::safe } else { Fix::suggested };
        return Some(found.fix(fix("remove it", vec![remove_whole(fault.element)])));
    }
    if kind == Kind::OutputSlot {
        return Some(slot(found, fault.element));
    }
    let says_what_is_good = matches!(kind, Kind::ExpectedOutput | Kind::ValidationRules);
    if says_what_is_good && can_be_criteria(fault.element) {
        let rename = rename_element(fault.element, Kind::Criteria.tag());
        return Some(found.fix(Fix::suggested("make it the <criteria>", rename)));
    }
    // A text of the author's: only the author can decide its new place.
    Some(found)
}

/// Removes an element, and the list around it if the list would be empty.
fn remove_whole(element: Element<'_>) -> Edit {
    let list = element.parent().filter(|list| {
        let is_body = list.parent().is_none()
            || Kind::homes(element.name()).any(|home| home.is_body() && home.tag() == list.name());
        !is_body
            && list.elements().nth(1).is_none()
            && list.attributes().next().is_none()
            && list.text().trim().is_empty()
    });
    remove_element(list.unwrap_or(element))
}

/// Moves the slot of a step to its `as`.
fn slot(found: Diagnostic, element: Element<'_>) -> Diagnostic {
    let name = element.text().trim().to_owned();
    let step = element.parent().filter(|task| {
        task.parent()
            .is_some_and(|around| around.name() == Kind::Steps.tag())
    });
    match step.filter(|step| step.attribute("as").is_none() && is_ncname(&name)) {
        Some(step) => {
            let edits = vec![set_attribute(step, "as", &name), remove_whole(element)];
            found.fix(Fix::suggested(
                format!("write as=\"{}\" on the step", shown(&name)),
                edits,
            ))
        }
        None => found,
    }
}

/// True if the element's text can become the task's criteria: the task has none yet, and the
/// element contains nothing else.
fn can_be_criteria(element: Element<'_>) -> bool {
    if !element.parent().is_some_and(is_small) {
        return false;
    }
    let has_criteria = element.parent().is_some_and(|task| {
        task.elements()
            .any(|child| child.name() == Kind::Criteria.tag())
    });
    let first = element.parent().and_then(|task| {
        task.elements().find(|child| {
            [Kind::ExpectedOutput.tag(), Kind::ValidationRules.tag()].contains(&child.name())
        })
    });
    !has_criteria
        && first.is_some_and(|first| first.id() == element.id())
        && element.elements().next().is_none()
        && element.attributes().next().is_none()
        && !element.text().trim().is_empty()
}
