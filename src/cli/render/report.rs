//! The result of a check as data, from which every format is made.

use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::Severity;
use crate::registry::finding_counts::{self, FindingTally};
use crate::rules::apply::FixSelection;
use crate::rules::list;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Findings and the counts of a check.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckReport {
    /// The findings, in output order.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The names of the checked files, if the run knows all of them.
    pub(crate) paths: Vec<Arc<str>>,
    /// The number of checked files.
    pub(crate) files: usize,
    /// The noun for the checked things if they are not files, such as `request`.
    pub(crate) unit: Option<&'static str>,
    /// The number of `*.xml` files of a file walk that are no templates.
    pub(crate) skipped: usize,
    /// The number of applied fixes, if fixes were requested.
    pub(crate) fixed: Option<usize>,
    /// The fixes that were tried. Remaining fixes of this kind would fix nothing or cause another
    /// error.
    pub(crate) tried: Option<FixSelection>,
    /// The parts of checked requests that their sessions do not hold.
    pub(crate) missing_parts: Vec<&'static str>,
    /// The number of suppressed findings.
    pub(crate) suppressed: usize,
    /// The counts of findings whose severity is too low to be kept.
    pub(crate) hidden: Vec<FindingTally>,
}

/// The totals of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FindingTotals {
    pub(crate) error: usize,
    pub(crate) warning: usize,
    pub(crate) info: usize,
    pub(crate) hint: usize,
    /// Findings with a fix, of any severity.
    pub(crate) fixable: usize,
    /// Findings with a safe fix.
    pub(crate) safe: usize,
    /// By rule name, the most frequent first.
    pub(crate) rules: Vec<(&'static str, usize)>,
}

impl FindingTotals {
    fn add_tally(&mut self, tally: &FindingTally) {
        let count = tally.count as usize;
        match tally.severity {
            Severity::Error => self.error += count,
            Severity::Warning => self.warning += count,
            Severity::Info => self.info += count,
            Severity::Hint => self.hint += count,
        }
        self.fixable += tally.fixable as usize;
        self.safe += tally.safe as usize;
    }
}

impl CheckReport {
    /// Counts all findings.
    pub(crate) fn count_totals(&self) -> FindingTotals {
        let mut totals = FindingTotals::default();
        let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
        for tally in finding_counts::count_findings(&self.diagnostics)
            .iter()
            .chain(&self.hidden)
        {
            totals.add_tally(tally);
            if let Some(rule) = list::all_rules().find(|rule| rule.meta.code.0 == tally.rule) {
                *rules.entry(rule.meta.name).or_default() += tally.count as usize;
            }
        }
        totals.rules = rules.into_iter().collect();
        totals
            .rules
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        totals
    }

    /// Adds findings, in order.
    pub(crate) fn add_findings(&mut self, findings: &[Diagnostic]) {
        if !findings.is_empty() {
            self.diagnostics.extend_from_slice(findings);
            diagnostic::sort_diagnostics(&mut self.diagnostics);
        }
    }

    /// Returns true if there is a finding of error severity.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// The selection of findings in a format for people: by severity, and by number per file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShownFindings {
    /// The lowest severity that is shown; lower ones are counted.
    pub(crate) min_severity: Severity,
    /// The maximum number of findings shown per file.
    pub(crate) max_per_file: usize,
    /// The maximum number of findings drawn with source lines, the gravest first. The others get
    /// one line each in the format `full`.
    pub(crate) max_drawn: usize,
}

impl ShownFindings {
    /// Warnings and above, the first 100 of a file.
    pub(crate) const USUAL: Self = Self {
        min_severity: Severity::Warning,
        max_per_file: 100,
        max_drawn: 500,
    };
    /// Every severity, the first 100 of a file.
    pub(crate) const VERBOSE: Self = Self {
        min_severity: Severity::Hint,
        max_per_file: 100,
        max_drawn: usize::MAX,
    };

    /// Returns true if a finding is grave enough to be shown.
    pub(crate) fn is_shown(self, diagnostic: &Diagnostic) -> bool {
        diagnostic.severity <= self.min_severity
    }

    /// Returns the shown findings, and the number of omitted ones of each file that has too many.
    pub(crate) fn select_findings(
        self,
        diagnostics: &[Diagnostic],
    ) -> (Vec<&Diagnostic>, Vec<(&str, usize)>) {
        let mut shown = Vec::new();
        let mut left_out = Vec::new();
        for file in diagnostics.chunk_by(|a, b| a.path == b.path) {
            let grave: Vec<&Diagnostic> = file
                .iter()
                .filter(|diagnostic| self.is_shown(diagnostic))
                .collect();
            if grave.len() > self.max_per_file {
                let path = grave.first().map_or("", |first| &*first.path);
                left_out.push((path, grave.len() - self.max_per_file));
            }
            shown.extend(grave.into_iter().take(self.max_per_file));
        }
        (shown, left_out)
    }
}
