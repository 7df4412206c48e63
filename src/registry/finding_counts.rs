//! Findings counted by rule and severity, where they are not kept.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::rules::apply::{self, Which};
use std::collections::BTreeMap;

/// Findings of one rule and severity, counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// The rule's code.
    pub rule: u16,
    /// How grave they are.
    pub severity: Severity,
    /// How many there are.
    pub count: u32,
    /// How many of them have a fix.
    pub fixable: u32,
    /// How many of those a safe fix mends.
    pub safe: u32,
}

/// Counts findings.
pub(crate) fn count<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>) -> Vec<Tally> {
    let mut counts = Counts::default();
    for finding in findings {
        let safe = u32::from(apply::eligible(finding, Which::Safe).is_some());
        counts.add(finding.rule.code.0, finding.severity, [1, u32::from(finding.is_fixable()), safe]);
    }
    counts.tallies()
}

/// Adds up the counts of several files.
pub(super) fn sum<'t>(tallies: impl IntoIterator<Item = &'t Tally>) -> Vec<Tally> {
    let mut counts = Counts::default();
    for tally in tallies {
        counts.add(tally.rule, tally.severity, [tally.count, tally.fixable, tally.safe]);
    }
    counts.tallies()
}

/// Findings, those with a fix, and those with a safe one, by rule and severity.
#[derive(Default)]
struct Counts(BTreeMap<(u16, Severity), [u32; 3]>);

impl Counts {
    fn add(&mut self, rule: u16, severity: Severity, numbers: [u32; 3]) {
        let own = self.0.entry((rule, severity)).or_default();
        for (own, number) in own.iter_mut().zip(numbers) {
            *own += number;
        }
    }

    fn tallies(self) -> Vec<Tally> {
        let tally = |((rule, severity), [count, fixable, safe]): (_, [u32; 3])| Tally { rule, severity, count, fixable, safe };
        self.0.into_iter().map(tally).collect()
    }
}
