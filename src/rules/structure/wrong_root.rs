//! CTX101: a file whose root is not an element of the language.

use super::structure_prelude::*;
use crate::syntax::write::{remove_attribute, rename_element};
use crate::template;

/// Nothing in such a file reaches an agent.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        101,
        "wrong-root",
        "the root is not a task, template or library"
    )
    .with_fix(Fixable::Suggested),
    Check::Template(report),
);

const ROOTS: [&str; 3] = ["task", "template", "library"];

fn report(cx: &FileCx<'_>, fault: &TemplateFault<'_>) -> Option<Diagnostic> {
    let TemplateFaultKind::WrongRoot = fault.kind else {
        return None;
    };
    let name = fault.element.name();
    if let (Some(namespace), true) = (
        fault.element.namespace(),
        ROOTS.contains(&fault.element.local_name()),
    ) {
        let message = format!(
            "`<{name}>` is in the namespace `{}`, and elements of the language are in none",
            short_excerpt(namespace)
        );
        let fix = remove_attribute(fault.element, "xmlns")
            .map(|edit| Fix::suggested("remove the namespace", vec![edit]));
        let mut found = file_finding(&RULE.meta, cx, fault.span, message);
        found.fixes.extend(fix);
        return Some(found);
    }
    let message = format!(
        "`<{}>` cannot be a template's root; expected `<task>`, `<template>` or `<library>`",
        short_excerpt(name)
    );
    let found = file_finding(&RULE.meta, cx, fault.span, message);
    if let Some(meant) = template::root_kind(fault.element).map(ElementKind::tag) {
        let fix = Fix::suggested(
            format!("write <{meant}>"),
            rename_element(fault.element, meant),
        );
        return Some(found.help(format!("did you mean `<{meant}>`?")).fix(fix));
    }
    if ElementKind::parents_of_tag(name).next().is_some() {
        return Some(found.help(format!("put `<{name}>` into the task that it belongs to")));
    }
    Some(found.help("check the folder instead of the file to leave files of other kinds out"))
}
