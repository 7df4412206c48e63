//! The outcome of a check as data: what every format is made from.

use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::Severity;
use crate::registry::finding_counts::{self, Tally};
use crate::rules::apply::Which;
use crate::rules::list;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Findings and what was looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// Sorted as every output is.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The files by name, where the run knows them all.
    pub(crate) paths: Vec<Arc<str>>,
    /// Files looked at.
    pub(crate) files: usize,
    /// What they are called where they are no files, such as `request`.
    pub(crate) unit: Option<&'static str>,
    /// `*.xml` files of a folder walk that are no templates.
    pub(crate) skipped: usize,
    /// Fixes applied, when that was asked for.
    pub(crate) fixed: Option<usize>,
    /// Which fixes were tried; those that are still offered would mend nothing or bring another error.
    pub(crate) tried: Option<Which>,
    /// Findings that a suppression took away.
    pub(crate) suppressed: usize,
    /// Findings that are not grave enough to be shown, counted instead of kept.
    pub(crate) hidden: Vec<Tally>,
}

/// Counts over a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) error: usize,
    pub(crate) warning: usize,
    pub(crate) info: usize,
    pub(crate) hint: usize,
    /// Findings with a fix, of any severity.
    pub(crate) fixable: usize,
    /// Those of them that a safe fix mends.
    pub(crate) safe: usize,
    /// By rule name, the most frequent first.
    pub(crate) rules: Vec<(&'static str, usize)>,
}

impl Totals {
    fn count(&mut self, tally: &Tally) {
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

impl Report {
    /// Counts everything.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
        for tally in finding_counts::count(&self.diagnostics).iter().chain(&self.hidden) {
            totals.count(tally);
            if let Some(rule) = list::all().find(|rule| rule.meta.code.0 == tally.rule) {
                *rules.entry(rule.meta.name).or_default() += tally.count as usize;
            }
        }
        totals.rules = rules.into_iter().collect();
        totals.rules.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        totals
    }

    /// Adds findings of the project file.
    pub(crate) fn add(&mut self, findings: &[Diagnostic]) {
        if !findings.is_empty() {
            self.diagnostics.extend_from_slice(findings);
            diagnostic::sort(&mut self.diagnostics);
        }
    }

    /// Whether anything of error severity was found.
    pub(crate) fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// What a format for people shows: the gravest severities, and no more than so many a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The least severity that is shown; the rest is counted.
    pub(crate) least: Severity,
    /// Findings shown of one file.
    pub(crate) per_file: usize,
    /// Findings drawn with the lines they are about, the gravest first; of the others `full` shows the first line.
    pub(crate) drawn: usize,
}

impl Shown {
    /// Warnings and above, the first 100 of a file.
    pub(crate) const USUAL: Self = Self { least: Severity::Warning, per_file: 100, drawn: 500 };
    /// Every severity, the first 100 of a file.
    pub(crate) const VERBOSE: Self = Self { least: Severity::Hint, per_file: 100, drawn: usize::MAX };

    /// Whether a finding is grave enough to be shown.
    pub(crate) fn takes(self, diagnostic: &Diagnostic) -> bool {
        diagnostic.severity <= self.least
    }

    /// The findings that are shown, and how many of each file were left out for being too many.
    pub(crate) fn select(self, diagnostics: &[Diagnostic]) -> (Vec<&Diagnostic>, Vec<(&str, usize)>) {
        let mut shown = Vec::new();
        let mut left_out = Vec::new();
        for file in diagnostics.chunk_by(|a, b| a.path == b.path) {
            let grave: Vec<&Diagnostic> = file.iter().filter(|diagnostic| self.takes(diagnostic)).collect();
            if grave.len() > self.per_file {
                let path = grave.first().map_or("", |first| &*first.path);
                left_out.push((path, grave.len() - self.per_file));
            }
            shown.extend(grave.into_iter().take(self.per_file));
        }
        (shown, left_out)
    }
}
