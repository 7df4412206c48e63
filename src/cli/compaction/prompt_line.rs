//! The line for a compaction prompt that asks for what was needed again: rules that hold beyond the
//! session, and what this session lost as examples of them.

use crate::cli::prelude::*;
use crate::session::analysis::{JudgedCompaction, JudgedFact};
use crate::session::facts::fact::FactClass;
use crate::session::facts::fetched_result::ResultKind;
use crate::session::refetch::Refetch;
use crate::session::sentences::one_line;
use crate::session::session_event::CompactionKind;
use std::cmp::Reverse;
use std::collections::HashSet;

/// Maximum number of examples of a rule.
const MAX_EXAMPLES: usize = 2;
/// Maximum length of a text in an example, in characters.
const MAX_TEXT_CHARS: usize = 120;

/// A line to paste, with its examples.
pub(super) struct PromptLine {
    pub(super) text: String,
    /// The first things that were lost, of each rule.
    pub(super) examples: Vec<String>,
}

/// Returns the line; `None` if nothing was needed again. Results are cleared without a prompt.
pub(super) fn prompt_line<'c>(
    compactions: impl Iterator<Item = &'c JudgedCompaction>,
) -> Option<PromptLine> {
    let compactions: Vec<&JudgedCompaction> = compactions
        .filter(|compaction| compaction.point.kind != CompactionKind::ClearedResults)
        .collect();
    let mut refetches: Vec<&Refetch> = compactions
        .iter()
        .flat_map(|compaction| &compaction.later.refetches)
        .filter(|refetch| refetch.is_avoidable())
        .collect();
    refetches.sort_by_key(|refetch| Reverse(refetch.bytes));
    let mut names = HashSet::new();
    refetches.retain(|refetch| names.insert(&refetch.name));
    let fetched = |is_asked: &dyn Fn(&Refetch) -> bool| {
        let own = refetches.iter().filter(|refetch| is_asked(refetch));
        own.map(|refetch| refetch_example(refetch))
            .collect::<Vec<String>>()
    };
    let facts = |is_asked: &dyn Fn(&JudgedFact) -> bool| {
        let all = compactions.iter().flat_map(|own| own.missed_facts_apart());
        let asked = all.filter(|judged| is_asked(judged));
        asked.map(fact_example).collect::<Vec<String>>()
    };
    let class = |class: FactClass| facts(&|judged| judged.fact.class == class);
    let mut errors: Vec<String> = fetched(&|refetch| refetch.is_error);
    errors.extend(class(FactClass::Error));
    let rules: [(&str, Vec<String>); 7] = [
        (
            "every rule of the user and of files, in its own words",
            class(FactClass::Instruction),
        ),
        (
            "for each file that the next steps use: its path, and the names and signatures that they need",
            fetched(&|refetch| refetch.kind == ResultKind::File && !refetch.is_changed),
        ),
        (
            "for each file that is still being changed: its path, and the function or section at hand, so that only this part is read again",
            fetched(&|refetch| refetch.kind == ResultKind::File && refetch.is_changed),
        ),
        (
            "the path of each file that was created, changed or read",
            class(FactClass::File),
        ),
        (
            "the first line of each error that is not resolved, and the command that shows it",
            errors,
        ),
        (
            "the result of each command that the next steps depend on",
            fetched(&|refetch| refetch.kind == ResultKind::Command && !refetch.is_error),
        ),
        (
            "each version, commit, address and port exactly",
            class(FactClass::Value),
        ),
    ];
    let (mut texts, mut all) = (Vec::new(), Vec::new());
    for (rule, examples) in rules {
        if !examples.is_empty() {
            texts.push(format!("Keep {rule}."));
            let new = examples.into_iter().filter(|own| !all.contains(own));
            let new: Vec<String> = new.take(MAX_EXAMPLES).collect();
            all.extend(new);
        }
    }
    (!texts.is_empty()).then(|| PromptLine {
        text: texts.join(" "),
        examples: all,
    })
}

/// Returns a file with its names, or a command with its output.
fn refetch_example(refetch: &Refetch) -> String {
    let name = one_line(&escape_line(&refetch.name), MAX_TEXT_CHARS);
    let parts = parts(refetch);
    match refetch.kind {
        ResultKind::File if parts.is_empty() => name,
        ResultKind::File => format!("{name} with {parts}"),
        ResultKind::Command => format!("`{name}`: {parts}"),
    }
}

/// Returns the names in a file or the numbers of its lines, or the line of an output.
pub(super) fn parts(refetch: &Refetch) -> String {
    let mark = |part: &String| match refetch.kind {
        ResultKind::File if part.starts_with("lines ") => part.clone(),
        ResultKind::File => format!("`{}`", escape_line(part)),
        ResultKind::Command => format!("“{}”", escape_line(part)),
    };
    refetch
        .parts
        .iter()
        .map(mark)
        .collect::<Vec<_>>()
        .join(", ")
}

fn fact_example(judged: &JudgedFact) -> String {
    let text = one_line(&escape_line(&judged.fact.text), MAX_TEXT_CHARS);
    match judged.fact.class {
        FactClass::File | FactClass::Value | FactClass::Command => text,
        FactClass::Instruction | FactClass::Error | FactClass::Todo | FactClass::Decision => {
            format!("“{text}”")
        }
    }
}
