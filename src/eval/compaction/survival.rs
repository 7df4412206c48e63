//! Judges the facts that survive a compaction.

use crate::eval::verdict::{JudgedOutcome, fail, fail_blind, pass};
use crate::scenario::expect::survival::{ALL_FACTS, ClassShare, SurvivalTest};
use crate::session::analysis::JudgedFact;
use crate::session::facts::fact::Fact;
use crate::session::verdict::FactVerdict;
use std::collections::BTreeSet;

/// The maximum number of lost facts in a reason.
const MAX_LISTED: usize = 10;

/// Returns the name of a fact's class: `file.created`, `error`.
pub(super) fn class_name(fact: &Fact) -> String {
    let class = fact.class.word();
    fact.file_use.map_or_else(
        || class.to_owned(),
        |file_use| format!("{class}.{}", file_use.word()),
    )
}

/// Returns the facts of a class; those of `file` have any use.
fn facts_of<'f>(facts: &'f [JudgedFact], class: &str) -> Vec<&'f JudgedFact> {
    facts
        .iter()
        .filter(|judged| judged.fact.class.word() == class || class_name(&judged.fact) == class)
        .collect()
}

const fn survives(judged: &JudgedFact) -> bool {
    matches!(judged.verdict, FactVerdict::Kept | FactVerdict::Reloaded)
}

/// The share of a count.
fn share(count: usize, all: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "counts of facts are below 2^53")]
    let share = count as f64 / all as f64;
    share
}

/// Judges the facts at a compaction.
pub(in crate::eval) fn judge_survival(facts: &[JudgedFact], test: &SurvivalTest) -> JudgedOutcome {
    if facts
        .iter()
        .any(|judged| judged.verdict == FactVerdict::Unseen)
    {
        return fail_blind(test.describe(), "a summary that cannot be read");
    }
    let (mut missed, mut found, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for one @ ClassShare { class, min } in &test.shares {
        let all = facts_of(facts, class);
        if all.is_empty() {
            let none = format!("no fact of the class `{class}` before the compaction");
            return fail_blind(one.describe(), none);
        }
        let gone: Vec<&JudgedFact> = all.iter().copied().filter(|one| !survives(one)).collect();
        let count = all.len() - gone.len();
        found.push(format!("{class} {count} of {}", all.len()));
        if share(count, all.len()) < *min {
            missed.push(one.describe());
            lost.extend(gone);
        }
    }
    if let Some(most) = test.needed_again {
        let all: Vec<&JudgedFact> = facts.iter().filter(|one| one.is_needed_again()).collect();
        found.push(format!("needed again {}", all.len()));
        if all.len() as u64 > most {
            missed.push(format!("needed again at most {most}"));
            lost.extend(all);
        }
    }
    let found = found.join(", ");
    if missed.is_empty() {
        return pass(test.describe(), found);
    }
    let mut named = BTreeSet::new();
    let lost = lost.into_iter().filter(|one| named.insert(&one.fact.key));
    let lost: Vec<String> = lost.map(describe_loss).collect();
    let (outcome, mut reason) = fail(missed.join(", "), found);
    reason.advice.extend(lost.iter().take(MAX_LISTED).cloned());
    if lost.len() > MAX_LISTED {
        reason
            .advice
            .push(format!("… {} more", lost.len() - MAX_LISTED));
    }
    (outcome, reason)
}

fn describe_loss(judged: &JudgedFact) -> String {
    let Fact { text, line, .. } = &judged.fact;
    let class = class_name(&judged.fact);
    let later = judged.later_use.filter(|_| judged.is_needed_again());
    let later = later.map_or_else(String::new, |later| {
        format!(", {} at row {}", later.kind, later.line)
    });
    format!("not found in the summary: {class} “{text}” (row {line}{later})")
}

/// The expectations of a new scenario on the facts at a compaction.
#[derive(Debug)]
pub struct SurvivalDraft {
    /// The items of `expectations`: the shares that hold, and what fails.
    pub items: String,
    /// The numbers of facts that fail, as `lost instructions 2`.
    pub failing: Vec<String>,
}

impl SurvivalDraft {
    /// Drafts the expectations: the share that survives of each class, rounded down, all
    /// instructions, and no fact that was dropped and used later.
    pub fn new(facts: &[JudgedFact]) -> Self {
        let lost: Vec<&JudgedFact> = facts
            .iter()
            .filter(|one| one.is_dropped_instruction())
            .collect();
        let needed: Vec<&JudgedFact> = facts.iter().filter(|one| one.is_needed_again()).collect();
        let mut holding = surviving_shares(facts);
        holding.retain(|share| lost.is_empty() || !share.starts_with("instruction:"));
        if needed.is_empty() {
            holding.push("needed_again: 0".to_owned());
        }
        let mut own = Self {
            items: String::new(),
            failing: Vec::new(),
        };
        if !holding.is_empty() {
            own.items = format!("  - survives: {{{}}}\n", holding.join(", "));
        }
        own.add_failing("lost instructions", "instruction: all", &lost);
        own.add_failing("facts needed again", "needed_again: 0", &needed);
        own
    }

    fn add_failing(&mut self, name: &str, test: &str, facts: &[&JudgedFact]) {
        if facts.is_empty() {
            return;
        }
        let rows: BTreeSet<usize> = facts.iter().map(|one| one.fact.line).collect();
        let rows: Vec<String> = rows.iter().map(usize::to_string).collect();
        let rows = rows.join(", ");
        self.items = format!(
            "{}  # fails with the recorded summary; {name}, by rows of the session: {rows}\n  - survives: {{{test}}}\n",
            self.items
        );
        self.failing.push(format!("{name} {}", facts.len()));
    }
}

/// Returns the share of each class that survives, as keys of `survives`.
fn surviving_shares(facts: &[JudgedFact]) -> Vec<String> {
    let classes: BTreeSet<(u8, String)> = facts
        .iter()
        .map(|judged| (judged.fact.class as u8, class_name(&judged.fact)))
        .collect();
    let mut parts = Vec::new();
    for (_, class) in classes {
        let all = facts_of(facts, &class);
        let count = all.iter().filter(|one| survives(one)).count();
        match count * 100 / all.len() {
            0 => {}
            100 => parts.push(format!("{class}: {ALL_FACTS}")),
            percent => parts.push(format!("{class}: 0.{percent:02}")),
        }
    }
    parts
}
