//! CTX310: a value from outside that reaches the system text.

use crate::rules::names::fault_location::finding;
use crate::rules::names::unknown_field::at_use;
use crate::rules::prelude::*;
use crate::rules::structure::family::shown;
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
    for fault in cx.scopes.faults.iter().filter(|fault| matches!(fault.kind, FaultKind::SystemFromOutside)) {
        let message = "the system text itself is marked as coming from outside";
        let help = "put what comes from outside into an <input>; where the text is your own, remove the mark";
        out.push(finding(&RULE.meta, cx, fault, message).help(help));
    }
}

/// Values are made of others across fragments, tasks, functions and results, and those across files.
fn check_references(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for used in &cx.names.in_system {
        let name = shown(&used.name);
        let (source, span) = &used.source;
        let comes = match shown(source) {
            source if source == name => format!("`{name}` comes from outside"),
            source if source.is_empty() => format!("`{name}` is made of what comes from outside"),
            source => format!("`{name}` is made of `{source}`, which comes from outside,"),
        };
        let found = match used.by {
            Some(at) => {
                let found = cx.at_reference(&RULE.meta, at, |reference| {
                    let (word, of) = (reference.kind.target().word(), shown(&reference.name));
                    format!("{comes} and would be part of the system text, by the {word} `{of}`")
                });
                found.map(|(found, _)| found)
            }
            None => at_use(
                &RULE.meta,
                cx,
                (used.file, used.span, used.inside),
                format!("{comes} and would be part of the system text"),
            ),
        };
        let found = match found {
            Some(found) if span.is_empty() => found,
            Some(found) => cx.label(found, used.file, *span, "it gets its value here"),
            None => continue,
        };
        let help = "name it in `<instructions>`, where it is fenced, and take it out of `<system>`";
        let checked = "; or, where its text is checked before, say `trust=\"trusted\"` where it is handed on";
        out.push(found.help(if *source == used.name { help.to_owned() } else { [help, checked].concat() }));
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
