//! CTX101: a file whose root is not an element of the language.

use super::prelude::*;
use crate::syntax::write::{remove_attribute, rename_element};

/// Nothing in such a file reaches an agent.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        101,
        "wrong-root",
        "the root is not a task, template or library"
    )
    .fixed(Fixable::Suggested),
    Check::Template(word),
);

const ROOTS: [&str; 3] = ["task", "template", "library"];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::WrongRoot = fault.kind else {
        return None;
    };
    let name = fault.element.name();
    if let (Some(namespace), true) = (
        fault.element.namespace(),
        ROOTS.contains(&fault.element.local()),
    ) {
        let message = format!(
            "`<{name}>` is in the namespace `{}`, and elements of the language are in none",
            shown(namespace)
        );
        let fix = remove_attribute(fault.element, "xmlns")
            .map(|edit| Fix::suggested("remove the namespace", vec![edit]));
        let mut found = finding(&RULE.meta, cx, fault.span, message);
        found.fixes.extend(fix);
        return Some(found);
    }
    let message = format!(
        "`<{}>` cannot be a template's root; expected `<task>`, `<template>` or `<library>`",
        shown(name)
    );
    let found = finding(&RULE.meta, cx, fault.span, message);
    if let Some(meant) = nearest(fault.element.local(), ROOTS) {
        let fix = Fix::suggested(
            format!("write <{meant}>"),
            rename_element(fault.element, meant),
        );
        return Some(found.help(format!("did you mean `<{meant}>`?")).fix(fix));
    }
    if Kind::homes(name).next().is_some() {
        return Some(found.help(format!("put `<{name}>` into the task that it belongs to")));
    }
    Some(found.help("check the folder instead of the file to leave files of other kinds out"))
}
