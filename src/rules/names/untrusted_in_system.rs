//! CTX310: a value from outside that reaches the system text.

use crate::project::index::{DefId, Index};
use crate::rules::names::fault_location::finding;
use crate::rules::prelude::*;
use crate::rules::structure::family::shown;
use crate::syntax::write::remove_attribute;
use crate::template::names::{DefinitionKind, ReferenceKind};
use crate::template::scope::FaultKind;
use std::collections::BTreeMap;

/// Whoever writes the ticket would be writing the system prompt.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        310,
        "untrusted-in-system",
        "a value from outside reaches the system text",
        case!("untrusted-in-system"),
    ),
    check: Check::FileAndLink(check, check_fragments),
};

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.scopes.faults {
        let FaultKind::UntrustedInSystem { name, source } = &fault.kind else { continue };
        let Some(name) = name else {
            let message = "the system text itself is marked as coming from outside";
            let found = finding(&RULE.meta, cx, fault, message).help("put what comes from outside into an <input>");
            let edit = cx.document.element_at(fault.span.start).and_then(|element| remove_attribute(element, "trust"));
            out.push(match edit {
                Some(edit) => found.fix(Fix::suggested("remove the mark: the text is the author's own", vec![edit])),
                None => found,
            });
            continue;
        };
        let message = format!("`{}` comes from outside and would be part of the system text", shown(name));
        let found = finding(&RULE.meta, cx, fault, message);
        let found = if source.is_empty() { found } else { found.label(*source, "it gets its value here") };
        out.push(found.help("name it in `<instructions>`, where it is fenced, and take it out of `<system>`"));
    }
}

/// Fragments are used across files, and in each other.
fn check_fragments(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let outside = from_outside(cx.index);
    if outside.is_empty() {
        return;
    }
    for (_, entry, reference) in cx.index.references().filter(|(.., reference)| reference.in_system) {
        let Some((marked, source)) = cx.index.target(reference).and_then(|target| outside.get(&target)) else { continue };
        let name = shown(&reference.name);
        let message = format!("the fragment `{name}` comes from outside and would be part of the system text");
        let found = Diagnostic::new(&RULE.meta, entry.path, reference.span, message);
        let found = cx.label(found, marked.file, *source, "its text is marked here");
        out.push(found.help("use it in `<instructions>`, where it is fenced, and take it out of `<system>`"));
    }
}

/// The fragments whose text is from outside, wholly or in part, each with the one that is marked, and where.
fn from_outside(index: &Index<'_>) -> BTreeMap<DefId, (DefId, Span)> {
    let mut found = BTreeMap::new();
    let ids = |file: u32, count: usize| (0..count as u32).map(move |definition| DefId { file, definition });
    let files = index.files().iter().enumerate();
    for id in files.flat_map(|(file, entry)| ids(file as u32, entry.facts.definitions.len())) {
        if let Some(span) = index.definition(id).and_then(|definition| definition.untrusted) {
            found.insert(id, (id, span));
        }
    }
    if found.is_empty() {
        return found;
    }
    let mut users: BTreeMap<DefId, Vec<DefId>> = BTreeMap::new();
    for (id, _, reference) in index.references().filter(|(.., reference)| reference.kind == ReferenceKind::Use) {
        let user = DefId { file: id.file, definition: reference.owner };
        let is_fragment = index.definition(user).is_some_and(|definition| definition.kind == DefinitionKind::Fragment);
        if let Some(target) = index.target(reference).filter(|_| is_fragment) {
            users.entry(target).or_default().push(user);
        }
    }
    let mut open: Vec<DefId> = found.keys().copied().collect();
    while let Some(id) = open.pop() {
        let Some(source) = found.get(&id).copied() else { continue };
        for user in users.get(&id).into_iter().flatten() {
            if !found.contains_key(user) {
                found.insert(*user, source);
                open.push(*user);
            }
        }
    }
    found
}
