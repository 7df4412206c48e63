//! The judge without a model: it compares the expected facts with those of an answer.
//!
//! It sees facts, not reasons or wording, so it serves to order methods and to check a judge that is a
//! model.

use super::document::{Probe, ProbeFact};
use super::grade::CriterionResult;
use crate::scenario::rubric::{Criterion, Rubric};
use crate::session::facts::fact::{FactClass, FileUse};
use crate::session::sentences::{content_words, words};
use crate::session::summary_index::SummaryIndex;
use crate::session::verdict::{KnownFacts, is_in_summary};
use std::collections::BTreeSet;

/// Phrases of an answer that asks for what the conversation contained.
const REQUESTS: [&str; 10] = [
    "read again",
    "re read",
    "need to read",
    "let me read",
    "let me look",
    "let me check",
    "please provide",
    "could you share",
    "i dont have",
    "i do not have",
];

/// The text that is graded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradedText {
    /// The answer of a model.
    Answer,
    /// The compacted context itself: the upper bound of any answer from it.
    Context,
}

/// Returns the expected facts that a criterion is about.
pub fn basis<'f>(criterion: &str, facts: &'f [ProbeFact]) -> Vec<&'f ProbeFact> {
    let is_about = |fact: &&ProbeFact| match criterion {
        "accuracy_technical" | "artifact_key_details" => !matches!(
            fact.class,
            FactClass::Instruction | FactClass::Todo | FactClass::Decision
        ),
        "context_artifact_state" => fact.class == FactClass::File,
        "artifact_files_created" => fact.file_use == Some(FileUse::Created),
        "artifact_files_modified" => fact.file_use == Some(FileUse::Modified),
        "continuity_todo_state" => fact.class == FactClass::Todo,
        "continuity_reasoning" => fact.class == FactClass::Decision,
        "instruction_constraints" => fact.class == FactClass::Instruction,
        _ => true,
    };
    facts.iter().filter(is_about).collect()
}

/// Grades an answer by the criteria of its probe.
pub fn grade_by_facts(
    probe: &Probe,
    text: &str,
    form: GradedText,
    rubric: &Rubric,
) -> Vec<CriterionResult> {
    let answer = AnswerText::new(text, &probe.facts);
    let is_graded = |criterion: &&Criterion| {
        probe.criteria.contains(&criterion.id)
            && (form == GradedText::Answer || criterion.id != "instruction_format")
    };
    let grade = |criterion: &Criterion| {
        let facts = basis(&criterion.id, &probe.facts);
        let share = answer.share(&criterion.id, &facts);
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a score is from 0 to 100"
        )]
        let score = (share * criterion.max_score as f64).round() as u64;
        CriterionResult {
            criterion_id: criterion.id.clone(),
            score,
            reasoning: answer.describe(&facts),
        }
    };
    rubric
        .criteria
        .iter()
        .filter(is_graded)
        .map(grade)
        .collect()
}

/// An answer, indexed.
struct AnswerText<'t> {
    text: &'t str,
    /// Its words, separated by spaces.
    plain: String,
    /// Its content words.
    content: BTreeSet<String>,
    index: SummaryIndex,
    known: KnownFacts,
}

impl<'t> AnswerText<'t> {
    fn new(text: &'t str, facts: &[ProbeFact]) -> Self {
        let mut known = KnownFacts::default();
        for fact in facts {
            known.add(&fact.to_fact());
        }
        Self {
            text,
            plain: plain_words(text),
            content: content_words(text).collect(),
            index: SummaryIndex::new(text),
            known,
        }
    }

    fn has(&self, fact: &ProbeFact) -> bool {
        is_in_summary(&fact.to_fact(), &self.index, &self.known)
    }

    /// Returns the share of a criterion's highest score, from 0 to 1.
    fn share(&self, criterion: &str, facts: &[&ProbeFact]) -> f64 {
        match criterion {
            "accuracy_factual" => mean(facts, |fact| self.correctness(fact)).max(0.0),
            "accuracy_technical" => mean(facts, |fact| self.exactness(fact)),
            "artifact_files_modified"
            | "artifact_key_details"
            | "completeness_depth"
            | "continuity_reasoning" => mean(facts, |fact| self.depth(fact)),
            "continuity_work_state" => {
                let asks = REQUESTS.iter().any(|phrase| self.plain.contains(phrase));
                mean(facts, |fact| self.presence(fact)) * if asks { 0.5 } else { 1.0 }
            }
            "instruction_format" => {
                let lines: Vec<&str> = self.text.lines().filter(|line| !line.is_empty()).collect();
                mean(&lines, |line| {
                    f64::from(u8::from(line.trim_start().starts_with("- ")))
                })
            }
            _ => mean(facts, |fact| self.presence(fact)),
        }
    }

    fn presence(&self, fact: &ProbeFact) -> f64 {
        f64::from(u8::from(self.has(fact)))
    }

    /// 1 for a fact that is there, −1 for another value in its place.
    fn correctness(&self, fact: &ProbeFact) -> f64 {
        if self.has(fact) {
            1.0
        } else if self
            .known
            .other_value(&fact.to_fact(), &self.index)
            .is_some()
        {
            -1.0
        } else {
            0.0
        }
    }

    /// 1 for a fact that is there word for word.
    fn exactness(&self, fact: &ProbeFact) -> f64 {
        f64::from(u8::from(self.plain.contains(&plain_words(&fact.text))))
    }

    /// The share of the words of a fact and of its detail.
    fn depth(&self, fact: &ProbeFact) -> f64 {
        let own = if fact.class == FactClass::File {
            1.0
        } else {
            self.overlap(&fact.text)
        };
        let share = if fact.detail.is_empty() {
            own
        } else {
            f64::midpoint(own, self.overlap(&fact.detail))
        };
        self.presence(fact) * share
    }

    /// The share of the content words of a text that the answer has.
    fn overlap(&self, text: &str) -> f64 {
        let own: BTreeSet<String> = content_words(text).collect();
        let own: Vec<String> = own.into_iter().collect();
        mean(&own, |word| {
            f64::from(u8::from(self.content.contains(word)))
        })
    }

    fn describe(&self, facts: &[&ProbeFact]) -> String {
        let missing: Vec<&str> = facts
            .iter()
            .filter(|fact| !self.has(fact))
            .map(|fact| fact.text.as_str())
            .collect();
        let found = format!(
            "found {} of {} expected facts",
            facts.len() - missing.len(),
            facts.len()
        );
        missing
            .first()
            .map_or_else(|| found.clone(), |first| format!("{found}, not “{first}”"))
    }
}

fn mean<T>(items: &[T], share: impl Fn(&T) -> f64) -> f64 {
    let sum: f64 = items.iter().map(share).sum();
    #[allow(clippy::cast_precision_loss, reason = "counts are below 2^52")]
    let count = items.len().max(1) as f64;
    sum / count
}

/// Returns the words of a text, separated and framed by spaces.
fn plain_words(text: &str) -> String {
    let words: Vec<String> = words(text).collect();
    format!(" {} ", words.join(" "))
}
