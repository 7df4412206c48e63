//! CTX316: a declared parameter that nothing reads.

use crate::rules::prelude::*;
use crate::rules::structure::family::{finding, shown};
use crate::syntax::write::{remove_element, set_attribute};
use crate::template::fault;
use crate::template::scope::{FaultKind, Origin};
use std::collections::BTreeSet;

/// Whoever runs the task must give a value that goes nowhere.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(316, "unused-parameter", "a parameter that nothing reads", case!("unused-parameter"))
        .fixed(Fixable::Suggested),
    check: Check::File(check),
};

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut meant = None;
    let mut unread = None;
    for fault in &cx.scopes.faults {
        let FaultKind::Unused { name, origin } = &fault.kind else { continue };
        if meant.get_or_insert_with(|| self::meant(cx)).contains(name.as_str()) {
            continue;
        }
        let (Origin::Function(element) | Origin::Task(element)) = *origin;
        let unread = unread.get_or_insert_with(|| self::unread(cx));
        let after = unread.partition_point(|start| *start < element.span().start);
        if unread.get(after).is_some_and(|start| *start < element.span().end) {
            continue;
        }
        let what = match origin {
            Origin::Function(_) => "this function",
            Origin::Task(_) => "this task",
        };
        let found = finding(&RULE.meta, cx, fault.span, format!("nothing in {what} reads the parameter `{}`", shown(name)));
        out.push(match remove(cx, *origin, fault.span.start, name) {
            Some(edit) => found.fix(Fix::suggested(format!("remove `{}`", shown(name)), vec![edit])),
            None => found,
        });
    }
}

/// Where something is left unread, in order, which has been reported: it may read any parameter.
fn unread(cx: &FileCx<'_>) -> Vec<u32> {
    let is_left_out = |kind: &fault::FaultKind<'_>| {
        use fault::FaultKind::{MisplacedElement, Repeated, UnknownElement};
        matches!(kind, UnknownElement { meant: None, .. } | MisplacedElement { .. } | Repeated { .. })
    };
    let left_out = cx.file.faults.iter().filter(|fault| is_left_out(&fault.kind)).map(|fault| fault.span.start);
    let damaged = cx.document.elements().filter(|element| element.is_damaged()).map(|element| element.span().start);
    let mut all: Vec<u32> = left_out.chain(damaged).collect();
    all.sort_unstable();
    all
}

/// Names that a variable without a value is probably a slip of: then the slip is the one thing to mend.
fn meant<'c>(cx: &'c FileCx<'_>) -> BTreeSet<&'c str> {
    let nears = cx.scopes.faults.iter().filter_map(|fault| {
        let FaultKind::Undeclared { near, .. } = &fault.kind else { return None };
        near.as_deref()
    });
    nears.collect()
}

/// Bytes of a list of parameters that is not written anew for each of many findings.
const LONG: usize = 1_000;

fn remove(cx: &FileCx<'_>, origin: Origin<'_>, at: u32, name: &str) -> Option<Edit> {
    match origin {
        Origin::Task(_) => cx.document.element_at(at).filter(|element| element.name() == "parameter").map(remove_element),
        Origin::Function(template) => {
            let params = template.attribute("params")?.value().into_owned();
            if params.len() > LONG {
                return None;
            }
            let separator = if params.contains(',') { ", " } else { " " };
            let names =
                params.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|word| !word.is_empty() && *word != name);
            Some(set_attribute(template, "params", &names.collect::<Vec<_>>().join(separator)))
        }
    }
}
