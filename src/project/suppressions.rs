//! `ctxc.suppressions.toml`: findings that existed before, so that only new ones count.
//!
//! Only data: text in, text out. Locked findings are never recorded and never removed. The written
//! form is sorted, one finding a line, so that two branches that record different findings merge.

use crate::base::diagnostic::Diagnostic;
use crate::base::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file's name, beside `ctxc.toml`.
pub const SUPPRESSIONS_FILE: &str = "ctxc.suppressions.toml";
/// The name of its format.
const SCHEMA: &str = "ctxc/suppressions/1";

/// The finding that an entry suppresses. Ordered like the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SuppressionKey {
    /// The finding's file.
    pub path: String,
    /// The rule's name.
    pub rule: String,
    /// The finding's fingerprint.
    pub fingerprint: String,
}

/// The number of suppressed findings, with the entry's span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuppressionEntry {
    /// The number of findings with this fingerprint that do not count.
    pub count: u32,
    /// The span of the entry in the file; empty if it was not read from a file.
    pub span: Span,
}

/// Recorded findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    entries: BTreeMap<SuppressionKey, SuppressionEntry>,
}

/// The reason why a suppressions file is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuppressionsFault {
    /// Not TOML.
    #[error("is not TOML: {message}")]
    Syntax {
        /// The message of the TOML parser.
        message: String,
        /// The span of the error.
        span: Span,
    },
    /// A format that this release does not write.
    #[error("has schema `{found}`, expected `{SCHEMA}`")]
    Schema {
        /// The actual schema; empty if it is missing.
        found: String,
        /// The span of the value.
        span: Span,
    },
    /// An entry of the wrong form.
    #[error("{place} should be {expected}")]
    Shape {
        /// The key.
        place: String,
        /// The expected value.
        expected: &'static str,
        /// The span of the value.
        span: Span,
    },
}

impl SuppressionsFault {
    /// The span that the finding points at.
    pub const fn span(&self) -> Span {
        match self {
            Self::Syntax { span, .. } | Self::Schema { span, .. } | Self::Shape { span, .. } => {
                *span
            }
        }
    }
}

/// The result of applying suppressions to a list of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuppressionResult {
    /// The number of removed findings.
    pub suppressed: usize,
    /// Entries that are not fully used.
    pub stale: Vec<StaleSuppression>,
}

/// An entry that matches fewer findings than it records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleSuppression {
    /// The key of the entry.
    pub key: SuppressionKey,
    /// The entry.
    pub entry: SuppressionEntry,
    /// The number of findings that matched.
    pub found: u32,
}

