//! Findings counted by rule and severity, for findings that are not retained.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::rules::apply::{self, Which};
use std::collections::BTreeMap;

/// The number of findings of one rule and severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    /// The rule's code.
    pub rule: u16,
    /// Their severity.
    pub severity: Severity,
    /// The number of findings.
    pub count: u32,
    /// The number of findings with a fix.
    pub fixable: u32,
    /// The number of findings with a safe fix.
    pub safe: u32,
}

/// Counts findings by rule and severity.
pub(crate) fn count<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>) -> Vec<Tally> {
    let mut counts = Counts::default();
    for finding in findings {
        let safe = u32::from(apply::eligible(finding, Which::Safe).is_some());
        counts.add(
            finding.rule.code.0,
            finding.severity,
            [1, u32::from(finding.is_fixable()), safe],
        );
    }
    counts.tallies()
}

/// Adds up the counts of several files.
pub(super) fn sum<'t>(tallies: impl IntoIterator<Item = &'t Tally>) -> Vec<Tally> {
    let mut counts = Counts::default();
    for tally in tallies {
        counts.add(
            tally.rule,
            tally.severity,
            [tally.count, tally.fixable, tally.safe],
        );
    }
    counts.tallies()
}

/// The number of findings, of findings with a fix and of findings with a safe fix, by rule and
/// severity.
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
        let tally = |((rule, severity), [count, fixable, safe]): (_, [u32; 3])| Tally {
            rule,
            severity,
            count,
            fixable,
            safe,
        };
        self.0.into_iter().map(tally).collect()
    }
}
