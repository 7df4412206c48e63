//! CTX103: an element in a place where it means nothing.

use super::family::{finding, is_small, line_break, shown, tags};
use crate::rules::prelude::*;
use crate::syntax::tree::Element;
use crate::syntax::write::{insert_child, insert_first_child, remove_element};
use crate::template::elements::Kind;
use crate::template::fault::{Fault, FaultKind};

/// The same tag can mean different things; where it means none it would be lost.
pub(crate) static RULE: Rule = Rule {
    meta: meta!(error, 103, "misplaced-element", "an element of the language in the wrong place").fixed(Fixable::Suggested),
    check: Check::Template(word),
};

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let name = fault.element.name();
    if let FaultKind::UnknownElement { parent, known_elsewhere: true, .. } = fault.kind {
        return Some(elsewhere(cx, fault, parent));
    }
    let FaultKind::MisplacedElement { parent } = fault.kind else { return None };
    let message = format!("`<{}>` stands in `<{}>`, which holds one word or line", shown(name), parent.tag());
    Some(finding(&RULE.meta, cx, fault.span, message).help(belongs(name)))
}

fn elsewhere(cx: &FileCx<'_>, fault: &Fault<'_>, parent: Kind) -> Diagnostic {
    let name = fault.element.name();
    let message = format!("`<{name}>` does not stand directly in `<{}>`", parent.tag());
    let found = finding(&RULE.meta, cx, fault.span, message);
    let beside = Kind::homes(name).find(|home| !home.is_body() && parent.child(home.tag()).is_some_and(|own| own.kind == *home));
    let Some(home) = beside else { return found.help(belongs(name)) };
    let found = found.help(format!("it belongs in `<{}>`", home.tag()));
    match fault.element.parent().and_then(|around| into(cx, around, fault.element, home)) {
        Some(edits) => found.fix(Fix::suggested(format!("move it into <{}>", home.tag()), edits)),
        None => found,
    }
}

/// Moves an element into a sibling, which is made when there is none. Only the first of several makes it.
fn into(cx: &FileCx<'_>, around: Element<'_>, element: Element<'_>, home: Kind) -> Option<Vec<Edit>> {
    if !is_small(around) {
        return None;
    }
    let xml = element.span().slice(cx.document.text);
    if let Some(block) = around.elements().find(|other| other.namespace().is_none() && other.name() == home.tag()) {
        if !is_small(block) {
            return None;
        }
        if element.span().start > block.span().start {
            return Some(vec![insert_child(block, xml), remove_element(element)]);
        }
        // What stands before it goes to its front, the last one first: the order is the author's.
        let before = around.elements().take_while(|other| other.id() != block.id());
        let last = before.filter(|other| other.name() == element.name()).last()?;
        return (last.id() == element.id()).then(|| vec![insert_first_child(block, xml), remove_element(element)]);
    }
    let first = around.elements().find(|other| other.name() == element.name())?;
    if first.id() != element.id() {
        return None;
    }
    let line = line_break(cx);
    let tag = home.tag();
    let wrapped = match cx.indent(element.span().start) {
        Some(own) => format!("<{tag}>{line}{own}  {xml}{line}{own}</{tag}>"),
        None => format!("<{tag}>{xml}</{tag}>"),
    };
    Some(vec![Edit::replace(element.span(), wrapped)])
}

fn belongs(name: &str) -> String {
    let homes = tags(Kind::homes(name).filter(|home| !(home.is_body() && name == "task")));
    if homes.is_empty() { "nothing but text stands there".to_owned() } else { format!("it belongs in {homes}") }
}