impl Suppressions {
    /// The entries, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&SuppressionKey, &SuppressionEntry)> {
        self.entries.iter()
    }

    /// Parses the text of the file.
    pub fn parse(text: &str) -> Result<Self, SuppressionsFault> {
        let table = DeTable::parse(text).map_err(|err| SuppressionsFault::Syntax {
            message: err.message().to_owned(),
            span: err.span().map_or(Span::default(), |range| {
                Span::from_offsets(range.start, range.end)
            }),
        })?;
        let mut suppressions = Self::default();
        let mut schema = (String::new(), Span::default());
        for (name, value) in table.get_ref() {
            if name.get_ref() == "schema" {
                schema = (
                    value.get_ref().as_str().unwrap_or("").to_owned(),
                    value_span(value),
                );
                continue;
            }
            suppressions.read_file(name.get_ref(), value)?;
        }
        if schema.0 != SCHEMA {
            return Err(SuppressionsFault::Schema {
                found: schema.0,
                span: schema.1,
            });
        }
        Ok(suppressions)
    }

    fn read_file(
        &mut self,
        path: &str,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), SuppressionsFault> {
        let rules = inner_table(value, path, "a table of rules")?;
        for (rule, findings) in rules {
            let rule = rule.get_ref();
            for (fingerprint, count) in inner_table(findings, rule, "a table of fingerprints")? {
                let number = count
                    .get_ref()
                    .as_integer()
                    .and_then(|number| number.as_str().parse().ok());
                let Some(number) = number.filter(|number| *number > 0) else {
                    let place_name = format!("`{}`", fingerprint.get_ref());
                    return Err(SuppressionsFault::Shape {
                        place: place_name,
                        expected: "a count, 1 or more",
                        span: value_span(count),
                    });
                };
                let span = Span::from_offsets(fingerprint.span().start, count.span().end);
                let key = SuppressionKey {
                    path: path.to_owned(),
                    rule: rule.clone().into_owned(),
                    fingerprint: fingerprint.get_ref().clone().into_owned(),
                };
                self.entries.insert(
                    key,
                    SuppressionEntry {
                        count: number,
                        span,
                    },
                );
            }
        }
        Ok(())
    }

    /// Records findings, except locked ones.
    pub fn from_findings<'d>(findings: impl IntoIterator<Item = &'d Diagnostic>) -> Self {
        let mut entries: BTreeMap<SuppressionKey, SuppressionEntry> = BTreeMap::new();
        for finding in findings.into_iter().filter(|finding| !finding.locked) {
            entries
                .entry(finding_key(finding, finding.rule.name))
                .or_default()
                .count += 1;
        }
        Self { entries }
    }

    /// Adds the entries of files for which `keep` returns true: those that were not checked.
    pub fn adopt_entries(&mut self, old: &Self, keep: impl Fn(&str) -> bool) {
        for (key, entry) in &old.entries {
            if keep(&key.path) {
                self.entries.entry(key.clone()).or_insert(*entry);
            }
        }
    }

    /// True if a finding is recorded.
    pub fn contains(&self, finding: &Diagnostic) -> bool {
        let mut names = std::iter::once(&finding.rule.name).chain(finding.rule.renamed_from);
        !finding.locked && names.any(|name| self.entries.contains_key(&finding_key(finding, name)))
    }

    /// Removes or lowers the entries that [`Suppressions::apply`] reported as stale.
    pub fn prune_stale(&mut self, stale: &[StaleSuppression]) {
        for StaleSuppression { key, found, .. } in stale {
            match (found, self.entries.get_mut(key)) {
                (0, _) => drop(self.entries.remove(key)),
                (found, Some(entry)) => entry.count = *found,
                (_, None) => {}
            }
        }
    }

    /// The number of recorded findings.
    pub fn finding_count(&self) -> usize {
        self.entries
            .values()
            .map(|entry| entry.count as usize)
            .sum()
    }

    /// The files with recorded findings.
    pub fn paths(&self) -> BTreeSet<&str> {
        self.entries.keys().map(|key| key.path.as_str()).collect()
    }

    /// True if nothing is recorded.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes recorded findings from a list. An entry that matches fewer findings than it records
    /// is stale, if its file was checked.
    pub fn apply(
        &self,
        findings: &mut Vec<Diagnostic>,
        was_checked: impl Fn(&str) -> bool,
    ) -> SuppressionResult {
        let mut counts: BTreeMap<&SuppressionKey, u32> = BTreeMap::new();
        let before = findings.len();
        findings.retain(|finding| {
            let names = std::iter::once(&finding.rule.name).chain(finding.rule.renamed_from);
            let mut entries =
                names.filter_map(|name| self.entries.get_key_value(&finding_key(finding, name)));
            let Some((key, entry)) = entries.next().filter(|_| !finding.locked) else {
                return true;
            };
            let seen = counts.entry(key).or_default();
            *seen += 1;
            *seen > entry.count
        });
        let stale = self.entries.iter().filter_map(|(key, entry)| {
            let seen = counts.get(key).copied().unwrap_or(0);
            (seen < entry.count && was_checked(&key.path)).then(|| StaleSuppression {
                key: key.clone(),
                entry: *entry,
                found: seen,
            })
        });
        SuppressionResult {
            suppressed: before - findings.len(),
            stale: stale.collect(),
        }
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let mut out = format!(
            "# Findings that were there before and do not count: one line each, a fingerprint and how often it occurs.\n\
             # `ctxc check --suppress-existing` writes this file anew; an entry that no longer applies is reported,\n\
             # and removed by `ctxc check --fix`.\n\
             schema = \"{SCHEMA}\"\n"
        );
        let mut table = ("", "");
        for (key, entry) in &self.entries {
            if table != (&key.path, &key.rule) {
                table = (&key.path, &key.rule);
                // Writing to a string cannot fail, here and below.
                let _ = writeln!(
                    out,
                    "\n[{}.{}]",
                    toml::Value::from(key.path.as_str()),
                    key.rule
                );
            }
            let _ = writeln!(out, "{} = {}", key.fingerprint, entry.count);
        }
        out
    }
}

fn finding_key(finding: &Diagnostic, rule: &str) -> SuppressionKey {
    SuppressionKey {
        path: finding.path.to_string(),
        rule: rule.to_owned(),
        fingerprint: finding.fingerprint.clone(),
    }
}

fn value_span<T>(value: &Spanned<T>) -> Span {
    Span::from_offsets(value.span().start, value.span().end)
}

fn inner_table<'t, 'i>(
    value: &'t Spanned<DeValue<'i>>,
    name: &str,
    expected: &'static str,
) -> Result<&'t DeTable<'i>, SuppressionsFault> {
    value
        .get_ref()
        .as_table()
        .ok_or_else(|| SuppressionsFault::Shape {
            place: format!("`{name}`"),
            expected,
            span: value_span(value),
        })
}
