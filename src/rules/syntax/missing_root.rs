//! CTX018: a file without any element.

use super::family::{FINE, finding, meta, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Example;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// An empty file was meant to be something.
pub(crate) static RULE: Rule =
    Rule { meta: meta(18, "missing-root", "a file holds no element", PAGE, BAD, FINE), check: Check::Syntax(word) };

const PAGE: &str = "\
A template file holds one element at its top: `<task>`, `<template>`, or `<library>` with many of both. This one is empty, or holds nothing but
text and comments. `ctxc init` writes a template to start from.";

const BAD: &[Example] = &[template("<!-- to be written -->\n")];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::NoRoot {
        return None;
    }
    let message = if cx.document.text.trim().is_empty() { "the file is empty" } else { "the file holds no element" };
    Some(
        finding(&RULE.meta, cx, fault.span, message)
            .here("expected <task>, <template> or <library>")
            .help("`ctxc init` writes a template to start from"),
    )
}
