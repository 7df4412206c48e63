//! CTX310: a value from outside that reaches the system text.

use crate::project::linked_names;
use crate::rules::names::fault_location::finding;
use crate::rules::prelude::*;
use crate::rules::structure::family::shown;
use crate::syntax::write::remove_attribute;
use crate::template::scope::FaultKind;

/// Whoever writes the ticket would be writing the system prompt.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        310,
        "untrusted-in-system",
        "a value from outside reaches the system text",
        case!("untrusted-in-system"),
    ),
    check: Check::FileAndLink(check, check_references),
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

/// Fragments, tasks and functions are used across files, and in each other.
fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.names.faults {
        let linked_names::FaultKind::UntrustedInSystem(name) = &fault.kind else { continue };
        let found = cx.at_reference(&RULE.meta, fault.at, |reference| {
            let (word, of) = (reference.kind.target().word(), shown(&reference.name));
            format!("`{}` comes from outside and would be part of the system text, by the {word} `{of}`", shown(name))
        });
        out.extend(
            found.map(|(found, _)| found.help("name it in `<instructions>`, where it is fenced, and take it out of `<system>`")),
        );
    }
    let outside = &cx.names.outside;
    for (_, entry, reference) in cx.index.references().filter(|(.., reference)| reference.in_system) {
        let Some((marked, source)) = cx.index.target(reference).and_then(|target| outside.get(&target)) else { continue };
        let name = shown(&reference.name);
        let message = format!("the fragment `{name}` comes from outside and would be part of the system text");
        let found = Diagnostic::new(&RULE.meta, entry.path, reference.span, message);
        let found = cx.label(found, marked.file, *source, "its text is marked here");
        out.push(found.help("use it in `<instructions>`, where it is fenced, and take it out of `<system>`"));
    }
}
