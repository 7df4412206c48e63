//! Findings counted by rule and severity, for findings that are not retained.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::rules::apply::{self, FixSelection};
use std::collections::BTreeMap;

/// The number of findings of one rule and severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingTally {
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
pub(crate) fn count_findings<'d>(
    findings: impl IntoIterator<Item = &'d Diagnostic>,
) -> Vec<FindingTally> {
    let mut counts = Counts::default();
    for finding in findings {
        let safe = u32::from(apply::eligible_fix(finding, FixSelection::Safe).is_some());
        counts.add_counts(
            finding.rule.code.0,
            finding.severity,
            [1, u32::from(finding.is_fixable()), safe],
        );
    }
    counts.into_tallies()
}

/// Adds up the counts of several files.
pub(super) fn merge_tallies<'t>(
    tallies: impl IntoIterator<Item = &'t FindingTally>,
) -> Vec<FindingTally> {
    let mut counts = Counts::default();
    for tally in tallies {
        counts.add_counts(
            tally.rule,
            tally.severity,
            [tally.count, tally.fixable, tally.safe],
        );
    }
    counts.into_tallies()
}

/// The number of findings, of findings with a fix and of findings with a safe fix, by rule and
/// severity.
#[derive(Default)]
struct Counts(BTreeMap<(u16, Severity), [u32; 3]>);

impl Counts {
    fn add_counts(&mut self, rule: u16, severity: Severity, numbers: [u32; 3]) {
        let own = self.0.entry((rule, severity)).or_default();
        for (own, number) in own.iter_mut().zip(numbers) {
            *own += number;
        }
    }

    fn into_tallies(self) -> Vec<FindingTally> {
        let tally = |((rule, severity), [count, fixable, safe]): (_, [u32; 3])| FindingTally {
            rule,
            severity,
            count,
            fixable,
            safe,
        };
        self.0.into_iter().map(tally).collect()
    }
}
