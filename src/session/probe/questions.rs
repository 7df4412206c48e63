//! The questions about truncated facts: a fixed set for each compaction, each asked only if there is a
//! ground truth.

use super::deterministic_judge::basis;
use super::document::{Probe, ProbeFact};
use super::maker::TruncatedFact;
use crate::scenario::rubric::{ProbeKind, Rubric};
use crate::session::facts::fact::{FactClass, FileUse};
use std::cmp::Reverse;

/// The maximum number of expected facts of a question, the most important and the latest first.
const MAX_FACTS: usize = 20;
/// The number of the latest changed files that belong to the state of the work.
const LATEST_FILES: usize = 3;
/// The form that every question asks for.
const FORM: &str = "Answer with one item a line, each behind “- ”.";

/// Programs and verbs that build, test or run a project. Other commands look up something once.
const PROJECT_WORDS: &str = " make cmake just npm npx pnpm yarn bun deno node cargo go mix rake bundle gradle mvn dotnet swift zig \
    pytest tox uv poetry python python3 mise task docker build test lint fmt format check compile run start serve dev ";

/// A question that is asked if a compaction truncated facts that it is about.
struct Question {
    id: &'static str,
    kind: ProbeKind,
    text: &'static str,
    is_about: fn(&ProbeFact) -> bool,
}

static QUESTIONS: [Question; 7] = [
    Question {
        id: "recall_errors",
        kind: ProbeKind::Recall,
        text: "Which errors did the tools report? Quote the first line of each, and say if it was resolved.",
        is_about: |fact| fact.class == FactClass::Error,
    },
    Question {
        id: "recall_values",
        kind: ProbeKind::Recall,
        text: "Which versions, commits, addresses and ports came up, and what does each belong to?",
        is_about: |fact| fact.class == FactClass::Value,
    },
    Question {
        id: "recall_commands",
        kind: ProbeKind::Recall,
        text: "Which commands build, test or run this work? Give each as it was typed.",
        is_about: |fact| fact.class == FactClass::Command && is_project_command(&fact.text),
    },
    Question {
        id: "recall_rules",
        kind: ProbeKind::Recall,
        text: "Which rules did the user and the files of the project set for this work?",
        is_about: |fact| fact.class == FactClass::Instruction,
    },
    Question {
        id: "artifact_files",
        kind: ProbeKind::Artifact,
        text: "Which files were created, changed or read so far? Describe what was changed in each.",
        is_about: |fact| fact.file_use > Some(FileUse::Seen),
    },
    Question {
        id: "continuation_next",
        kind: ProbeKind::Continuation,
        text: "What should be done next? Name the open tasks, the errors that are not resolved, the files at hand, and the rules to keep to.",
        is_about: |fact| match fact.class {
            FactClass::Todo | FactClass::Instruction => true,
            FactClass::Error => fact.is_resolved == Some(false),
            FactClass::File => fact.file_use >= Some(FileUse::Modified),
            FactClass::Decision | FactClass::Command | FactClass::Value => false,
        },
    },
    Question {
        id: "decision_reasons",
        kind: ProbeKind::Decision,
        text: "Which decisions were made, for which reasons, and which alternatives were rejected?",
        is_about: |fact| fact.class == FactClass::Decision,
    },
];

/// Makes the probes for the facts that a compaction truncated.
pub fn make_probes(facts: &[TruncatedFact], rubric: &Rubric) -> Vec<Probe> {
    let make = |question: &Question| {
        let mut own: Vec<&TruncatedFact> = facts
            .iter()
            .filter(|one| (question.is_about)(&one.fact))
            .collect();
        own.sort_by_key(|one| (Reverse(one.fact.file_use), Reverse(one.fact.line)));
        if question.kind == ProbeKind::Continuation {
            // Without open work there is no next step to be known.
            let is_open =
                |one: &TruncatedFact| matches!(one.fact.class, FactClass::Todo | FactClass::Error);
            if !own.iter().any(|one| is_open(one)) {
                return None;
            }
            keep_latest_files(&mut own);
        }
        own.truncate(MAX_FACTS);
        own.sort_by_key(|one| one.fact.line);
        let first = own.iter().map(|one| one.messages[0]).min()?;
        let last = own.iter().map(|one| one.messages[1]).max()?;
        let facts: Vec<ProbeFact> = own.iter().map(|one| one.fact.clone()).collect();
        let applies = rubric.criteria.iter().filter(|criterion| {
            criterion.applies_to(question.kind) && !basis(&criterion.id, &facts).is_empty()
        });
        let criteria: Vec<String> = applies.map(|criterion| criterion.id.clone()).collect();
        (!criteria.is_empty()).then(|| Probe {
            id: question.id.to_owned(),
            kind: question.kind,
            probe_question: format!("{} {FORM}", question.text),
            facts,
            messages: [first, last],
            criteria,
            model_response: None,
        })
    };
    QUESTIONS.iter().filter_map(make).collect()
}

/// Returns true for a command that builds, tests or runs a project.
fn is_project_command(command: &str) -> bool {
    let mut words = command.split([' ', ':']);
    words.any(|word| PROJECT_WORDS.contains(&format!(" {word} ")))
}

/// Removes all files but the latest changed ones.
fn keep_latest_files(facts: &mut Vec<&TruncatedFact>) {
    let mut lines: Vec<usize> = facts
        .iter()
        .filter(|one| one.fact.class == FactClass::File)
        .map(|one| one.fact.line)
        .collect();
    lines.sort_unstable_by_key(|line| Reverse(*line));
    let oldest = lines.get(LATEST_FILES - 1).copied().unwrap_or(0);
    facts.retain(|one| one.fact.class != FactClass::File || one.fact.line >= oldest);
}
