//! CTX320: definitions whose references expand to more than memory can hold.

use crate::base::expansion::{MAX_AGENTS, MAX_DEPTH, MAX_NAMES};
use crate::project::index::{DefId, Expansion, compute_expansions};
use crate::rules::prelude::*;
use crate::template::names::{DefinitionFacts, ReferenceFacts};
use std::collections::HashMap;

/// Ten short fragments, each of which uses the next one ten times, expand to many gigabytes.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        320,
        "expansion-too-large",
        "a definition exceeds a limit once everything it refers to is included"
    ),
    Check::FileAndLink(check_inputs, check_links),
);

/// The limit that a definition exceeds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpansionLimit {
    Depth,
    Bytes,
    Agents,
    Names,
}

/// Inputs that each name the previous one twice double in size like fragments. The first that is
/// too large is the one to change.
fn check_inputs(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let max_bytes = u64::from(cx.config.limits.text);
    let Some((span, _)) = cx.scopes.grown.iter().find(|(_, size)| *size > max_bytes) else {
        return;
    };
    let message = format!(
        "this text has more than {max_bytes} bytes once the inputs that it names are filled in"
    );
    out.push(
        Diagnostic::new(&RULE.meta, cx.path, *span, message)
            .note(format!("the limit is {max_bytes} bytes"))
            .help("name each of them less often; `--max-text-size` raises the limit"),
    );
}

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let all = compute_expansions(cx.index, cx.order);
    let max_bytes = u64::from(cx.config.limits.text);
    let exceeds = |definition: &DefinitionFacts, own: &Expansion| match own {
        own if own.depth > MAX_DEPTH => Some(ExpansionLimit::Depth),
        // The limits on files cover a definition that is large by itself.
        own if own.bytes > max_bytes && own.bytes > definition.bytes => Some(ExpansionLimit::Bytes),
        own if own.agents > MAX_AGENTS as u64 => Some(ExpansionLimit::Agents),
        _ => None,
    };
    let mut exceeding: HashMap<DefId, ExpansionLimit> = HashMap::new();
    for (id, own) in &all {
        let Some(definition) = cx.index.definition(*id) else {
            continue;
        };
        let names = || {
            cx.names
                .takes_too_many_names(cx.index, *id)
                .then_some(ExpansionLimit::Names)
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
            .filter_map(|reference| cx.index.resolve_reference(reference));
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
            limit_message(definition, limit, max_bytes),
        );
        out.push(add_advice(finding, references, limit, max_bytes));
    }
}

fn limit_message(
    DefinitionFacts { kind, name, .. }: &DefinitionFacts,
    limit: ExpansionLimit,
    max_bytes: u64,
) -> String {
    let kind = kind.word();
    match limit {
        ExpansionLimit::Depth => {
            format!(
                "the {kind} `{name}` leads through more than {MAX_DEPTH} definitions, each of which refers to the next"
            )
        }
        ExpansionLimit::Bytes => format!(
            "the {kind} `{name}` has more than {max_bytes} bytes once everything that it refers to is put in"
        ),
        ExpansionLimit::Agents => {
            format!(
                "the {kind} `{name}` has more than {MAX_AGENTS} agents once everything that it refers to is put in"
            )
        }
        ExpansionLimit::Names => {
            format!("the {kind} `{name}` takes more than {MAX_NAMES} names and is referred to")
        }
    }
}

fn add_advice(
    finding: Diagnostic,
    references: &[ReferenceFacts],
    limit: ExpansionLimit,
    max_bytes: u64,
) -> Diagnostic {
    let finding = match limit {
        ExpansionLimit::Depth => finding.note(format!("references are followed through at most {MAX_DEPTH} definitions")),
        ExpansionLimit::Bytes => finding
            .note(format!("the limit is {max_bytes} bytes; each reference puts in a copy of its own"))
            .help("refer to others less often, or to shorter ones; `--max-text-size` raises the limit"),
        ExpansionLimit::Agents => finding
            .note(format!("the limit is {MAX_AGENTS} agents of one task; each reference adds those of its task again"))
            .help("refer to other tasks less often, or split the task"),
        ExpansionLimit::Names => finding
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
