//! CTX320: definitions whose references expand to more than memory can hold.

use crate::base::expansion::{MAX_AGENTS, MAX_DEPTH, MAX_NAMES};
use crate::project::expansion::{Expansion, expansions};
use crate::project::index::DefId;
use crate::rules::prelude::*;
use crate::template::names::{Definition, Reference};
use std::collections::HashMap;

/// Ten short fragments, each of which uses the next one ten times, expand to many gigabytes.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        320,
        "expansion-too-large",
        "a definition exceeds a limit once everything it refers to is included"
    ),
    Check::FileAndLink(check_texts, check),
);

/// The limit that a definition exceeds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exceeded {
    Depth,
    Bytes,
    Agents,
    Names,
}

/// Inputs that each name the previous one twice double in size like fragments. The first that is
/// too large is the one to change.
fn check_texts(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let most = u64::from(cx.config.limits.text);
    let Some((span, _)) = cx.scopes.grown.iter().find(|(_, size)| *size > most) else {
        return;
    };
    let message =
        format!("this text has more than {most} bytes once the inputs that it names are filled in");
    out.push(
        Diagnostic::new(&RULE.meta, cx.path, *span, message)
            .note(format!("the limit is {most} bytes"))
            .help("name each of them less often; `--max-text-size` raises the limit"),
    );
}

fn check(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let all = expansions(cx.index, cx.order);
    let most = u64::from(cx.config.limits.text);
    let exceeds = |definition: &Definition, own: &Expansion| match own {
        own if own.depth > MAX_DEPTH => Some(Exceeded::Depth),
        // The limits on files cover a definition that is large by itself.
        own if own.bytes > most && own.bytes > definition.bytes => Some(Exceeded::Bytes),
        own if own.agents > MAX_AGENTS as u64 => Some(Exceeded::Agents),
        _ => None,
    };
    let mut exceeding: HashMap<DefId, Exceeded> = HashMap::new();
    for (id, own) in &all {
        let Some(definition) = cx.index.definition(*id) else {
            continue;
        };
        let names = || {
            cx.names
                .asks_too_much(cx.index, *id)
                .then_some(Exceeded::Names)
        };
        let Some(limit) = exceeds(definition, own).or_else(names) else {
            continue;
        };
        exceeding.insert(*id, limit);
        let references = cx.index.references_of(*id);
        // A definition that refers to an exceeding one exceeds the limit too. Only the first one is
        // reported.
        let mut targets = references
            .iter()
            .filter_map(|reference| cx.index.target(reference));
        if targets.any(|target| exceeding.contains_key(&target)) {
            continue;
        }
        let Some(entry) = cx.index.file(id.file) else {
            continue;
        };
        let finding = Diagnostic::new(
            &RULE.meta,
            entry.path,
            definition.span,
            message(definition, limit, most),
        );
        out.push(advise(finding, references, limit, most));
    }
}

fn message(Definition { kind, name, .. }: &Definition, limit: Exceeded, most: u64) -> String {
    let kind = kind.word();
    match limit {
        Exceeded::Depth => {
            format!(
                "the {kind} `{name}` leads through more than {MAX_DEPTH} definitions, each of which refers to the next"
            )
        }
        Exceeded::Bytes => format!(
            "the {kind} `{name}` has more than {most} bytes once everything that it refers to is put in"
        ),
        Exceeded::Agents => {
            format!(
                "the {kind} `{name}` has more than {MAX_AGENTS} agents once everything that it refers to is put in"
            )
        }
        Exceeded::Names => {
            format!("the {kind} `{name}` takes more than {MAX_NAMES} names and is referred to")
        }
    }
}

fn advise(finding: Diagnostic, references: &[Reference], limit: Exceeded, most: u64) -> Diagnostic {
    let finding = match limit {
        Exceeded::Depth => finding.note(format!("references are followed through at most {MAX_DEPTH} definitions")),
        Exceeded::Bytes => finding
            .note(format!("the limit is {most} bytes; each reference puts in a copy of its own"))
            .help("refer to others less often, or to shorter ones; `--max-text-size` raises the limit"),
        Exceeded::Agents => finding
            .note(format!("the limit is {MAX_AGENTS} agents of one task; each reference adds those of its task again"))
            .help("refer to other tasks less often, or split the task"),
        Exceeded::Names => finding
            .note(format!("the limit is {MAX_NAMES} names, including those it passes on to what it refers to"))
            .help("split it, or have it take one parameter of the type `object` that holds many values"),
    };
    match references {
        [] => finding,
        [first] => finding.label(first.span, "its reference"),
        [first, ..] => finding.label(
            first.span,
            format!("the first of {} references", references.len()),
        ),
    }
}
