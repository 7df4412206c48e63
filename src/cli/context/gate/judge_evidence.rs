//! The safeguards of the judge: the criteria on which it is trusted, and the labels and scores that
//! this trust follows from. Without these a change could weaken the evidence, and the next one count.

use super::state::short_hash;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::{judge_trust, read_labels};
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::cli::render::summary::pluralize;
use crate::eval::gate::{Safeguard, SafeguardKind, Safeguards};
use crate::eval::judge::JudgeTrust;
use crate::eval::judge::labels::{LABEL_FOLDER, LabelStore};
use std::collections::{BTreeMap, BTreeSet};

/// The number of characters of a hash that distinguish two answers or judges.
const SHORT_HASH_LENGTH: usize = 19;

/// The evidence for the judge in one revision.
#[derive(Debug, Default)]
pub(super) struct JudgeEvidence {
    /// The criteria on which it is trusted.
    pub(super) trust: JudgeTrust,
    /// The reason why its labels cannot be read, if so.
    fault: Option<String>,
    labels: LabelStore,
}

impl JudgeEvidence {
    /// Reads the evidence. Labels that cannot be read are none: the judge is not trusted then.
    pub(super) fn read(project: &CompiledProject, scenarios: &Scenarios) -> Result<Self> {
        let (labels, fault) = match read_labels(project) {
            Ok(labels) => (labels, None),
            Err(why) => (LabelStore::default(), Some(why)),
        };
        Ok(Self {
            trust: judge_trust(project, scenarios)?,
            fault,
            labels,
        })
    }

    /// The doubt about a pass if the labels of a change cannot be read.
    pub(super) fn fault_doubt(&self) -> Option<String> {
        let why = self.fault.as_ref()?;
        Some(format!(
            "the labels of the judge cannot be read, so it is trusted on nothing: {why}"
        ))
    }

    /// The note about labels of the base that cannot be read.
    pub(super) fn fault_note(&self, base: &str) -> Option<String> {
        let why = self.fault.as_ref()?;
        Some(format!(
            "the labels of the judge cannot be read at {base}, so its scores count from the next change on: {why}"
        ))
    }

    /// Adds the safeguards of a revision that is compared with `base`.
    pub(super) fn add_safeguards(&self, base: &JudgeTrust, safeguards: &mut Safeguards) {
        // The same judge is also trusted at a lower score if no expectation asks for that any more.
        let is_raised = |minimum: &_| self.trust.has_higher_minimum(minimum);
        for one in self.trust.trusted().chain(base.trusted().filter(is_raised)) {
            let what = format!("score of {} or more", one.min);
            let safeguard = Safeguard::new(LABEL_FOLDER, one.judge, None);
            safeguards.add(SafeguardKind::Judge, one.criterion, what, safeguard);
        }
        let labels = self.labels.labels().iter();
        let scales: BTreeSet<(&str, u64)> = labels
            .map(|label| (label.criterion.as_str(), label.max))
            .collect();
        for (criterion, max) in scales {
            let labels = self.labels.labels_by_answer(criterion, max);
            let lines = labels.values().flat_map(|labels| {
                labels.iter().enumerate().map(|(place, label)| {
                    // Of several labels for an answer the earliest counts.
                    let rank = if place == 0 { ", counts" } else { "" };
                    let answer = short(&label.answer);
                    let (score, by, at) = (label.score, &label.by, &label.at);
                    format!("{answer} {by}, {at}: {score}{rank}")
                })
            });
            let safeguard = lines_safeguard(lines.collect());
            let what = format!("labels from 0 to {max}");
            safeguards.add(SafeguardKind::Judge, criterion, what, safeguard);
        }
        let mut scores: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for (place, score) in self.labels.scores() {
            let line = format!("{} {}: {score}", short(&place.answer), place.form.word());
            let version = (place.criterion.as_str(), place.judge.as_str());
            scores.entry(version).or_default().push(line);
        }
        for ((criterion, judge), lines) in scores {
            let what = format!("scores of the judge {}", short(judge));
            let safeguard = lines_safeguard(lines);
            safeguards.add(SafeguardKind::Judge, criterion, what, safeguard);
        }
    }
}

/// The safeguard of lines to which others may be added.
fn lines_safeguard(lines: Vec<String>) -> Safeguard {
    let value = format!("{}, {}", short_hash(&lines), pluralize(lines.len(), "line"));
    Safeguard {
        text: Some(lines.join("\n")),
        patterns: lines,
        ..Safeguard::new(LABEL_FOLDER, value, Some(0.0))
    }
}

fn short(hash: &str) -> &str {
    hash.get(..SHORT_HASH_LENGTH).unwrap_or(hash)
}
